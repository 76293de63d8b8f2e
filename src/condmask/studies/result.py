"""What a study found: bias, RMSE and risk with their Monte Carlo standard errors, from sums of powers."""

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from condmask import _state, frames


class Column(NamedTuple):
    """One statistic of one estimator of one scheme.

    `truth` is that of the population, or the closed form of a risk; None where only samples know it.
    """

    scheme: str
    estimator: str
    statistic: str
    truth: float | None
    center: float


class StudyResult(NamedTuple):
    """The state of a study: sums of the powers 0 to 4 of (value - center) over its replications.

    Made by `simulate`.
    """

    identity: str
    seed: int
    replications: int
    columns: tuple[Column, ...]
    sums: np.ndarray
    seconds: float

    def __repr__(self) -> str:
        schemes = len({column.scheme for column in self.columns} - {""})
        return (
            f"StudyResult(replications={self.replications}, schemes={schemes}, "
            f"statistics={len(self.columns)}, seed={self.seed})"
        )

    def rows(self) -> list[dict[str, Any]]:
        """A dict for every statistic: mean, bias, RMSE and standard errors, or a risk and its standard error.

        With S replications the standard error of the bias is the s.d. of the errors over sqrt(S), that of
        the RMSE the s.d. of the squared errors over 2 RMSE sqrt(S). `defined` counts the replications in
        which a statistic is a number: s.d. and correlation are none where a variance is estimated negative,
        T_b where the bandwidth is below 1.5 steps of a grid. `closed_form` is what `scheme.risk` and
        `scheme.mse` give for the samples of the first block.
        """
        samples = {c.statistic: k for k, c in enumerate(self.columns) if c.scheme == ""}
        found = []
        for k, column in enumerate(self.columns):
            if column.scheme == "":
                continue
            mean, *_ = self._moments(k, 0.0)
            s = int(self.sums[0, k])  # replications in which it is defined
            entry = {"scheme": column.scheme, "estimator": column.estimator, "statistic": column.statistic}
            if column.statistic in samples:
                truth = column.truth
                if truth is None:
                    own = samples[column.statistic]
                    truth = self.columns[own].center + self._moments(own, 0.0)[0]
                first, second, _, fourth = self._moments(k, truth - column.center)
                rmse = float(np.sqrt(second))
                spread = _root((fourth - second**2) / max(s - 1, 1))
                found.append({
                    **entry, "defined": s, "truth": truth, "mean": column.center + mean, "bias": first,
                    "bias_se": _root((second - first**2) / max(s - 1, 1)), "rmse": rmse,
                    "rmse_se": spread / (2.0 * rmse) if rmse > 0.0 else rmse,
                })  # fmt: skip
            else:
                variance = self._moments(k, mean)[1] / max(s - 1, 1)
                found.append({
                    **entry, "mean": column.center + mean, "mean_se": _root(variance),
                    "closed_form": column.truth,
                })  # fmt: skip
        return found

    def value(self, scheme: str, estimator: str, statistic: str, what: str) -> float:
        """One number, such as ``value("CM", "T_1", "quantile 0.1", "rmse")``."""
        for row in self.rows():
            if (row["scheme"], row["estimator"], row["statistic"]) == (scheme, estimator, statistic):
                return float(row[what])
        raise ValueError(f"statistic must be one of the study's, got {(scheme, estimator, statistic)!r}")

    def to_frame(self) -> Any:
        """The rows as a pandas data frame."""
        rows = self.rows()
        names = dict.fromkeys(name for row in rows for name in row)
        return frames.data_frame({name: [row.get(name) for row in rows] for name in names})

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Bias and RMSE by quantile, a line for every estimator; needs matplotlib."""
        from condmask.plot import bias_and_rmse

        return bias_and_rmse(self.rows(), path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state; the file takes its name when it is whole."""
        described = {
            "identity": self.identity, "seed": self.seed, "replications": self.replications,
            "columns": [list(column) for column in self.columns], "seconds": self.seconds,
        }  # fmt: skip
        target = Path(path)
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        beside.write_bytes(_state.pack(described, sums=self.sums))
        beside.replace(target)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "StudyResult":
        """What `save` wrote."""
        try:
            described, arrays = _state.unpack(Path(path).read_bytes())
            columns = tuple(Column(*column) for column in described["columns"])
            return cls(
                described["identity"], described["seed"], described["replications"], columns,
                arrays["sums"], described["seconds"],
            )  # fmt: skip
        except (ValueError, KeyError) as error:
            raise ValueError(f"path must be a saved StudyResult, got {path}") from error

    def _moments(self, k: int, shift: float) -> tuple[float, float, float, float]:
        """Means of the first four powers of (value - center - shift)."""
        count, *sums = self.sums[:, k]
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
