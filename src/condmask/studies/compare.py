"""Masking methods on one file at equal disclosure risk: what does each cost an analyst?"""

import csv
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask._digits import number
from condmask._randomness import seeded_key
from condmask.missing import without_codes
from condmask.schemes.conditional import ConditionalMasking
from condmask.schemes.scheme import Scheme
from condmask.schemes.shuffling import DataShuffling
from condmask.schemes.swapping import DataSwapping
from condmask.studies import equal_risk
from condmask.studies.losses import NAMES, losses
from condmask.studies.populations import Fixed
from condmask.studies.simulate import DECILES, simulate

MOST = 20_000  # records that are masked again and again


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Methods at one risk, and what an analyst has of each; made by `compare`.

    Attributes
    ----------
    risk, d : float
        The share of records whose masked value lies within d of the true one, which all methods with a
        parameter were tuned to.
    records, replications : int
    seed : int
    schemes : dict of str to scheme
        By method, with the parameters they were tuned to.
    rows : list of dict
        For each method and estimator its "risk", the root mean squared errors "mean", "s.d.", "deciles" (root
        of the mean over the nine) and "correlation", and "IL1s", "eigenvalues", "correlations".
    missing : dict of str to str
        Methods that could not be tuned, and why.
    """

    risk: float
    d: float
    records: int
    replications: int
    seed: int
    schemes: dict[str, Scheme]
    rows: list[dict[str, Any]]
    missing: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """In terms of JSON."""
        return {
            "risk": self.risk, "d": self.d, "records": self.records, "replications": self.replications,
            "seed": self.seed, "schemes": {name: s.to_dict() for name, s in self.schemes.items()},
            "rows": self.rows, "missing": self.missing,
        }  # fmt: skip

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return frames.of_rows(self.rows)

    def write(self, path: str | os.PathLike[str]) -> None:
        """The rows as CSV."""
        with Path(path).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(self.rows[0]))
            writer.writeheader()
            writer.writerows(self.rows)

    def plot(self, path: Any = None) -> Any:
        """Errors by method, relative to conditional masking; written to `path` where one is given."""
        from condmask.plot import errors_by_method

        return errors_by_method(self.rows, path)

    def __str__(self) -> str:
        head = [name for name in self.rows[0] if name not in ("method", "estimator")]
        table = [["", "", *head]]
        for row in self.rows:
            table.append([row["method"], row["estimator"], *(_cell(row[name]) for name in head)])
        first, second, *widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        lines = [
            f"{self.records:,} records, {self.replications} maskings, risk {self.risk:.3f} of being within "
            f"{self.d:g}; errors of one masking of this file"
        ]
        lines += [
            "  ".join([row[0].ljust(first), row[1].ljust(second), *map(str.rjust, row[2:], widths)]).rstrip()
            for row in table
        ]
        return "\n".join([*lines, *(f"{name}: {why}" for name, why in self.missing.items())])

    __repr__ = __str__


def compare(
    x: Any,
    scheme: ConditionalMasking,
    *,
    d: float,
    other: Any = None,
    replications: int = 200,
    rng: int | None = None,
    workers: Workers = 1,
    progress: bool = False,
) -> Comparison:
    """Compare conditional masking with other methods that leave the same risk, on one file.

    Parameters
    ----------
    x : array_like of shape (n,)
        Original values; missing ones are left out.
    scheme : ConditionalMasking
        The others are tuned to its risk.
    d : float
        A masked value within d of the true one is a disclosure, in the units of the data.
    other : array_like of shape (n,), optional
        A column that is not masked; data shuffling needs it.
    replications : int
        Maskings of the file.
    rng : int, optional
        The seed; drawn and reported where it is left out.
    workers, progress
        As for `simulate`.

    Returns
    -------
    Comparison
        Of conditional masking (T_1, T_b), additive noise (Laplace: the paper's estimator; normal: moments),
        multiplicative noise, rank swapping, data swapping and data shuffling. The last two have no
        parameter, so they have the risk they have.

    Raises
    ------
    ValueError
        If the risk is 0 or 1, so that nothing can be tuned to it, or there are fewer than 10 records.

    Notes
    -----
    The risk is P(abs(Z_i - X_i) < d), which says what Z_i alone tells; `risk` says what better attackers
    know. Errors are those of masking this file, which is kept as it is; at most 20,000 of its records, drawn
    once, are used.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).lognormal(7.0, 0.5, 1000)
    >>> found = cm.compare(x, cm.ConditionalMasking(0.6, 500.0), d=200.0, replications=20, rng=1)
    >>> [row["method"] for row in found.rows][:3]
    ['conditional masking', 'conditional masking', 'Laplace noise']
    """
    if not isinstance(scheme, ConditionalMasking):
        raise TypeError(f"scheme must be a ConditionalMasking, got {scheme!r}")
    if scheme.law is None:
        raise TypeError(
            "scheme must be one without reverse_mapping, which is not compared with others yet, got "
            f"{scheme!r}"
        )
    d = _checks.positive(d, "d")
    count = _checks.whole(replications, "replications", least=10)
    values, beside = _complete(x, other, scheme)
    seed = secrets.randbits(48) if rng is None else _checks.whole(rng, "rng", least=0)
    if values.size > MOST:
        rows = np.sort(seeded_key(seed, b"rows").stream(0, 0).choice(values.size, MOST, replace=False))
        values, beside = values[rows], [column[rows] for column in beside]
    values = scheme.law.from_units(scheme.law.to_units(values)) if scheme.law.grid is not None else values
    risk = float(scheme.risk(values, d))
    if not 0.0 < risk < 1.0:
        raise ValueError(f"d must leave a risk between 0 and 1, got {d:g}, which leaves {risk:g}")
    schemes, missing = _tuned(values, beside, scheme, risk, d, seed)
    study = simulate(
        Fixed(values, *beside), schemes, n=values.size, replications=count, quantiles=DECILES,
        risk_distances=[d], rng=seed, workers=workers, progress=progress,
    )  # fmt: skip
    lost = {name: _lost(values, beside, each, seed) for name, each in schemes.items()}
    rows_of = _rows(study.rows(), lost, d, paired=bool(beside))
    return Comparison(risk, d, values.size, count, seed, schemes, rows_of, missing)


def _complete(x: Any, other: Any, scheme: ConditionalMasking) -> tuple[np.ndarray, list[np.ndarray]]:
    given = frames.column(x, "x")
    values = without_codes(given.array, scheme.missing, given.kind)
    beside = [] if other is None else [frames.column(other, "other").array]
    for column in beside:
        _checks.same_length(column, "other", values.size, "x")
    there = ~np.isnan(np.vstack([values, *beside])).any(axis=0)
    if there.sum() < 10:
        raise ValueError(f"x must have at least 10 values, got {there.sum()}")
    return values[there], [column[there] for column in beside]


def _tuned(
    x: np.ndarray, beside: list[np.ndarray], scheme: ConditionalMasking, risk: float, d: float, seed: int
) -> tuple[dict[str, Scheme], dict[str, str]]:
    """The methods at this risk, and why others are none."""
    tuned: dict[str, Scheme | None] = {
        "conditional masking": scheme,
        "Laplace noise": equal_risk.additive(risk, d, "laplace"),
        "normal noise": equal_risk.additive(risk, d, "normal"),
        "multiplicative noise": equal_risk.multiplicative(x, risk, d),
        "rank swapping": equal_risk.rank_swapping(x, risk, d, seed),
        "data swapping": DataSwapping(),
    }
    if beside:
        tuned["data shuffling"] = DataShuffling()
    missing = {
        name: f"no parameter leaves a risk of {risk:.3f} or less" for name, s in tuned.items() if s is None
    }
    if not beside:
        missing["data shuffling"] = "it needs another column"
    return {name: s for name, s in tuned.items() if s is not None}, missing


def _lost(x: np.ndarray, beside: list[np.ndarray], scheme: Scheme, seed: int) -> np.ndarray:
    """The losses of masked values as they stand, mean over some maskings."""
    stream, others = seeded_key(seed, b"losses").stream(0, 0), tuple(column[None] for column in beside)
    found = [
        losses(x, scheme.mask_rows(x[None], stream, others)[0], np.reshape(beside, (-1, x.size)))
        for _ in range(equal_risk.MASKINGS)
    ]
    return np.asarray(np.mean(found, axis=0))


def _rows(
    found: list[dict[str, Any]], lost: dict[str, np.ndarray], d: float, *, paired: bool
) -> list[dict[str, Any]]:
    """A row for every method and estimator."""
    known = {(row["scheme"], row["estimator"], row["statistic"]): row for row in found}
    rows = []
    for method, estimator in dict.fromkeys(key[:2] for key, row in known.items() if "rmse" in row):
        own = {key[2]: _error(row) for key, row in known.items() if key[:2] == (method, estimator)}
        deciles = np.array([own[f"quantile {q:g}"] for q in DECILES])
        row = {
            "method": method,
            "estimator": estimator,
            "risk": float(known[method, "Z_i", f"risk {d:g}"]["mean"]),
            "mean": own["mean"],
            "s.d.": own["s.d."],
            "deciles": float(np.sqrt(np.mean(deciles**2))),
            **({"correlation": own["correlation"]} if paired else {}),
        }
        values = dict(zip(NAMES, lost[method].tolist(), strict=True))
        rows.append(row | (values if paired else {"IL1s": values["IL1s"]}))
    return rows


def _error(row: dict[str, Any]) -> float:
    """The root mean squared error; what is rounding alone is none."""
    error, truth = float(row.get("rmse", np.nan)), abs(float(row.get("truth", 0.0)))
    return 0.0 if error < 1e-12 * truth else error


def _cell(value: float) -> str:
    """Three digits; nothing where an estimator has no such estimate."""
    return "" if np.isnan(value) else number(value, abs(value) / 50.0)
