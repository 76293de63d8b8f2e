"""The bytes of a state: a description in JSON and arrays, read back without running any code.

The checksums of the npz format tell a state that was damaged.
"""

import io
import json
from typing import Any

import numpy as np

from condmask.errors import ArgumentError


def pack(described: dict[str, Any], **arrays: Any) -> bytes:
    """Both as the bytes of an npz file."""
    file = io.BytesIO()
    np.savez(
        file, described=np.frombuffer(json.dumps(described).encode(), dtype=np.uint8), **arrays
    )
    return file.getvalue()


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What was packed; ValueError where that is damaged or something else."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as state:
            arrays = dict(state)
        return dict(json.loads(bytes(arrays.pop("described")))), arrays
    except Exception as error:  # damage raises whatever zipfile, zlib, tokenize and struct do
        raise ArgumentError("not a packed state") from error
