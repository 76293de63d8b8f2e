"""Conditional masking of numerical data, and estimation from masked data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condmask import kernels
    from condmask._randomness import Key
    from condmask.estimate import Estimate
    from condmask.files import FileError, mask_file, read_column, read_release, read_schemes
    from condmask.schemes.conditional import ConditionalMasking, ReleaseWarning
    from condmask.schemes.joint import MaskedTable, mask_table

__version__ = "0.1.0"

# Names resolve on first use, so that importing the package costs nothing (PEP 562).
_HOMES = {
    "ConditionalMasking": "condmask.schemes.conditional",
    "Estimate": "condmask.estimate",
    "FileError": "condmask.files",
    "Key": "condmask._randomness",
    "MaskedTable": "condmask.schemes.joint",
    "ReleaseWarning": "condmask.schemes.conditional",
    "kernels": "condmask.kernels",
    "mask_file": "condmask.files",
    "mask_table": "condmask.schemes.joint",
    "read_column": "condmask.files",
    "read_release": "condmask.files",
    "read_schemes": "condmask.files",
}

__all__ = [  # noqa: RUF022 (grouped by use)
    "ConditionalMasking",
    "mask_table",
    "MaskedTable",
    "mask_file",
    "read_release",
    "read_schemes",
    "read_column",
    "FileError",
    "Estimate",
    "Key",
    "ReleaseWarning",
    "kernels",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'condmask' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = home if name == "kernels" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
