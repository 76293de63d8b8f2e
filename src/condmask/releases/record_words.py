"""The columns of a table as words, some thousand rows at a time (`value_hash`), and its sketch."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from condmask._blocks import blocks, evenly_spaced
from condmask.files.csv_scan import Fields
from condmask.files.formats import Table
from condmask.kernels.value_words import ABSENT
from condmask.missing_codes import without_codes
from condmask.releases.sketch import Sketch, common_values, sketch
from condmask.releases.value_hash import as_words, hashable, number_words, text_words

if TYPE_CHECKING:
    from condmask.files.arrow import ArrowFile
    from condmask.files.csv import CsvFile

REPEATED = 4  # rows per dictionary value from which hashing the values is cheaper

Words = dict[str, np.ndarray]  # or numbers as float64, whose words are made where they are summed
MOST = 2_048  # originals that are kept to compute what a second release reveals


class Originals(NamedTuple):
    """What the ledger needs of columns before they are masked.

    Attributes
    ----------
    words : dict of str to ndarray
        Their values as words.
    common : dict of str to ndarray
        Words so frequent that they say nothing about a record.
    some : ndarray
        Values of the first column.
    """

    words: dict[str, np.ndarray]
    common: dict[str, np.ndarray]
    some: np.ndarray


def originals_of(
    columns: Mapping[str, np.ndarray], kinds: Mapping[str, str], schemes: Mapping[str, Any]
) -> Originals:
    """The originals of columns that stay in memory."""
    return Originals(
        {name: number_words(x, kinds[name]) for name, x in columns.items()},
        common_words(columns, kinds),
        some_values(columns, kinds, schemes),
    )


def common_words(columns: Mapping[str, np.ndarray], kinds: Mapping[str, str]) -> Words:
    """The words of each column's common values."""
    return {name: number_words(common_values(x), kinds[name]) for name, x in columns.items()}


def some_values(
    columns: Mapping[str, np.ndarray], kinds: Mapping[str, str], schemes: Mapping[str, Any]
) -> np.ndarray:
    """Values from all over the first column, without codes."""
    name, x = next(iter(columns.items()))
    return without_codes(x[evenly_spaced(x.size, MOST)], schemes[name].missing, kinds[name])


def sketch_of_frame(batches: Iterable[Any], names: Sequence[str], originals: Originals) -> Sketch:
    """The sketch of a frame in record batches, of which some columns are masked."""

    def masked(rows: slice) -> Words:
        return {name: words[rows] for name, words in originals.words.items()}

    clear = batch_words(batches, [name for name in names if name not in originals.words])
    return sketch(_joined(clear, masked), originals.common)


def sketch_of_file(table: Table, columns: Mapping[str, np.ndarray], kinds: Mapping[str, str]) -> Sketch:
    """The sketch of a file, whose columns to be masked were read; of others, what can be read."""
    common = common_words(columns, kinds)

    def masked(rows: slice) -> Words:
        return {name: hashable(x[rows], kinds[name]) for name, x in columns.items()}

    beside = [name for name in dict.fromkeys(table.names) if name not in columns]
    n = next(iter(columns.values())).size
    with contextlib.suppress(ValueError):  # columns that cannot be read are copied unchanged
        made = sketch(_joined(table_words(table, beside), masked), common)
        if made.records == n:
            return made
    alone: list[tuple[int, Words]] = [(stop - start, {}) for start, stop in blocks(n)]
    return sketch(_joined(alone, masked), common)


def _joined(clear: Iterable[tuple[int, Words]], masked: Callable[[slice], Words]) -> Iterator[Words]:
    """The words of all columns."""
    start = 0
    for size, words in clear:
        yield words | masked(slice(start, start + size))
        start += size


def table_words(table: Table, names: Sequence[str]) -> Iterator[tuple[int, Words]]:
    """Numbers of rows, and the words of columns of a file other than lists and structures."""
    from condmask.files.csv import CsvFile  # with pyarrow, which frames do without

    table = getattr(table, "original", table)
    if isinstance(table, CsvFile):
        yield from _csv_words(table, names)
        return
    arrow: ArrowFile = table  # type: ignore[assignment]
    plain = [name for name in names if table.names.count(name) == 1]
    if plain:
        yield from batch_words(arrow.batches(plain, plain), plain)


def batch_words(batches: Iterable[Any], names: Sequence[str]) -> Iterator[tuple[int, Words]]:
    """Numbers of rows and the words of columns of Arrow's record batches."""
    for batch in batches:
        words = {name: _arrow_words(batch.column(name)) for name in names}
        yield batch.num_rows, {name: column for name, column in words.items() if column is not None}


def _csv_words(table: "CsvFile", names: Sequence[str]) -> Iterator[tuple[int, Words]]:
    missing = frozenset(word.encode(table.dialect.encoding).lower() for word in table.words)
    for part in table.records():
        words = {
            name: text_words(part.fields(k), table.decimal, missing)
            for k, name in enumerate(table.names)
            if name in names
        }
        yield len(part.starts), words


def _arrow_words(column: Any) -> np.ndarray | None:
    """The words of an Arrow array; None of lists and structures."""
    import pyarrow as pa

    from condmask.files.arrow_types import null, values_of

    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        if REPEATED * len(column.dictionary) > len(column):
            return _arrow_words(column.dictionary_decode())
        words = _arrow_words(column.dictionary)
        if words is None:
            return None
        words = as_words(words)
        code = values_of(column.indices.cast(pa.int64()), np.int64)
        if not column.indices.null_count:
            return words.take(code)
        return np.append(words, ABSENT)[np.where(null(column.indices), words.size, code)]
    words = _plain_words(column)
    if words is not None and column.null_count:
        words = np.where(null(column), np.nan if words.dtype == np.float64 else ABSENT, words)
    return words


def _plain_words(column: Any) -> np.ndarray | None:
    import pyarrow as pa

    from condmask.files.arrow_types import kind_of, numbers, values_of

    dtype = column.type
    if pa.types.is_integer(dtype):  # the largest too, as in a text file
        return values_of(column.cast(pa.float64(), safe=False), np.float64)
    if pa.types.is_floating(dtype) or pa.types.is_decimal(dtype):
        if pa.types.is_float16(dtype):
            column = column.cast(pa.float32())
        return hashable(numbers(column, "", 0)[0], kind_of(column.type, ""))
    if pa.types.is_date(dtype) or pa.types.is_timestamp(dtype):
        moments = column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        return values_of(moments, np.int64) / 86_400e6  # days
    if pa.types.is_null(dtype):
        return np.full(len(column), ABSENT)
    try:
        text = column.cast(pa.large_binary() if pa.types.is_binary(dtype) else pa.large_string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return None
    _, offsets, content = text.buffers()
    ends = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
    held = b"" if content is None else memoryview(content)
    return text_words(Fields(held, ends[:-1], ends[1:]))  # type: ignore[arg-type]
