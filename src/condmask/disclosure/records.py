"""What the best attacker makes of each record of a release."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask.disclosure.joint_law import JointLaw
from condmask.disclosure.table import Table
from condmask.strata import values_by_pool

LEVEL = 0.95


@dataclass(frozen=True, eq=False, repr=False)
class RecordRisk:
    """The best attacker's guess for each record of a release. Only the publisher may know what it holds.

    Attributes
    ----------
    d : float
        How near a guess must come to count, in the units of the data.
    rows : ndarray of shape (records,)
        Positions of the records in the file; records without an original or a masked value are left out.
    guess : ndarray of shape (records,)
        The guess: the middle of the attacker's interval of width 2 d.
    posterior : ndarray of shape (records,)
        How sure the attacker is that the original is closer than d to the guess.
    hit : ndarray of bool
        Whether it does.
    swap_posterior : ndarray of shape (records,)
        How sure the attacker is that the record was swapped.
    """

    d: float
    rows: np.ndarray
    guess: np.ndarray
    posterior: np.ndarray
    hit: np.ndarray
    swap_posterior: np.ndarray

    def exposed(self, k: int = 10) -> np.ndarray:
        """The positions of the k records that the attacker guesses rightly and is surest of, these first."""
        most = _checks.whole(k, "k", least=1)
        hits = np.flatnonzero(self.hit)
        return np.asarray(self.rows[hits[np.argsort(-self.posterior[hits], kind="stable")[:most]]])

    def to_frame(self) -> Any:
        """A row for every record, as a pandas data frame."""
        names = ("guess", "posterior", "hit", "swap_posterior")
        columns = {name: getattr(self, name).tolist() for name in names}
        return frames.data_frame({"record": self.rows.tolist(), **columns})

    def to_dict(self) -> dict[str, Any]:
        """Figures over all records, in terms of JSON; nothing about any single record."""
        return {
            "n": int(self.rows.size), "d": self.d, "hit": float(self.hit.mean()),
            "posterior": float(self.posterior.mean()), "surest": float(np.mean(self.posterior > 0.9)),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"RecordRisk(records={self.rows.size}, d={self.d:g}, hit={self.hit.mean():.3f})"


class Guesses(NamedTuple):
    """The best attacker's guess for each record, how sure, whether right, and whether it was swapped."""

    guess: np.ndarray
    posterior: np.ndarray
    hit: np.ndarray
    swap_posterior: np.ndarray


def guessed(law: JointLaw, x: np.ndarray, z: np.ndarray, d: float) -> Guesses:
    """What the best attacker makes of the released values of some records."""
    joint = law.swapped + law.kept
    mass, cell = np.maximum(joint.sum(axis=0), 1e-300), law.cell(z)
    share, guess = law.best_windows(joint, d)
    hit = np.abs(x - guess[cell]) < d
    return Guesses(guess[cell], (share / mass)[cell], hit, (law.swapped.sum(axis=0) / mass)[cell])


def record_risk(table: Table, name: str, scheme: Any, z: np.ndarray, d: float) -> RecordRisk:
    """What the best attacker guesses for each record of a column."""
    x = np.where(np.isnan(z), np.nan, table.values[name])
    parts = list(_by_pool(x, z, table, scheme, d))
    rows = np.concatenate([rows for rows, _ in parts])
    order = np.argsort(rows)
    columns = (np.concatenate(column)[order] for column in zip(*(found for _, found in parts), strict=True))
    return RecordRisk(d, rows[order], *columns)


def _by_pool(
    x: np.ndarray, z: np.ndarray, table: Table, scheme: Any, d: float
) -> Iterator[tuple[np.ndarray, Guesses]]:
    for rows, values in values_by_pool(x, table.pool):
        yield np.arange(x.size)[rows], guessed(JointLaw.of(values, scheme), values, z[rows], d)


def wilson(share: np.ndarray, n: int, level: float = LEVEL) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's interval of shares of n records."""
    from scipy.special import ndtri  # takes .1 s to import

    z = float(ndtri(0.5 + 0.5 * level))
    middle = (share + 0.5 * z * z / n) / (1.0 + z * z / n)
    reach = z / (1.0 + z * z / n) * np.sqrt(np.maximum(share * (1.0 - share), 0.0) / n + 0.25 * z * z / n**2)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)
