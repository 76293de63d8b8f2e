"""Masking methods on one file at equal disclosure risk: what does each cost an analyst?"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from condmask import _checks, frames
from condmask._blocks import Workers
from condmask._digits import finite, line, number
from condmask._randomness import seeded_key, study_seed
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.marks import refuse_marked
from condmask.masking.multiplicative import MultiplicativeNoise
from condmask.masking.scheme import Scheme
from condmask.masking.shuffling import DataShuffling
from condmask.masking.swap_scheme import SwapScheme
from condmask.masking.swapping import DataSwapping, RankSwapping
from condmask.publish.additive import AdditiveNoise
from condmask.publish.conditional import ConditionalMasking
from condmask.publish.reverse_mapping import ReverseMapping
from condmask.row_labels import labels_of_rows, refuse_other_order
from condmask.studies.attacker import FittedAttacker
from condmask.studies.populations import Fixed
from condmask.studies.simulate import DECILES, named_schemes, simulate
from condmask.suspected_codes import drop_codes

MAX_MASKED_RECORDS = 20_000  # records that are masked again and again
# ends of the search for a parameter, in standard deviations of the file, as factor, or in percent
PARAMETER_RANGE = 1e-2, 1e2
MAX_ERROR_OF_LOG = 0.005  # of the logarithm of a parameter


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """Methods at the same risk, and how well an analyst can estimate from each; made by `compare`.

    Attributes
    ----------
    risk, d : float
        The share of records that the best attacker guesses closer than d. All methods with a
        parameter were tuned to it.
    records, replications : int
    seed : int
    schemes : dict of str to scheme
        By method, with the parameters they were tuned to.
    rows : list of dict
        For each method and estimator its "risk", that of the "masked value", the root mean squared
        errors "mean", "s.d.", "deciles" (root of the mean over the nine), "difference" (of the
        means of two halves, by the other column) and "correlation".
    missing : dict of str to str
        Methods that could not be tuned, and why.
    column : str
        The name of the column, where it is known.
    """

    risk: float
    d: float
    records: int
    replications: int
    seed: int
    schemes: dict[str, Scheme]
    rows: list[dict[str, Any]]
    missing: dict[str, str]
    column: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dict for JSON."""
        schemes = {name: scheme.to_dict() for name, scheme in self.schemes.items()}
        return {**finite(vars(self)), "schemes": schemes}

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame."""
        return frames.frame_of_rows(self.rows)

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: object = None) -> Any:
        """Draw the errors of each statistic under each method, as multiples of those under the
        first one.

        Needs matplotlib (``pip install condmask[plot]``).

        Parameters
        ----------
        path : path-like, optional
            Where the picture is written; it is then not shown.
        ax : sequence of matplotlib Axes, optional
            Where to draw, one for each statistic; labels that they have are kept. None makes a
            figure.

        Returns
        -------
        ndarray of matplotlib Axes
            For the mean, s.d. and deciles, and with another column for the difference and the
            correlation.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.

        Notes
        -----
        Scales are linear from 0 to 1 and logarithmic beyond. "Not available" is written where a
        method has no estimate of a statistic, and everywhere where it could not be tuned to the
        risk.
        """
        from condmask.plot.errors_by_method import errors_by_method

        return errors_by_method(self.rows, self.missing, self.column, path, ax)

    def __str__(self) -> str:
        figures = [name for name in self.rows[0] if name not in ("method", "estimator")]
        lines = [
            f"{self.records:,} records, {self.replications} maskings; the best attacker gets "
            f"closer than {self.d:g} to the value of {self.risk:.3f} of them; errors of one "
            "masking of this file, "
            f"each known to {1.0 / np.sqrt(2.0 * self.replications):.0%} of itself",
            line("", figures, head=29, width=13),
        ]
        for row in self.rows:
            label = f"{row['method']:21} {row['estimator']:7}"
            # three digits; nothing where an estimator has no such estimate
            cells = (
                "" if np.isnan(x) else number(x, abs(x) / 50.0)
                for x in map(row.__getitem__, figures)
            )
            lines.append(line(label, cells, head=29, width=13).rstrip())
        return "\n".join([*lines, *(f"{name}: {why}" for name, why in self.missing.items())])

    __repr__ = __str__


def compare(
    x: ArrayLike,
    scheme: SwapScheme,
    *,
    d: float,
    other: ArrayLike | None = None,
    replications: int = 200,
    rng: int | None = None,
    workers: Workers = 1,
    progress: bool = False,
) -> MethodComparison:
    """Compare conditional masking with other methods that leave the same risk, on one file.

    Parameters
    ----------
    x : array_like of shape (n,)
        Original values; missing ones are left out.
    scheme : ConditionalMasking or ReverseMapping
        The others are tuned to its risk. Its missing codes are
        left out of both columns; values that look like codes must be declared.
    d : float
        A guess closer than d to the true value is a disclosure, in the units of the data.
    other : array_like of shape (n,), optional
        A column that is not masked; data shuffling needs it.
    replications : int
        Maskings of the file.
    rng : int, Generator, BitGenerator or SeedSequence, optional
        The seed, or where it is drawn from, as for `simulate`; the result reports it.
    workers, progress
        As for `simulate`.

    Returns
    -------
    MethodComparison
        Of conditional masking (T_1, T_b), the same with reverse mapping, additive noise
        (Laplace: the paper's estimator; normal: moments), multiplicative noise, rank swapping,
        data swapping and data shuffling. The last two have no parameter, so their risk cannot
        be tuned.

    Raises
    ------
    ValueError
        If every record is closer than d to the best guess, so that nothing can be tuned, there
        are fewer than 10 records, values look like missing codes that the scheme does not
        declare, or the index of `other` has the labels of `x` in another order.

    Notes
    -----
    The risk is that of the best attacker, who knows the scheme and the values of the file but
    not who has them. The attacker is fitted to simulated maskings and scored on others, in the
    same way for each method, and reaches some 1% less than the best possible. "masked value"
    is a naive attacker who takes the masked value for the original: it makes schemes that move
    each value a little look safe, and those that move some values far look bad. What digits
    reveal is not included (`audit`). Risks are known to some .002.

    Errors are those of masking this fixed file; at most 20,000 of its records, drawn once, are
    used. A root mean squared error has a Monte Carlo error of some 1/sqrt(2 replications) of
    itself.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).lognormal(7.0, 0.5, 1000)
    >>> scheme = cm.ConditionalMasking(0.6, 500.0)
    >>> found = cm.compare(x, scheme, d=200.0, replications=20, rng=1)
    >>> [row["method"] for row in found.rows][:3]
    ['conditional masking', 'conditional masking', 'reverse mapping']
    """
    if not isinstance(scheme, SwapScheme):
        raise ArgumentTypeError(
            "scheme must be a ConditionalMasking or ReverseMapping, got "
            f"{_checks.in_message(scheme)}"
        )
    d = _checks.positive(d, "d")
    count = _checks.integer(replications, "replications", least=10)
    values, beside = _complete_records(x, other, scheme)
    seed = study_seed(rng)
    if values.size > MAX_MASKED_RECORDS:
        drawn = np.sort(
            seeded_key(seed, b"rows")
            .stream(0, 0)
            .choice(values.size, MAX_MASKED_RECORDS, replace=False)
        )
        values = values[drawn]
        beside = [column[drawn] for column in beside]
    scheme = scheme.with_parameters(missing=(), missing_as="code")
    named_schemes(scheme)  # which may refuse it
    if scheme.grid is not None:
        values = scheme.grid.values(scheme.grid.units(values))
    attacker = FittedAttacker(values, beside, d)
    risk = attacker.risk(scheme, seeded_key(seed, b"risk").stream(0, 0))
    if attacker.constant() >= 1.0:
        raise ArgumentError(
            f"d must leave a risk below 1, got {d:g}: one guess is that near to every value"
        )
    schemes, missing = _tuned(values, scheme, risk, attacker, seed)
    study = simulate(
        Fixed(values, *beside),
        schemes,
        n=values.size,
        replications=count,
        quantiles=DECILES,
        risk_distances=[d],
        rng=seed,
        workers=workers,
        progress=progress,
    )
    scores = seeded_key(seed, b"score")
    risks = {name: attacker.risk(method, scores.stream(0, 0)) for name, method in schemes.items()}
    rows = _rows(study.rows(), risks, d)
    column = frames.column(x, "x").name
    return MethodComparison(risk, d, values.size, count, seed, schemes, rows, missing, column)


def _complete_records(
    x: ArrayLike, other: ArrayLike | None, scheme: SwapScheme
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the columns without codes, and without records that miss a value."""
    refuse_marked(x, "x")
    refuse_other_order({"other": other}, labels_of_rows(x, "x"))
    given = {"x": frames.column(x, "x")}
    if other is not None:
        given["other"] = frames.column(other, "other")
        _checks.same_length(given["other"].array, "other", given["x"].array.size, "x")
    values = drop_codes(dict.fromkeys(given, scheme), given)
    present = ~np.isnan(np.vstack(list(values.values()))).any(axis=0)
    _checks.require(present.sum() >= 10, "x must have at least 10 values", int(present.sum()))
    complete = [column[present] for column in values.values()]
    return complete[0], complete[1:]


