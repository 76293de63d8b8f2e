"""The bytes of a state: a description in JSON and arrays, read back without running any code.

They hold a digest of all of it, so that a state which was damaged is refused and not read as another one.
"""

import hashlib
import io
import json
from typing import Any

import numpy as np

from condmask.errors import ArgumentError


def pack(described: dict[str, Any], **arrays: Any) -> bytes:
    """Both as the bytes of an npz file."""
    file = io.BytesIO()
    text = json.dumps(described).encode()
    digest = np.frombuffer(_digest(text, arrays), dtype=np.uint8)
    np.savez(file, described=np.frombuffer(text, dtype=np.uint8), digest=digest, **arrays)
    return file.getvalue()


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What was packed; ValueError where that is damaged or something else."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as state:
            arrays = dict(state)
        text, digest = (bytes(arrays.pop(name)) for name in ("described", "digest"))
        described = dict(json.loads(text))
        sound = digest == _digest(text, arrays)
    except Exception as error:  # damage raises whatever zipfile, zlib, tokenize and struct do
        raise ArgumentError("not a packed state") from error
    if not sound:
        raise ArgumentError("not the packed state that it was")
    return described, arrays


def _digest(text: bytes, arrays: dict[str, np.ndarray]) -> bytes:
    """The SHA-256 of the description and the arrays, with names, types and shapes."""
    digest = hashlib.sha256(len(text).to_bytes(8, "little") + text)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
