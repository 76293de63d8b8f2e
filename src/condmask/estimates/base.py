"""State and helpers shared by the method groups (mixins) of Estimate."""

from functools import cached_property
from typing import Any

from condmask import _checks
from condmask.distribution.bandwidth import masking
from condmask.distribution.cdf_variance import CdfSums
from condmask.distribution.counting import Counted, merged
from condmask.distribution.symbol import Masking
from condmask.distribution.t_1 import T_1
from condmask.errors import ArgumentError
from condmask.estimates.estimator import Estimator, estimator_of
from condmask.estimates.origin import NOWHERE, Origin
from condmask.estimates.sample import Sample
from condmask.grid import default_step, grid_of
from condmask.indicators import yes_no
from condmask.inference.interval import UndefinedError
from condmask.law import Law
from condmask.linear.chunks import Named
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.records import Records
from condmask.moments import heavy_tails
from condmask.moments.heavy_tails import UNNAMED
from condmask.row_labels import has_index, refuse_other_order


class Shared:
    """Holds the sample of an Estimate, and what was computed from it."""

    def __init__(
        self,
        scheme: Any,
        sample: Sample,
        *,
        records: Records | None = None,
        origin: Origin = NOWHERE,
        name: str = "",
        read: Any = None,
    ) -> None:
        _checks.at_least_two(sample.n, "z")
        self.scheme = scheme
        self.origin = origin
        self._name = name
        self._law: Law = sample.law
        self._sample = sample
        self._records = records
        self._read_column = read

    def _numbers(self, given: Any, argument: str, *, masked: bool = False) -> Any:
        """A column, or its name where it can be read from the file of the records whenever it is
        needed."""
        if (
            isinstance(given, str)
            and self._records is not None
            and self._records.has_numbers(given)
        ):
            return Named(given)
        return self._by_name(given, argument, masked=masked)

    def _by_name(
        self, given: Any, argument: str, *, labels: bool = False, masked: bool = False
    ) -> Any:
        """The column given directly or by name; a masked column, if allowed, as its estimate."""
        if not isinstance(given, str):
            return given
        known = self._read_column is not None
        hint = ": only the estimates of a Release know columns by name"
        _checks.require(known, f"{argument} must be a column", given, hint=hint)
        column = self._read_column(given, labels)
        in_clear = not isinstance(column, Shared)
        _checks.require(
            in_clear or masked, f"{argument} must be a column that was not masked", given
        )
        return yes_no(column, argument) if in_clear and not labels else column

    def _refuse_other_order(self, **given: Any) -> None:
        """Refuse columns whose index has the labels of the records, or of one another, in another
        order."""
        if self._records is not None and has_index(given):  # else labels of files need not be read
            refuse_other_order(given, self._records.row_labels)

    @property
    def _rows(self) -> Records:
        """The records; an error if there are only Counts."""
        if self._records is None:
            what = "pseudo-values, parts and statistics of several columns"
            raise ArgumentError(
                f"z must be masked values for {what}, got Counts, which keep no records"
            )
        return self._records

    @cached_property
    def _estimator(self) -> Estimator:
        """Return what undoes the masking of the records; refused if there are only Counts."""
        return estimator_of(self.scheme, self._rows)

    def _linear(self) -> PseudoValues:
        """Return the pseudo-values of the records; after reverse mapping with a warning where
        they vary much."""
        return self._estimator.linear()

    @property
    def _shown_name(self) -> str:
        """The column as messages name it."""
        return repr(self._name) if self._name else UNNAMED

    def _warn_of_skewness(self, target: str, n: int, quantities: str) -> None:
        """Warn if the tails of the original are heavy for means of n records of a population.

        About the file it is mostly the noise that varies, and intervals cover.
        """
        if target == "population":
            skewness = heavy_tails.skewness(self._sample.powers(3), self._law)
            heavy_tails.warn_of_skewness(skewness, n, quantities, self._shown_name)

    def _refuse_additive(self) -> None:
        if self._law.p == 0.0:
            raise UndefinedError(
                "intervals are available only for conditionally masked values, got values with added noise, "
                "whose distribution can only be estimated smoothed"
            )

    @cached_property
    def _gridded(self) -> tuple[Counted, Masking, Law]:
        """The records by step of a grid, the default one where there is none, and how they were
        masked."""
        self._refuse_additive()
        counted = self._sample.counted
        law = self._law
        if law.p < 1.0 and law.grid is None:
            law = law._replace(grid=grid_of(default_step(law.sigma)))
            counted = merged(
                [Counted(law.to_units(counted.values), counted.counts, law.sigma / law.step)]
            )
        return counted, masking(law, None), law

    @cached_property
    def _of_cdf(self) -> tuple[T_1, CdfSums]:
        """T_1, and the sums of which its variances are made."""
        self._refuse_additive()
        t = self._sample.distribution()
        return t, CdfSums(t.counted, t.masking, shared_donors=self.scheme.shared_donors)
