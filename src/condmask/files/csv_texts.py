"""Fields of a CSV file as texts of Arrow, whatever their encoding, which Arrow does not check until used.

What would import pandas (Arrow's scalars, and arrays of Python's and NumPy's objects) is left alone, since
that takes a third of a second.
"""

from collections.abc import Container, Iterable

import numpy as np
import pyarrow as pa

from condmask.files.csv_scan import Fields


def texts_of(fields: Fields) -> pa.LargeStringArray:
    """The fields, their bytes taken together."""
    bounds = np.empty(2 * fields.starts.size + 1, dtype=np.int64)
    bounds[:-1:2], bounds[1::2] = fields.starts, fields.stops
    bounds[-1] = bounds[-2] if bounds.size > 1 else 0
    # every other one is what stands between two fields
    return some(_between(bounds, fields.text), np.arange(0, bounds.size - 1, 2))


def decoded(
    fields: Fields, encoding: str, errors: str = "strict", missing: Container[bytes] = ()
) -> list[str | None]:
    """The fields as texts, None for those that say that a value is missing. In quotes, two are one."""
    words = fields.at(np.arange(fields.starts.size))
    texts = [None if word in missing else word.decode(encoding, errors) for word in words]
    for k in np.flatnonzero(fields.quoted).tolist():
        text = texts[k]
        texts[k] = None if text is None else text.replace('""', '"')
    return texts


def undoubled(code: np.ndarray, distinct: list[str], fields: Fields) -> tuple[np.ndarray, list[str]]:
    """Fields as codes, and the distinct texts of these, where two quotes in quotes are one."""
    twice = np.array(['""' in text for text in distinct], dtype=bool)
    if not twice.any():
        return code, distinct
    changed = fields.quoted & twice[code]
    of_changed, number = np.unique(code[changed], return_inverse=True)
    code = code.copy()
    code[changed] = len(distinct) + number
    texts = [*distinct, *(distinct[one].replace('""', '"') for one in of_changed.tolist())]
    used, code = np.unique(code, return_inverse=True)
    place = {text: k for k, text in enumerate(dict.fromkeys(texts[one] for one in used.tolist()))}
    return np.array([place[texts[one]] for one in used.tolist()])[code], list(place)


def as_texts(words: Iterable[bytes]) -> pa.LargeStringArray:
    """A few words as texts."""
    listed = list(words)
    return _between(np.cumsum([0, *map(len, listed)]), b"".join(listed))


def as_bytes(texts: pa.LargeStringArray) -> list[bytes]:
    """The bytes of some texts."""
    found: list[bytes] = texts.view(pa.large_binary()).to_pylist()
    return found


def content_of(texts: pa.LargeStringArray) -> tuple[memoryview, np.ndarray]:
    """The bytes of all texts, one after the other, and where each begins, with where the last one ends."""
    _, offsets, content = texts.buffers()
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return memoryview(content if content is not None else b""), bounds


def where(condition: pa.BooleanArray) -> np.ndarray:
    """The places where a condition holds, for texts without nulls."""
    bits = np.frombuffer(condition.buffers()[1], np.uint8)
    found = np.unpackbits(bits, count=condition.offset + len(condition), bitorder="little")
    return found[condition.offset :].view(np.bool_)


def some(texts: pa.LargeStringArray, which: np.ndarray) -> pa.LargeStringArray:
    """Some of the texts, by their numbers."""
    places = np.ascontiguousarray(which, dtype=np.int64)
    return texts.take(pa.Array.from_buffers(pa.int64(), places.size, [None, pa.py_buffer(places)]))


def _between(bounds: np.ndarray, content: bytes) -> pa.LargeStringArray:
    places = np.ascontiguousarray(bounds, dtype=np.int64)
    buffers = [None, pa.py_buffer(places), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.large_string(), places.size - 1, buffers)