def _tuned(
    x: np.ndarray, scheme: SwapScheme, risk: float, attacker: FittedAttacker, seed: int
) -> tuple[dict[str, Scheme], dict[str, str]]:
    """Return the methods tuned to this risk, and why others could not be tuned."""
    own_method = scheme.title
    found: dict[str, Scheme | None] = {
        name: scheme if name == own_method else tuned(make, risk, attacker, seed)
        for name, make in families(scheme, x).items()
    }
    found |= {
        "data swapping": DataSwapping(),
        "data shuffling": DataShuffling() if attacker.others else None,
    }
    why = dict.fromkeys(found, f"no parameter leaves a risk of {risk:.3f}")
    why["data shuffling"] = "it needs another column"
    known = {name: one for name, one in found.items() if one is not None}
    return known, {name: why[name] for name in found if name not in known}


def families(scheme: SwapScheme, x: np.ndarray) -> dict[str, Callable[[float], Scheme]]:
    """Return, by method, a function that makes its scheme for a parameter."""
    p = scheme.p
    noise = scheme.noise
    donors = getattr(scheme, "donors", "permutation")
    spread = float(x.std())
    return {
        "conditional masking": lambda s: ConditionalMasking(
            p, s * spread, noise=noise, donors=donors
        ),
        "reverse mapping": lambda s: ReverseMapping(p, s * spread, noise=noise),
        "Laplace noise": lambda s: AdditiveNoise(s * spread, noise="laplace"),
        "normal noise": lambda s: AdditiveNoise(s * spread, noise="normal"),
        "multiplicative noise": MultiplicativeNoise,
        "rank swapping": lambda percent: RankSwapping(min(max(percent, 100.0 / x.size), 100.0)),
    }


