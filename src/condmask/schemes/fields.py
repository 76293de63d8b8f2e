"""The parameters of a scheme of conditional masking, each once: what they take, and what they do in a line.

The command line has its options from here, recipes their keys, and reports the rows of their tables. Nothing
is imported, so that ``--help`` answers at once.
"""

from collections.abc import Callable
from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """One parameter of a scheme.

    Attributes
    ----------
    read : callable of str
        Its value from text; bool for a flag.
    help : str
    metavar : str, optional
        What stands for a value in help.
    required : bool
    per_column : bool
        Whether columns that are masked together may each have their own.
    several : bool
        Whether it may hold several values.
    """

    read: Callable[[str], Any]
    help: str
    metavar: str | None = None
    required: bool = False
    per_column: bool = False
    several: bool = False


def number_or_fraction(text: str) -> float:
    """A number from text: 0.05, or a fraction of two, 1/3."""
    above, _, below = text.partition("/")
    return float(above) / float(below) if below else float(above)


PARAMETERS = {
    "p": Parameter(float, "swap probability, 0 < p < 1", required=True),
    "sigma": Parameter(float, "s.d. of the noise, in units of the data", required=True, per_column=True),
    "noise": Parameter(str, "normal (default) or laplace"),
    "donors": Parameter(str, "permutation (default) or sample"),
    "reverse_mapping": Parameter(
        bool,
        "release the values of the data themselves, in another order that does not show who was swapped",
    ),
    "aggregate_ends": Parameter(
        int,
        "with reverse mapping: release the K smallest and largest values as their means (3 to 5)",
        "K",
    ),
    "decimals": Parameter(int, "decimal places of the data, where they are rounded", "N", per_column=True),
    "step": Parameter(
        number_or_fraction,
        "step of the data's grid, where it is no power of ten (0.05, 1/3)",
        per_column=True,
    ),
    "scale": Parameter(
        str,
        "linear (default); with reverse mapping also log: noise in proportion, sigma .3 some 30%",
        per_column=True,
    ),
    "strata": Parameter(
        str, "draw donors within the groups of this column; several are crossed", "COLUMN", several=True
    ),
    "small_strata": Parameter(str, "fewer than 10 records: refuse (default) or merge them"),
    "missing": Parameter(
        float, "number that stands for a missing value (-8) and stays in its place", "CODE", several=True
    ),
    "missing_as": Parameter(str, "release such numbers as they are: code (default), or as null"),
}
