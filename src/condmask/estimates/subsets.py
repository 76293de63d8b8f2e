"""Parts of the records: everything is available for whole strata, only means for other parts."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from condmask import _checks
from condmask.distribution.sample import sample_of
from condmask.errors import ArgumentError
from condmask.estimates.base import Shared
from condmask.estimates.batch import by_replicate
from condmask.labels import groups
from condmask.linear.records import Records

RULE = "True or False for each record"
MOST_LISTED = 10  # labels in a message


class Selection(Shared):
    """Some of the records."""

    @by_replicate
    def part(self, rows: Any) -> Self:
        r"""The estimate from some of the records, which must be whole strata.

        Parameters
        ----------
        rows : array_like of bool, shape (n,), or dict
            Which records: True or False for each, or labels by column, ``{"region": "north"}``. The estimates
            of a release know columns by name.

        Returns
        -------
        Estimate
            Of these records alone: distribution function, quantiles, bands and everything else.

        Raises
        ------
        ValueError
            If a stratum is selected only in part, the strata are needed but missing, no record has such a
            label, or fewer than two values remain.

        Notes
        -----
        Within a stratum any record may be the donor of another, so the masked values of a part g have the
        characteristic function :math:`\varphi_{Z|g} = p\,\varphi_X + (1-p)\,\varphi_Y \varphi_{X|g}`, and
        dividing by :math:`\varphi_Y`, which tends to 0, magnifies the errors at high frequencies without
        bound. Means are available for any part, from `group_means`.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> rng = np.random.default_rng(1)
        >>> female = rng.random(20_000) < 0.5
        >>> x = rng.normal(np.where(female, 90.0, 110.0), 15.0)
        >>> scheme = cm.ConditionalMasking(0.6, 10.0, strata="sex")
        >>> estimate = scheme.estimate(scheme.mask(x, strata=female, rng=2), strata=female)
        >>> bool(abs(estimate.part(female).median() - 90.0) < 1.5)
        True
        """
        records = self._records_for("a part of them", "records")
        z, present = records.z, ~np.isnan(records.z)
        labelled = isinstance(rows, Mapping)
        chosen = self._labelled(rows, z.size) if labelled else _checks.array(rows, "rows", RULE)
        if chosen.dtype != np.bool_ or chosen.shape != z.shape:
            rule = f"rows must be {RULE}, {z.size} in all, or labels by column"
            raise ArgumentError(f"{rule}, got {_checks.shown(rows)}")
        pool = records.pools() if self._law.p > 0.0 else None
        if self._law.p > 0.0:
            _check_whole(chosen[present], (np.zeros(z.size, np.int64) if pool is None else pool)[present])
        sample = sample_of(z[chosen & present], self._law)
        _checks.at_least_two(sample.n, "rows")
        kept = Records(z[chosen], None if pool is None else pool[chosen])
        return type(self)(self.scheme, sample, records=kept, origin=self.origin)

    def _labelled(self, labels: Mapping[str, Any], n: int) -> np.ndarray:
        """Which of n records have these labels, by column."""
        chosen = np.ones(n, dtype=bool)
        for name, label in labels.items():
            code, found = groups(self._by_name(name, "rows", labels=True), "rows", n)
            wanted, texts = str(label), [str(one) for one in found]
            if wanted not in texts:
                raise ArgumentError(
                    f"rows must be labels that occur, got {wanted!r} for {name!r}, which has "
                    f"{_checks.listed(texts[:MOST_LISTED])}"
                )
            chosen &= code == texts.index(wanted)
        return chosen


def _check_whole(chosen: np.ndarray, pool: np.ndarray) -> None:
    """Refuse strata of which some records are chosen and others are not."""
    size, inside = np.bincount(pool), np.bincount(pool, chosen)
    cut = int(np.count_nonzero((inside > 0) & (inside < size)))
    if cut:
        raise ArgumentError(
            f"rows must be whole strata, within which donors were drawn, got parts of {cut} of them: swapped "
            "records show values from anywhere in their stratum, and the noise of the others cannot be "
            "undone. For such parts only means are available: group_means, weighted_mean, regress"
        )
