"""Counts of which what the bytes say was changed, and not the bytes: refused, or sound."""

import json

import numpy as np

from condmask import _state
from fuzz.targets import counts

TOKENS = [
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b"-Infinity",
    b"1e400",
    b"-1",
    b"0",
    b"[]",
    b"{}",
    b'""',
    b"9" * 30,
]
TOKENS += [
    f'"{word}"'.encode() for word in ("p", "noise", "sigma", "grid", "mapped", "level", "most", "codes")
]


def one(data):
    """The description is text up to a null byte; numbers after it are the pairs, values and counts."""
    text, _, rest = data.partition(b"\0")
    try:
        described = json.loads(text)
    except (ValueError, RecursionError):
        return
    numbers = np.frombuffer(rest[: len(rest) // 8 * 8], "<f8").astype(np.float64)
    pairs, numbers = numbers[:6], numbers[6:]
    half = numbers.size // 2
    with np.errstate(invalid="ignore"):
        whole = numbers[half:].astype(np.int64)
    counts.check(_state.pack(described, values=numbers[:half], counts=whole, pairs=pairs))


def seeds():
    for data in counts.seeds():
        described, arrays = _state.unpack(data)
        numbers = np.concatenate([arrays[name].astype(np.float64) for name in ("pairs", "values", "counts")])
        yield json.dumps(described).encode() + b"\0" + numbers.tobytes()
