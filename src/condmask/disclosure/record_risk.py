"""Records one by one: what an attacker who sees a release guesses for each."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import blocks
from condmask.disclosure import baselines
from condmask.disclosure.pools import pools_of
from condmask.disclosure.risk import both
from condmask.errors import ArgumentTypeError
from condmask.grid import check_released
from condmask.scheme import Scheme

TOGETHER = 1 << 20  # records


@dataclass(frozen=True, eq=False, repr=False)
class RecordRisk:
    """The best attacker's guess for each record of a release.

    Made by `record_risk`. Only the publisher may know what it holds.

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
        """The records that the attacker guesses rightly, and is surest of.

        Parameters
        ----------
        k : int
            How many, at most.

        Returns
        -------
        ndarray of int
            Positions in the file, the most exposed first.
        """
        most = _checks.whole(k, "k", least=1)
        hits = np.flatnonzero(self.hit)
        return np.asarray(self.rows[hits[np.argsort(-self.posterior[hits], kind="stable")[:most]]])

    def to_frame(self) -> Any:
        """A row for every record, as a pandas data frame."""
        names = ("guess", "posterior", "hit", "swap_posterior")
        columns = {name: getattr(self, name).tolist() for name in names}
        return frames.data_frame({"record": self.rows.tolist(), **columns})

    def to_dict(self) -> dict[str, Any]:
        """Figures over all records, in terms of JSON; nothing about any single record.

        Returns
        -------
        dict
            "n", "d", "hit" (the share of records guessed rightly), "posterior" (its mean), and "surest" (the
            share of records of which the attacker is more than 90% sure).
        """
        return {
            "n": int(self.rows.size), "d": self.d, "hit": float(self.hit.mean()),
            "posterior": float(self.posterior.mean()), "surest": float(np.mean(self.posterior > 0.9)),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"RecordRisk(records={self.rows.size}, d={self.d:g}, hit={self.hit.mean():.3f})"


def record_risk(x: Any, z: Any, scheme: Any, *, d: float, strata: Any = None) -> RecordRisk:
    """How well the best attacker guesses each record of a release.

    Parameters
    ----------
    x, z : array_like or series of shape (n,)
        Original and released values; records without both are left out.
    scheme : ConditionalMasking or AdditiveNoise
        The scheme of the release.
    d : float
        How near a guess must come to count, in the units of the data.
    strata : array_like of shape (n,), or sequence of several, optional
        The columns that the scheme names as strata.

    Returns
    -------
    RecordRisk
        The attacker's guesses, how sure they are of each, and whether it is right.

    Raises
    ------
    ValueError
        As for `release_risk`.

    See Also
    --------
    release_risk : shares of records, for all attackers.

    Notes
    -----
    The attacker is the best one of `risk`, who knows p, sigma, the noise and the law of the data, learned
    from other records than the one attacked. If that law is right, a share `posterior` of the guesses is
    right; docs/risk.rst shows how nearly this holds. Cost: about .1 s for 10,000 records.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> x = np.random.default_rng(1).laplace(10, 1000, 5_000)
    >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
    >>> found = cm.record_risk(x, scheme.mask(x, rng=2), scheme, d=500)
    >>> print(round(float(found.hit.mean()), 2), round(float(found.posterior.mean()), 2))
    0.4 0.41
    """
    distance = float(_checks.not_negative(d, "d"))
    if not isinstance(scheme, Scheme) or (scheme.law is None and not scheme.reverse_mapping):
        raise ArgumentTypeError(f"scheme must be one that describes its noise, got {_checks.shown(scheme)}")
    present, (original, masked), strata, _ = both(x, z, strata, None, scheme)
    rows = np.flatnonzero(present)
    _, law, pools = pools_of(original, scheme, strata, "record_risk")
    z_units = law.to_units(masked)
    check_released(z_units, law, "z", rows)
    width = np.array([distance])
    guess, chance, swapped = (np.empty(rows.size) for _ in range(3))
    hit = np.empty(rows.size, dtype=bool)
    for rows_of_pool, file in pools:
        constant = baselines.by_constant(file, width)
        inside = 0.5 * (float(file.wide(width)[0]) - (law.grid is not None))  # whole steps of a grid
        for start, stop in blocks(file.n, TOGETHER):
            numbers = np.arange(start, stop)
            some = numbers if isinstance(rows_of_pool, slice) else rows_of_pool[start:stop]
            posteriors = file.posteriors(z_units[some], numbers, width, constant)
            guess[some] = (posteriors.first[:, 0] + inside) * file.grid.step
            chance[some], hit[some] = posteriors.chance[:, 0], posteriors.hit[:, 0]
            swapped[some] = posteriors.swapped
    return RecordRisk(distance, rows, guess, chance, hit, swapped)
