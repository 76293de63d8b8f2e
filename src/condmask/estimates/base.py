"""State and helpers shared by the method groups (mixins) of Estimate."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, cast

from numpy.typing import ArrayLike

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
from condmask.linear.pseudo_values import PseudoValues
from condmask.linear.records import Named, Records
from condmask.masking.scheme import Scheme
from condmask.moments import heavy_tails
from condmask.moments.heavy_tails import UNNAMED
from condmask.row_labels import has_index, refuse_other_order

# gives another column of a release by its name, as labels or as numbers; or its estimate, if
# masked
ReadColumn = Callable[[str, bool], Any]


class Shared:
    """Holds the sample of an Estimate, its records, and results that are computed once.

    Attributes
    ----------
    scheme : Scheme
    sample : Sample
        The masked values, without missing ones.
    law : Law
        The law that masked them.
    origin : Origin
    name : str
        The name of the column; empty where it is not known.
    column : str
        The name of the masked column of which this one is a function, or is itself.
    """

    def __init__(
        self,
        scheme: Scheme,
        sample: Sample,
        *,
        records: Records | None = None,
        origin: Origin = NOWHERE,
        name: str = "",
        read: ReadColumn | None = None,
        column: str = "",
    ) -> None:
        _checks.at_least_two(sample.n, "z")
        self.scheme = scheme
        self.origin = origin
        self.name = name
        self.column: str = column or name
        self.law: Law = sample.law
        self.sample = sample
        self._records = records
        self._read_column = read

    def _numbers(
        self, given: "ArrayLike | Shared | None", argument: str, *, masked: bool = False
    ) -> Any:
        """Return a column, or a `Named` reference if its numbers are read from the file of the
        records."""
        records = self._records
        if isinstance(given, str) and records is not None and records.has_numbers(given):
            return Named(given)
        return self._by_name(given, argument, masked=masked)

    def _by_name(
        self,
        given: "ArrayLike | Shared | None",
        argument: str,
        *,
        labels: bool = False,
        masked: bool = False,
    ) -> Any:
        """Return the column given directly or by name; a masked column, if allowed, as its
        estimate."""
        if not isinstance(given, str):
            return given
        if self._read_column is None:
            raise ArgumentError(
                f"{argument} must be a column, got {_checks.in_message(given)}: only the "
                "estimates of a Release know columns by name"
            )
        column = self._read_column(given, labels)
        in_clear = not isinstance(column, Shared)
        _checks.require(
            in_clear or masked, f"{argument} must be a column that was not masked", given
        )
        return yes_no(column, argument) if in_clear and not labels else column

    def _refuse_other_order(self, **given: Any) -> None:
        """Refuse columns if their index has the labels of the records, or of each other, in
        another order."""
        if self._records is not None and has_index(given):  # else labels of files need not be read
            refuse_other_order(given, self._records.row_labels)

    @cached_property
    def records(self) -> Records:
        """Return the records; refuse if there are only Counts."""
        if self._records is None:
            raise ArgumentError(
                "z must be masked values for pseudo-values, parts and statistics of several "
                "columns, got Counts, which keep no records"
            )
        return self._records

    @cached_property
    def estimator(self) -> Estimator:
        """Return the estimator that undoes the masking record by record; refuse if there are only
        Counts."""
        return estimator_of(self.scheme, self.records)

    def _linear(self) -> PseudoValues:
        """Return the pseudo-values of the records; after reverse mapping with a warning where
        they vary much."""
        return self.estimator.linear()

    @property
    def _shown_name(self) -> str:
        """Return the name of the column for messages."""
        return repr(self.name) if self.name else UNNAMED

    def _warn_of_skewness(self, target: str, n: int, quantities: str) -> None:
        """Warn if the tails of the original are too heavy for means of n records of a population.

        About the file, estimates vary mostly by the noise, and intervals keep their level.
        """
        if target == "population":
            skewness = heavy_tails.skewness(self.sample.powers(3), self.law)
            heavy_tails.warn_of_skewness(skewness, n, quantities, self._shown_name)

    def _refuse_additive(self) -> None:
        """Refuse values with added noise, since none of them shows the original."""
        if self.law.p == 0.0:
            raise UndefinedError(
                "intervals are available only for conditionally masked values, got values with "
                "added noise, whose distribution can only be estimated smoothed"
            )

    @cached_property
    def gridded(self) -> tuple[Counted, Masking, Law]:
        """Return the counts of the records by step of a grid, the default one if the scheme has
        none, with their masking and law."""
        self._refuse_additive()
        counted = self.sample.counted
        law = self.law
        if law.p < 1.0 and law.grid is None:
            law = law._replace(grid=grid_of(default_step(law.sigma)))
            counted = merged(
                [Counted(law.to_units(counted.values), counted.counts, law.sigma / law.step)]
            )
        return counted, masking(law, None), law

    @cached_property
    def cdf_sums(self) -> tuple[T_1, CdfSums]:
        """Return T_1, and the sums from which its variances follow."""
        self._refuse_additive()
        t = cast("T_1", self.sample.distribution())  # since there is no bandwidth
        return t, CdfSums(t.counted, t.masking, shared_donors=self.scheme.shared_donors)
