"""Hold and print the result of a study: bias, RMSE and risk with Monte Carlo standard errors."""

import os
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, _state, frames
from condmask._digits import finite, line
from condmask.errors import ArgumentError
from condmask.files.publish import write_whole

ERRORS = ("truth", "mean", "bias", "bias_se", "rmse", "rmse_se")
SHARES = ("mean", "mean_se")  # figures of statistics without a truth
PRINTED_FIGURES = ("truth", "bias", "bias_se", "rmse", "rmse_se", *SHARES)


class StudyColumn(NamedTuple):
    """Name one statistic of one estimator of one scheme; the scheme "" stands for the samples.

    `truth` is the value of the population; None if only samples know it.
    """

    scheme: str
    estimator: str
    statistic: str
    truth: float | None


@dataclass(frozen=True, eq=False, repr=False)
class StudyResult:
    """The state of a study: the values of all statistics in each replication.

    Made by `simulate`. Two results are equal if everything is, bit by bit.

    Attributes
    ----------
    identity : str
        Hash of the design and of the first block; equal for equal studies.
    seed : int
    columns : tuple of StudyColumn
    values : ndarray of shape (replications, columns)
        Not finite where a statistic is not defined.
    """

    identity: str
    seed: int
    columns: tuple[StudyColumn, ...]
    values: np.ndarray

    @property
    def replications(self) -> int:
        """Return the number of replications done."""
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StudyResult) and _parts_compared(self) == _parts_compared(other)

    def __str__(self) -> str:
        lines = [f"{self.replications:,} replications, seed {self.seed}"]
        for scheme, rows in groupby(self.rows(), itemgetter("scheme")):
            lines += ["", scheme, line("", PRINTED_FIGURES, head=28, width=12)]
            for row in rows:
                label = f"  {row['estimator']:10} {row['statistic']:15}"
                # a dash where a figure is not defined, nothing where there is none
                cells = (
                    f"{row[name]:.5g}".replace("nan", "-") if name in row else ""
                    for name in PRINTED_FIGURES
                )
                lines.append(line(label, cells, head=28, width=12).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for every statistic: mean, bias, RMSE and standard errors, or a risk and
        its standard error.

        With S replications the standard error of the bias is the s.d. of the errors over sqrt(S)
        (where the truth is a mean over samples, of the differences from the samples' own
        statistics), that of the RMSE the s.d. of the squared errors over 2 RMSE sqrt(S). `defined`
        counts the replications in which a statistic is a number: s.d. and correlation are
        undefined if a variance is estimated negative, T_b if the bandwidth is below 1.5 steps of a
        grid, coverage if there is no interval or no target, the length of an interval if it is
        infinite. `truth_of` says where the truth comes from: the population, or the mean over the
        unmasked samples if the population does not know it.
        """
        figures = self._figures
        samples = {column.statistic for column in self.columns if not column.scheme}
        entries: list[dict[str, Any]] = []
        for k, (scheme, estimator, statistic, truth) in enumerate(self.columns):
            if scheme:
                wanted = ERRORS if statistic in samples else SHARES
                own = {figure: figures[figure][k].item() for figure in wanted}
                own["defined"] = int(np.isfinite(self.values[:, k]).sum())
                if wanted is ERRORS:
                    own["truth_of"] = "sample" if truth is None else "population"
                entries.append(
                    {"scheme": scheme, "estimator": estimator, "statistic": statistic} | own
                )
        return entries

    def value(self, scheme: str, estimator: str, statistic: str, what: str) -> float:
        """Return one number, such as ``value("CM", "T_1", "quantile 0.1", "rmse")``."""
        asked = scheme, estimator, statistic
        for row in self.rows():
            if asked == (row["scheme"], row["estimator"], row["statistic"]):
                names = [name for name, figure in row.items() if not isinstance(figure, str)]
                return float(row[_checks.choice(what, "what", names)])
        raise ArgumentError(
            f"statistic must be one of the study's, got {_checks.in_message(asked)}"
        )

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame."""
        return frames.frame_of_rows(self.rows())

    def to_dict(self) -> dict[str, Any]:
        """Return the study as a dict for JSON: "replications", "seed", "rows"."""
        return {"replications": self.replications, "seed": self.seed, "rows": finite(self.rows())}

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
        >>> study = cm.simulate(cm.paper_population(), schemes, n=200, replications=40, rng=1)
        >>> bias, rmse = study.plot()
        >>> bias.get_legend().get_title().get_text()
        'bars: ±2 Monte Carlo standard errors'
        """
        from condmask.plot.bias_and_rmse import bias_and_rmse

        return bias_and_rmse(self.rows(), path, ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state; the file takes its name when it is whole."""
        described = {"identity": self.identity, "seed": self.seed, "columns": self.columns}
        write_whole(_checks.writable(path, "path"), _state.pack(described, values=self.values))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "StudyResult":
        """Return the study that `save` wrote."""
        place = _checks.path(path, "path")
        try:
            described, arrays = _state.unpack(place.read_bytes())
            described["columns"] = tuple(StudyColumn(*column) for column in described["columns"])
            return cls(**described, values=arrays["values"].reshape(-1, len(described["columns"])))
        except (ValueError, KeyError, TypeError) as error:
            raise ArgumentError(f"path must be a saved StudyResult, got {path}") from error

    @cached_property
    @np.errstate(all="ignore")  # infinite, or no number, is what they then are
    def _figures(self) -> dict[str, np.ndarray]:
        """All figures column by column; NaN where fewer than two replications have the
        statistic."""
        samples = {
            column.statistic: k for k, column in enumerate(self.columns) if not column.scheme
        }
        of = [samples.get(column.statistic, k) for k, column in enumerate(self.columns)]
        values = np.ma.masked_invalid(self.values)
        values[:, values.count(axis=0) < 2] = np.ma.masked
        mean = values.mean(axis=0)
        root = np.sqrt(values.count(axis=0) - 1.0)
        known = np.array([column.truth for column in self.columns], dtype=np.float64)
        truth = np.where(np.isnan(known), mean.filled(np.nan)[of], known)
        # whose mean is the bias
        off = values - np.where(np.isnan(known), self.values[:, of], known)
        errors = values - truth
        squares = errors**2
        rmse = np.sqrt(squares.mean(axis=0))
        rmse_se = squares.std(axis=0) / (2.0 * root * np.ma.maximum(rmse, 1e-300))
        figures = {
            "truth": truth,
            "mean": mean,
            "mean_se": values.std(axis=0) / root,
            "bias": errors.mean(axis=0),
            "bias_se": off.std(axis=0) / root,
            "rmse": rmse,
            "rmse_se": rmse_se,
        }
        return {name: np.ma.filled(figure, np.nan) for name, figure in figures.items()}


def _parts_compared(result: StudyResult) -> tuple[object, ...]:
    """Return all that equal results have in common."""
    return result.identity, result.seed, result.columns, result.values.tobytes()
