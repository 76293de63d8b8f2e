"""Values as words of 64 bits: equal values have equal words, whatever their type or format.

Numbers are hashed as float64, text as its bytes in lower case, text that is a number as that number. The hash
is public. It has to be uniform, like a bijection of 64 bits (Steele, Lea and Flood, 2014) and, for text, a
sum of random words by place (Carter and Wegman, 1979). Whatever is kept of it is hashed under a key.
"""

import numpy as np

from condmask.files.csv_scan import Fields
from condmask.kernels import value_words
from condmask.kernels.value_words import ABSENT

DIGITS = 7  # of float32: 0.1 agrees to so many in either precision
NEAR, FAR = 1e-15, 1e15  # sizes between which float32 has digits that float64 can round to
LOWER = np.arange(256, dtype=np.uint64)
LOWER[65:91] += np.uint64(32)


def mix(words: np.ndarray) -> np.ndarray:
    """A few words mixed, without loading numba."""
    return np.asarray(value_words.mix.py_func(words))


PLACES = mix(np.arange(1 << 10, dtype=np.uint64))


def number_words(values: np.ndarray, kind: str = "float64") -> np.ndarray:
    """The words of numbers; missing ones are NaN."""
    return as_words(hashable(values, kind))


def hashable(values: np.ndarray, kind: str) -> np.ndarray:
    """Numbers as float64, equal if their words should be equal."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    return _seven_digits(values) if kind == "float32" else values


def as_words(column: np.ndarray) -> np.ndarray:
    """The words of numbers as float64; words as they are."""
    if column.dtype == np.uint64:
        return column
    words = np.empty(column.size, dtype=np.uint64)
    value_words.number_words(column.view(np.uint64), words)
    return words


def _seven_digits(values: np.ndarray) -> np.ndarray:
    """Numbers of single precision as the decimals that they represent."""
    values = values.copy()
    size = np.abs(values)
    usual = (size > NEAR) & (size < FAR)
    some = values[usual]
    places = DIGITS - 1 - np.floor(np.log10(size[usual]))
    tens = 10.0 ** np.abs(places)
    values[usual] = np.where(places < 0, np.rint(some / tens) * tens, np.rint(some * tens) / tens)
    return values


def text_words(fields: Fields, decimal: str = ".", missing: frozenset[bytes] = frozenset()) -> np.ndarray:
    """The words of fields of text; numbers in text have the words of numbers."""
    import pyarrow.compute as pc

    from condmask.files.arrow_types import values_of
    from condmask.files.csv_numbers import parse
    from condmask.files.csv_texts import content_of, some, texts_of

    texts = texts_of(fields)
    bare = pc.ascii_trim_whitespace(texts)
    values = parse(bare, decimal)
    words = number_words(values)
    text = np.flatnonzero(np.isnan(values) & (np.diff(content_of(bare)[1]) > 0))
    if text.size:
        coded = some(texts, text).dictionary_encode()
        content, bounds = content_of(coded.dictionary)
        hashed = _bytes_words(np.frombuffer(content, dtype=np.uint8), bounds[:-1], bounds[1:])
        hashed[np.isin(hashed, _words_of(missing))] = ABSENT
        words[text] = hashed[values_of(coded.indices, np.int32)]
    return words


def _words_of(texts: frozenset[bytes]) -> np.ndarray:
    """The words of a few texts."""
    ordered = sorted(texts)
    ends = np.cumsum([len(text) for text in ordered], dtype=np.int64)
    starts = np.concatenate(([0], ends))[:-1].astype(np.int64)
    return _bytes_words(np.frombuffer(b"".join(ordered), dtype=np.uint8), starts, ends)


def _bytes_words(buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The words of runs of bytes: a sum of random words by place, times the byte."""
    lengths = stops - starts
    sums = np.zeros(lengths.size, dtype=np.uint64)
    full = np.flatnonzero(lengths)
    if full.size:
        size = lengths[full]
        firsts = np.cumsum(size) - size
        place = np.arange(int(size.sum())) - np.repeat(firsts, size)
        content = LOWER[buffer[np.repeat(starts[full], size) + place]]
        random = PLACES if size.max() <= PLACES.size else mix(np.arange(size.max(), dtype=np.uint64))
        content *= random[place]
        sums[full] = np.add.reduceat(content, firsts)
    return mix(sums + lengths.astype(np.uint64))
