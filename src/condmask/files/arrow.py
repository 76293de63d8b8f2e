"""Access to pyarrow, which is imported on first use: frames and arrays are masked without it."""

from importlib import import_module
from typing import Any

from condmask.errors import optional

# pyarrow has no type information: these names say which of its classes is meant
ArrowTable = Any
ArrowSchema = Any
ArrowType = Any
ArrowArray = Any  # an Array or a ChunkedArray


class _Lazy:
    """Imports a module when something in it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        with optional("work on files", "files"):
            module = import_module(self._name)
        return getattr(module, attribute)


pa: Any = _Lazy("pyarrow")
pc: Any = _Lazy("pyarrow.compute")
pq: Any = _Lazy("pyarrow.parquet")
arrow_csv: Any = _Lazy("pyarrow.csv")
