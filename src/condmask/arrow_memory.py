"""Arrow arrays, looked through before anybody computes with them.

Arrow takes an array from a file, or from whoever made it, as it is: places of texts that lie elsewhere,
numbers of labels that there are not, fewer values than it says. What reads there reads other memory, or none.
"""

from typing import Any

from condmask.errors import ArgumentError


def validated(column: Any) -> Any:
    """An array, plain or in chunks; `pyarrow.ArrowInvalid` where its memory is not what its type says.

    Texts need not be UTF-8, which some writers do not mind.
    """
    for chunk in getattr(column, "chunks", [column]):
        dtype = _of_bytes(chunk.type)
        (chunk if dtype == chunk.type else chunk.view(dtype)).validate(full=True)
    return column


def sound(values: Any, name: str) -> Any:
    """A column of any container; one of Arrow is refused where its memory is not what its type says."""
    if type(values).__module__.split(".")[0] != "pyarrow" or not hasattr(values, "type"):
        return values
    import pyarrow as pa

    try:
        return validated(values)
    except pa.ArrowException:
        raise ArgumentError(
            f"{name} must be a sound Arrow array, got one that its validate() refuses"
        ) from None


def _of_bytes(dtype: Any) -> Any:
    """A type with texts, also those within it, as bytes."""
    import pyarrow as pa

    from condmask.arrow_nesting import fields_of, with_fields

    kinds = pa.types
    if kinds.is_dictionary(dtype):
        return pa.dictionary(dtype.index_type, _of_bytes(dtype.value_type), dtype.ordered)
    for is_text, plain in (
        (kinds.is_string, pa.binary), (kinds.is_large_string, pa.large_binary),
        (kinds.is_string_view, pa.binary_view),
    ):  # fmt: skip
        if is_text(dtype):
            return plain()
    return with_fields(dtype, [field.with_type(_of_bytes(field.type)) for field in fields_of(dtype)])
