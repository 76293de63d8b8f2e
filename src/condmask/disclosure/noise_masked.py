"""How attackers do on a donor pool whose kept records show their values with noise.

The methods have the same names as those of `reverse_mapped.ReverseMapped`, and answer the same questions.
"""

from functools import cached_property, partial

import numpy as np

from condmask.disclosure import baselines, record_posteriors, value_attack, verbatim
from condmask.disclosure.baselines import FullestWindows
from condmask.disclosure.folds import folded_rows
from condmask.disclosure.original import Original
from condmask.disclosure.record_posteriors import RecordPosteriors
from condmask.disclosure.risk_result import BEST, MEAN, RELEASED
from condmask.disclosure.swap_attack import FULL, Effort, StrataAttack
from condmask.disclosure.verbatim import Verbatim
from condmask.draws import mask_rows
from condmask.law import Law


class NoiseMasked(Original):
    """The values of one donor pool, none missing, released with noise or as another record's value.

    Parameters
    ----------
    units, kind, law
        As of `Original`.
    shared_donors : bool
        Whether several swapped records may show one record's value.
    """

    def __init__(self, units: np.ndarray, kind: str, law: Law, shared_donors: bool) -> None:
        super().__init__(units, kind, law)
        self.shared_donors = shared_donors

    @cached_property
    def attack(self) -> StrataAttack | None:
        """The attack on all records."""
        return value_attack.attack_on(self, folded_rows(self.n, self.n), FULL._replace(rows=self.n))

    def expected(self, d: np.ndarray, constant: FullestWindows) -> tuple[dict[str, np.ndarray], None]:
        """The risk by attackers who need no other columns; which record is most exposed is not looked at."""
        shared = self.shared_donors or self.law.p == 0.0
        risk = {
            RELEASED: baselines.by_released(self, d),
            MEAN: baselines.by_mean(self, d, shared_donors=shared),
            BEST: value_attack.by_posterior(self, d, constant),
        }
        return risk, None

    def brief(
        self, d: np.ndarray, constant: FullestWindows, effort: Effort
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The risk by the masked value, of the most exposed record, and by the best attacker, briefly."""
        released, most_exposed = baselines.over_records(self, partial(baselines.released_near, self, d))
        return released, most_exposed, value_attack.by_posterior(self, d, constant, effort)

    def most_exposed(self, d: np.ndarray) -> None:
        """None: with noise, the most exposed record is not computed."""

    def posteriors(
        self, z: np.ndarray, rows: np.ndarray, d: np.ndarray, constant: FullestWindows
    ) -> RecordPosteriors:
        """What the best attacker makes of the records at `rows`, for which z is released."""
        return record_posteriors.record_posteriors(self, self.attack, z, rows, d, constant)

    def drawn(self, rows: np.ndarray, stream: np.random.Generator) -> np.ndarray:
        """Released values of some records, as they are drawn for trials."""
        if self.law.p == 0.0:
            return np.asarray(self.units[rows] + self.law.draw(stream, rows.size))
        return np.asarray(mask_rows(self.units[None], self.law, stream, cycle=False)[0][rows])

    def verbatim(self, z: np.ndarray | None = None) -> Verbatim:
        """What of the originals stands in a release as it is: as expected, or as found in z."""
        if z is None:
            return verbatim.expected(self, shared_donors=self.shared_donors)
        return verbatim.in_release(self, z, shared_donors=self.shared_donors)
