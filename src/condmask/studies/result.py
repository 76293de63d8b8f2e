"""What a study found: bias, RMSE and risk with their Monte Carlo standard errors, from sums of powers."""

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, _state, frames
from condmask.errors import ArgumentError
from condmask.files.publish import write_whole
from condmask.studies.table import study_table

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
        return "\n".join([head, *study_table(self.rows())])

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
        entries = []
        for k, column in enumerate(self.columns):
            if column.scheme == "" or column.estimator.startswith(CLOSED):
                continue
            mean, *_ = self._moments(k, 0.0)
            s = int(self.sums[0, k])  # replications in which it is defined
            entry: dict[str, Any] = {
                "scheme": column.scheme,
                "estimator": column.estimator,
                "statistic": column.statistic,
            }
            sample = index.get(("", "sample", column.statistic))
            if sample is not None:
                truth = self._mean(sample) if column.truth is None else column.truth
                first, second, _, fourth = self._moments(k, truth - column.center)
                rmse = float(np.sqrt(second))
                spread = _root((fourth - second * second) / max(s - 1, 1))
                entries.append({
                    **entry, "defined": s, "truth": truth,
                    "truth_of": "sample" if column.truth is None else "population",
                    "mean": column.center + mean, "bias": first,
                    "bias_se": _root((second - first * first) / max(s - 1, 1)), "rmse": rmse,
                    "rmse_se": spread / (2.0 * rmse) if rmse > 0.0 else rmse,
                })  # fmt: skip
            else:
                closed = index.get((column.scheme, CLOSED + column.estimator, column.statistic))
                entries.append({
                    **entry, "mean": column.center + mean,
                    "mean_se": _root(self._moments(k, mean)[1] / max(s - 1, 1)),
                    "closed_form": None if closed is None else self._mean(closed),
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
            state = cls(**described, sums=arrays["sums"])
            whole = state._is_sound()
        except (ValueError, KeyError, TypeError, AttributeError):
            whole = False
        if not whole:
            raise ArgumentError(f"path must be a saved StudyResult, got {path}")
        return state

    def _is_sound(self) -> bool:
        """Whether all parts are of the types that `simulate` gives them."""
        return (
            isinstance(self.identity, str)
            and all(type(count) is int and count >= 0 for count in (self.seed, self.replications))
            and isinstance(self.seconds, float)
            and all(
                all(isinstance(name, str) for name in column[:3])
                and isinstance(column.truth, float | None)
                and isinstance(column.center, float)
                for column in self.columns
            )
            and self.sums.shape == (PARTS, len(self.columns))
            and self.sums.dtype == np.float64
        )

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
