"""Types of Arrow that hold others: lists, structs, maps and unions, taken apart and put together anew."""

from typing import Any

import pyarrow as pa


def fields_of(dtype: Any) -> list[Any]:
    """The fields within a type; none of a plain one, or of one that somebody registered."""
    nested = not isinstance(dtype, pa.BaseExtensionType) and pa.types.is_nested(dtype)
    return [dtype.field(k) for k in range(dtype.num_fields)] if nested else []


def with_fields(dtype: Any, within: list[Any]) -> Any:
    """A type of the same kind that holds these fields."""
    if not within:
        return dtype
    kinds = pa.types
    if kinds.is_struct(dtype):
        return pa.struct(within)
    if kinds.is_map(dtype):
        entries = within[0].type
        return pa.map_(entries.field(0), entries.field(1), dtype.keys_sorted)
    if kinds.is_fixed_size_list(dtype):
        return pa.list_(within[0], dtype.list_size)
    if kinds.is_union(dtype):
        return pa.union(within, dtype.mode, dtype.type_codes)
    for is_kind, made in (
        (kinds.is_list, pa.list_), (kinds.is_large_list, pa.large_list),
        (kinds.is_list_view, pa.list_view), (kinds.is_large_list_view, pa.large_list_view),
    ):  # fmt: skip
        if is_kind(dtype):
            return made(within[0])
    return dtype  # runs, whose fields have no notes
