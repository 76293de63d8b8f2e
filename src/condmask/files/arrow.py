"""pyarrow, which is imported when it is first used: frames and arrays are masked without it."""

from importlib import import_module
from typing import Any

from condmask.errors import optional


class _Lazy:
    """A module that is imported when something in it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        with optional("work on files", "files"):
            module = import_module(self._name)
        return getattr(module, attribute)


pa = _Lazy("pyarrow")
pc = _Lazy("pyarrow.compute")
pq = _Lazy("pyarrow.parquet")
arrow_csv = _Lazy("pyarrow.csv")