def tuned(
    make: Callable[[float], Scheme], risk: float, attacker: FittedAttacker, seed: int
) -> Scheme | None:
    """Return the scheme of a family with this risk, or None if there is none.

    Risks fall as noise grows, since more noise is noise on top of less, and as ranks are swapped
    over a wider window. Every parameter is tried with the same random numbers.
    """

    def excess(logarithm: float) -> float:
        stream = seeded_key(seed, b"equal").stream(0, 0)
        return attacker.risk(make(float(np.exp(logarithm))), stream) - risk

    ends = np.log(PARAMETER_RANGE)
    if excess(ends[0]) < 0.0 or excess(ends[1]) > 0.0:
        return None
    return make(float(np.exp(brentq(excess, *ends, xtol=MAX_ERROR_OF_LOG))))


def _rows(study: list[dict[str, Any]], risks: dict[str, float], d: float) -> list[dict[str, Any]]:
    """Return a row for every method and estimator."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in study:
        key = row["scheme"], row["estimator"]
        found.setdefault(key, {})[row["statistic"]] = row.get("rmse", row["mean"])
    rows = []
    for (method, estimator), of in found.items():
        if "mean" in of:
            deciles = float(np.sqrt(np.mean([of[f"quantile {q:g}"] ** 2 for q in DECILES])))
            value = found[method, "Z_i"][f"risk {d:.15g}"]
            row = {
                "method": method,
                "estimator": estimator,
                "risk": risks[method],
                "masked value": value,
            }
            row |= {"mean": of["mean"], "s.d.": of["s.d."], "deciles": deciles}
            rows.append(
                row | {name: of[name] for name in ("difference", "correlation") if name in of}
            )
    return rows
