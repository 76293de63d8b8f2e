"""What a release tells of a column beside its scheme."""

from typing import NamedTuple


class Origin(NamedTuple):
    """Where masked values are from, as far as estimates have to know.

    Attributes
    ----------
    group : str, optional
        Identifier shared by columns that were masked together.
    patterns : tuple of str
        Columns within whose common pattern of missing values donors were drawn; none where that does not part
        them.
    shift : tuple of float
        What ``round=True`` added to the mean and to the largest value; empty where nothing moved.
    """

    group: str | None = None
    patterns: tuple[str, ...] = ()
    shift: tuple[float, ...] = ()


NOWHERE = Origin()  # of a column masked by itself, without gaps or rounding
