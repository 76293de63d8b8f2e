"""The file of a study, also as a checkpoint: refused, or a result that can be told and saved as it was."""

import json
from functools import cache
from pathlib import Path

import numpy as np

import condmask as cm
from condmask import _state
from fuzz.material import fresh

SCHEMES = {"CM": cm.ConditionalMasking(0.6, 3.0)}
TOKENS = [
    b"null",
    b"true",
    b"NaN",
    b"Infinity",
    b"1e400",
    b"-1",
    b"[]",
    b"{}",
    b'""',
    b"9" * 30,
    b'"seconds"',
]


def one(data):
    """Bytes of a file; or, after a null byte, a description up to the next and the sums."""
    described = data.startswith(b"\0")
    if described:
        text, _, rest = data[1:].partition(b"\0")
        try:
            entries = json.loads(text)
        except (ValueError, RecursionError):
            return
        sums = np.frombuffer(rest[: len(rest) // 40 * 40], "<f8").reshape(5, -1)
        data = _state.pack(entries, sums=sums)
    path = fresh("study.npz", data)
    result = cm.StudyResult.load(path)
    result.save("again.npz")
    assert cm.StudyResult.load("again.npz") == result
    with np.errstate(all="ignore"):
        for row in result.rows():
            result.value(row["scheme"], row["estimator"], row["statistic"], "mean")
        str(result)
    repr(result)
    went_on = study(checkpoint=path)
    assert described or result == went_on == finished(), "damaged bytes are another result"


def study(**options):
    """A small study, from where a checkpoint left it."""
    return cm.simulate(paper(), SCHEMES, n=8, replications=4, quantiles=[0.5], rng=1, **options)


@cache
def paper():
    return cm.paper_population()


@cache
def finished():
    return study()


def seeds():
    finished().save("seed.npz")
    data = Path("seed.npz").read_bytes()
    yield data
    described, arrays = _state.unpack(data)
    yield b"\0" + json.dumps(described).encode() + b"\0" + arrays["sums"].tobytes()
