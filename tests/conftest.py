"""Settings that hold for every test file."""

import os

# before NumPy: tests run side by side, and threads for small products would wait for one another
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from condmask.schemes.conditional import ConditionalMasking

# compiling a kernel takes seconds the first time, so no deadline; in CI the same examples every time
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


@pytest.fixture(scope="module")
def unaudited():
    """Releases go out whatever they show: for tests of what masking does, not of whether it should."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ConditionalMasking, "check", classmethod(lambda *_: None))
        yield
