"""What a study found: bias, RMSE and risk with their Monte Carlo standard errors, from sums of powers."""

import csv
import io
import os
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, _state, frames
from condmask._digits import line
from condmask.errors import ArgumentError
from condmask.files.publish import write_whole

PARTS = 5  # powers of the errors that are summed, from 0
CLOSED = "closed form of "  # the columns that hold closed forms, replicate by replicate


class Column(NamedTuple):
    """One statistic of one estimator of one scheme; of the samples themselves where the scheme is "".

    `truth` is that of the population; None where only samples know it.
    """

    scheme: str
    estimator: str
    statistic: str
    truth: float | None
    center: float


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult:
    """The state of a study: sums of the powers 0 to 4 of (value - center) over its replications.

    Made by `simulate`. Two results are equal if everything but the seconds is, bit by bit.
    """

    identity: str
    seed: int
    replications: int
    columns: tuple[Column, ...]
    sums: np.ndarray
    seconds: float

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StudyResult):
            return NotImplemented
        return self._described() == other._described() and np.array_equal(
            self.sums, other.sums, equal_nan=True
        )

    def __repr__(self) -> str:
        schemes = len({column.scheme for column in self.columns} - {""})
        return (
            f"StudyResult(replications={self.replications}, schemes={schemes}, "
            f"statistics={len(self.columns)}, seed={self.seed})"
        )

    def __str__(self) -> str:
        head = f"{self.replications:,} replications, seed {self.seed}, {self.seconds:.1f} s"
        rows = self.rows()
        schemes = dict.fromkeys(row["scheme"] for row in rows)
        return "\n".join([head, *(text for scheme in schemes for text in _table(rows, scheme))])

    @np.errstate(over="ignore", invalid="ignore")  # infinite, or no number, is what they then are
    def rows(self) -> list[dict[str, Any]]:
        """A dict for every statistic: mean, bias, RMSE and standard errors, or a risk and its standard error.

        With S replications the standard error of the bias is the s.d. of the errors over sqrt(S), that of
        the RMSE the s.d. of the squared errors over 2 RMSE sqrt(S). `defined` counts the replications in
        which a statistic is a number: s.d. and correlation are undefined if a variance is estimated negative,
        T_b if the bandwidth is below 1.5 steps of a grid. `truth_of` says where the truth comes from: the
        population, or the mean over the unmasked samples if the population does not know it.
        `closed_form` is the mean over samples of the risk that the law of a scheme implies.
        """
        index = {column[:3]: k for k, column in enumerate(self.columns)}
        entries: list[dict[str, Any]] = []
        for k, (scheme, estimator, statistic, known, center) in enumerate(self.columns):
            if scheme == "" or estimator.startswith(CLOSED):
                continue
            mean, *_ = self._moments(k, 0.0)
            s = max(int(self.sums[0, k]) - 1, 1)  # of replications in which it is defined
            entry = {"scheme": scheme, "estimator": estimator, "statistic": statistic}
            sample = index.get(("", "sample", statistic))
            if sample is None:
                closed = index.get((scheme, CLOSED + estimator, statistic))
                entries.append({
                    **entry, "mean": center + mean, "mean_se": _root(self._moments(k, mean)[1] / s),
                    "closed_form": None if closed is None else self._mean(closed),
                })  # fmt: skip
                continue
            truth = self._mean(sample) if known is None else known
            first, second, _, fourth = self._moments(k, truth - center)
            rmse = float(np.sqrt(second))
            spread = _root((fourth - second * second) / s)
            entries.append({
                **entry, "defined": int(self.sums[0, k]), "truth": truth,
                "truth_of": "sample" if known is None else "population", "mean": center + mean,
                "bias": first, "bias_se": _root((second - first * first) / s), "rmse": rmse,
                "rmse_se": spread / (2.0 * rmse) if rmse > 0.0 else rmse,
            })  # fmt: skip
        return entries

    def value(self, scheme: str, estimator: str, statistic: str, what: str) -> float:
        """One number, such as ``value("CM", "T_1", "quantile 0.1", "rmse")``."""
        asked = {"scheme": scheme, "estimator": estimator, "statistic": statistic}
        for name, text in asked.items():
            _checks.text(text, name)
        for row in self.rows():
            if asked.items() <= row.items():
                figures = [name for name in row if name not in (*asked, "truth_of")]
                return float(row[_checks.choice(what, "what", figures)])
        raise ArgumentError(
            f"statistic must be one of the study's, got {_checks.shown((scheme, estimator, statistic))}"
        )

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        return frames.of_rows(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """The study in terms of JSON: "replications", "seed", "rows"."""
        return {"replications": self.replications, "seed": self.seed, "rows": self.rows()}

    def plot(self, path: str | os.PathLike[str] | None = None, *, ax: Any = None) -> Any:
        """Draw bias and RMSE by quantile, a line for every estimator.

        Bars are two Monte Carlo standard errors to either side. Needs matplotlib
        (``pip install condmask[plot]``).

        Parameters
        ----------
        path : path-like, optional
            Where the picture is written; it is then not shown.
        ax : sequence of two matplotlib Axes, optional
            Where to draw; labels that they have are kept. None makes a figure.

        Returns
        -------
        ndarray of matplotlib Axes
            For the bias and for the RMSE.

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        ValueError
            If the study has no quantiles.

        Examples
        --------
        >>> import condmask as cm
        >>> schemes = {"masked": cm.ConditionalMasking(0.6, 1000.0)}
        >>> bias, rmse = cm.simulate(cm.paper_population(), schemes, n=200, replications=40, rng=1).plot()
        >>> bias.get_legend().get_title().get_text()
        'bars: ±2 Monte Carlo standard errors'
        """
        from condmask.plot.bias_and_rmse import bias_and_rmse

        return bias_and_rmse(self.rows(), path, ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state; the file takes its name when it is whole."""
        state = _state.pack({**self._described(), "seconds": self.seconds}, sums=self.sums)
        write_whole(_checks.writable(path, "path"), state)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "StudyResult":
        """What `save` wrote."""
        place = _checks.path(path, "path")
        try:
            described, arrays = _state.unpack(place.read_bytes())
            described["columns"] = tuple(Column(*column) for column in described["columns"])
            return cls(**described, sums=np.reshape(arrays["sums"], (PARTS, len(described["columns"]))))
        except (ValueError, KeyError, TypeError) as error:
            raise ArgumentError(f"path must be a saved StudyResult, got {path}") from error

    def _described(self) -> dict[str, Any]:
        return {
            "identity": self.identity, "seed": self.seed, "replications": self.replications,
            "columns": self.columns,
        }  # fmt: skip

    def _mean(self, k: int) -> float:
        return self.columns[k].center + self._moments(k, 0.0)[0]

    @np.errstate(over="ignore", invalid="ignore")
    def _moments(self, k: int, shift: float) -> tuple[float, float, float, float]:
        """Means of the first four powers of (value - center - shift)."""
        count, *sums = self.sums[:, k]
        shift = np.float64(shift)  # whose powers may be infinite
        if count < 2:
            return (float("nan"),) * 4
        m = [total / count for total in sums]
        first = m[0] - shift
        second = m[1] - 2 * shift * m[0] + shift**2
        third = m[2] - 3 * shift * m[1] + 3 * shift**2 * m[0] - shift**3
        fourth = m[3] - 4 * shift * m[2] + 6 * shift**2 * m[1] - 4 * shift**3 * m[0] + shift**4
        return float(first), float(second), float(third), float(fourth)


def _root(value: float) -> float:
    return float(np.sqrt(max(value, 0.0))) if value == value else float("nan")


def _table(rows: list[dict[str, Any]], scheme: str) -> list[str]:
    """A line for every statistic of a scheme, with standard errors."""
    tables: dict[tuple[str, ...], tuple[str, ...]] = {
        ("truth", "bias", "s.e.", "RMSE", "s.e."): ("truth", "bias", "bias_se", "rmse", "rmse_se"),
        ("share or MSE", "s.e.", "closed form"): ("mean", "mean_se", "closed_form"),
    }
    lines = ["", scheme]
    for heads, figures in tables.items():
        own = [row for row in rows if row["scheme"] == scheme and ("bias" in row) == ("bias" in figures)]
        table: list[list[Any]] = [["", "", *heads]] if own else []
        table += [[row["estimator"], row["statistic"], *map(row.get, figures)] for row in own]
        for estimator, statistic, *cells in table:
            label = f"  {estimator:10} {statistic:15}"
            lines.append(line(label, map(_cell, cells), head=28, width=14).rstrip())
    return lines


def _cell(value: Any) -> str:
    """A number in five digits, a dash where it is not defined."""
    if not isinstance(value, float):
        return value or ""
    return "-" if isnan(value) else f"{value:.5g}"


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    """Rows as a CSV file, with a column for every name that one of them has."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())
