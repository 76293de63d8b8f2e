"""What a release says about a column besides its scheme."""

from typing import NamedTuple


class Origin(NamedTuple):
    """What estimates need to know about where masked values come from.

    Attributes
    ----------
    group : str, optional
        Identifier shared by columns that were masked together.
    patterns : tuple of str
        Columns within whose common pattern of missing values donors were drawn; empty if all records have
        the same pattern.
    shift : tuple of float
        What ``round=True`` added to the mean and to the largest value; empty where nothing moved.
    """

    group: str | None = None
    patterns: tuple[str, ...] = ()
    shift: tuple[float, ...] = ()


NOWHERE = Origin()  # of a column masked by itself, without gaps or rounding
