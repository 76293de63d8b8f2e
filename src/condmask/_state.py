"""Packs a state, a description in JSON with arrays, into bytes that are read without running code.

A damaged state is recognised by the checksums of the npz format.
"""

import io
import json
from typing import Any

import numpy as np

from condmask.errors import ArgumentError


def pack(described: dict[str, Any], **arrays: Any) -> bytes:
    """Return the description and the arrays as the bytes of an npz file."""
    file = io.BytesIO()
    np.savez(
        file, described=np.frombuffer(json.dumps(described).encode(), dtype=np.uint8), **arrays
    )
    return file.getvalue()


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the description and the arrays that were packed.

    Raises ArgumentError if the bytes are damaged or no packed state.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as state:
            arrays = dict(state)
        return dict(json.loads(bytes(arrays.pop("described")))), arrays
    except Exception as error:  # damage raises whatever zipfile, zlib, tokenize and struct do
        raise ArgumentError("not a packed state") from error
