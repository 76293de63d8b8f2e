"""Name the tests of the core: those that need only the packages of the extra ``test-core``.

They cover masking and estimation in memory, without files of text, figures, Dask or the site.
`tests/conftest.py` gives them the marker ``core``.
"""

from pathlib import Path

FOLDERS = {"distribution", "estimates", "inference", "kernels", "masking", "moments"}
WITH_OTHER_PACKAGES = {"test_masked_regression.py"}  # compares with statsmodels


def is_core(path):
    """Return whether a file of tests, in a folder of its own room, belongs to the core."""
    path = Path(path)
    return path.parent.name in FOLDERS and path.name not in WITH_OTHER_PACKAGES
