"""Describes where masked values come from, as a release states it."""

from typing import NamedTuple

from condmask.errors import warn
from condmask.inference.interval import EstimateWarning
from condmask.strata import Names, quoted_names


class Origin(NamedTuple):
    """Describes where masked values come from; a release states it next to the scheme.

    Attributes
    ----------
    group : str, optional
        Identifier shared by columns that were masked together.
    patterns : tuple of str
        Columns within whose common pattern of missing values donors were drawn; empty if all
        records have the same pattern.
    shift : tuple of float
        What ``round=True`` added to the mean and to the largest value; empty where nothing moved.
    """

    group: str | None = None
    patterns: tuple[str, ...] = ()
    shift: tuple[float, ...] = ()


NOWHERE = Origin()  # of a column masked by itself, without gaps or rounding


def warn_of_other_records(name: str, records: int, released: int | None, strata: Names) -> None:
    """Warn if the number of records differs from that of their release, which may be unknown."""
    if released is None or records == released:
        return
    whole = f" (except whole strata of {quoted_names(strata)})" if strata else ""
    warn(
        f"{name} has {records} records, and the release {released}: swapped records have values "
        f"from all of it, so estimates from a part of it are wrong{whole}. Estimate from all "
        "records, those without a value included: group_means, group_quantiles, group_cdf, "
        "weighted_mean and regress are about subgroups",
        EstimateWarning,
    )
