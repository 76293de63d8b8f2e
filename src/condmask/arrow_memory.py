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
        _without_letters(chunk).validate(full=True)
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


def _without_letters(column: Any) -> Any:
    """A column with the places of its texts, but without their bytes."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column.validate()  # of other lengths than it says, not even parts of it can be asked for
        return pa.DictionaryArray.from_arrays(column.indices, _without_letters(column.dictionary), safe=False)
    if pa.types.is_string(column.type):
        return column.view(pa.binary())
    return column.view(pa.large_binary()) if pa.types.is_large_string(column.type) else column
