"""TOML files, as studies and options are written."""

import tomllib
from pathlib import Path
from typing import Any

from condmask.errors import ArgumentError
from condmask.files.tables import reading


def read_toml(path: Path) -> dict[str, Any]:
    """The entries of a file; refused where it is not TOML."""
    with reading(path):
        content = path.read_bytes()
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        raise ArgumentError(f"{path} is not TOML: {error}") from None
