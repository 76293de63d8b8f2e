"""What fields the footer of a Parquet file has, by parquet.thrift, the definition of the format.

Readers pass over a field of another type, and take the elements of a list for what they should be. Who copies
a footer would understand it otherwise than they do; so such footers, which no writer writes, are refused.
"""

from typing import Any, NamedTuple

from condmask.files.thrift import BINARY, FALSE, I16, I32, I64, LIST, STRUCT, TRUE, Struct

BOOL = 0  # which has a type for each value


class Fields(NamedTuple):
    """The fields of a struct: the types of those that are known, by number, and which it needs."""

    types: dict[int, Any]
    needed: frozenset[int] = frozenset()


class ListOf(NamedTuple):
    """A list of such elements."""

    element: Any


SIZES = Fields({1: I64, 2: ListOf(I64), 3: ListOf(I64)})
STATISTICS = Fields({1: BINARY, 2: BINARY, 3: I64, 4: I64, 5: BINARY, 6: BINARY, 7: BOOL, 8: BOOL})
OF_PAGES = Fields({1: I32, 2: I32, 3: I32}, frozenset({1, 2, 3}))
ENTRY = Fields({1: BINARY, 2: BINARY}, frozenset({1}))
COLUMN = Fields(
    {
        1: I32, 2: ListOf(I32), 3: ListOf(BINARY), 4: I32, 5: I64, 6: I64, 7: I64, 8: ListOf(ENTRY), 9: I64,
        10: I64, 11: I64, 12: STATISTICS, 13: ListOf(OF_PAGES), 14: I64, 15: I32, 16: SIZES, 17: Fields({}),
    },
    frozenset({1, 2, 3, 4, 5, 6, 7, 9}),
)  # fmt: skip
CHUNK = Fields({1: BINARY, 2: I64, 3: COLUMN, 4: I64, 5: I32, 6: I64, 7: I32, 8: Fields({}), 9: BINARY})
SORTING = Fields({1: I32, 2: BOOL, 3: BOOL}, frozenset({1, 2, 3}))
GROUP = Fields(
    {1: ListOf(CHUNK), 2: I64, 3: I64, 4: ListOf(SORTING), 5: I64, 6: I64, 7: I16}, frozenset({1, 2, 3})
)
ELEMENT = Fields(
    {1: I32, 2: I32, 3: I32, 4: BINARY, 5: I32, 6: I32, 7: I32, 8: I32, 9: I32, 10: Fields({})},
    frozenset({4}),
)
FILE = Fields(
    {
        1: I32, 2: ListOf(ELEMENT), 3: I64, 4: ListOf(GROUP), 5: ListOf(ENTRY), 6: BINARY,
        7: ListOf(Fields({})), 8: Fields({}), 9: BINARY,
    },
    frozenset({1, 2, 3, 4}),
)  # fmt: skip


def is_sound(fields: Struct, of: Fields = FILE) -> bool:
    """Whether a struct has the fields it needs, and all that are known are of their types."""
    known = fields.keys() & of.types.keys()
    return known >= of.needed and all(_is_of(*fields[number], of.types[number]) for number in known)


def _is_of(kind: int, value: Any, meant: Any) -> bool:
    """Whether a value, of this kind, is of the type that is meant."""
    if isinstance(meant, Fields):
        return kind == STRUCT and is_sound(value, meant)
    if isinstance(meant, ListOf):
        return kind == LIST and all(_is_of(value[0], each, meant.element) for each in value[1])
    return kind in (TRUE, FALSE) if meant == BOOL else kind == meant
