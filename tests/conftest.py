"""What holds for every test: its draws are the same in every run, in any order, on any number of
cores."""

import hashlib
import os
import tempfile

# before NumPy: tests run side by side, and threads for small products would wait for one another
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from pathlib import Path

import core
import fixed_keys
import numpy as np
import pytest
from hypothesis import Phase, settings

# Compiling a kernel takes seconds the first time, so no deadline. `--hypothesis-profile exploring`
# tries examples that nobody has seen (CONTRIBUTING.md).
settings.register_profile("fixed", deadline=None, derandomize=True, database=None)
settings.register_profile("exploring", deadline=None, max_examples=1000, print_blob=True)
# `tests/faults.py` asks whether a test fails, not for the smallest example
phases = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
settings.register_profile("unshrunk", settings.get_profile("fixed"), phases=phases)
settings.load_profile("fixed")


TESTS = Path(__file__).parent
STATES = tempfile.TemporaryDirectory(prefix="condmask-tests-")
os.environ["XDG_DATA_HOME"] = STATES.name


def pytest_configure():
    fixed_keys.install()
    # processes that tests start, too: they import sitecustomize.py beside it
    folder = str(Path(fixed_keys.__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (folder, os.environ.get("PYTHONPATH")))
    )
    generator = np.random.default_rng
    np.random.default_rng = lambda seed=None: generator(
        fixed_keys.randbits(64) if seed is None else seed
    )


def pytest_ignore_collect(collection_path, config):
    """Leave files unread whose packages ``pip install '.[test-core]'`` does not install."""
    if config.option.markexpr != "core" or collection_path == TESTS:
        return None
    if collection_path.is_dir():
        return True if collection_path.name not in core.FOLDERS else None
    return None if core.is_core(collection_path) else True


def pytest_collection_modifyitems(items):
    """Mark the tests of the core; `tests/core.py` names them."""
    for item in items:
        is_extra = item.get_closest_marker("slow") or item.get_closest_marker("long")
        if core.is_core(item.path) and not is_extra:
            item.add_marker("core")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    # a log for each test, made only where it releases: none may meet the user's, or another test's
    name = hashlib.blake2b(item.nodeid.encode(), digest_size=8).hexdigest()
    os.environ["XDG_DATA_HOME"] = str(Path(STATES.name, name))
    with fixed_keys.under(item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    # what several tests share is the same whichever of them comes first
    shared = fixturedef.scope != "function"
    label = f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param_index', 0)}"
    with fixed_keys.under(label if shared else f"{request.node.nodeid} {label}"):
        return (yield)


@pytest.fixture(scope="module")
def unaudited():
    """Releases go out whatever they show: for tests of what masking does, not of whether it
    should."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("publish.prepare", "publish.job"):
            patch.setattr(f"condmask.{module}.check_at_once", lambda *_: None)
            patch.setattr(f"condmask.{module}.check_attack", lambda *_, **__: None)
        # as without an audit
        patch.setattr("condmask.publish.prepare.min_pool_records", lambda _: 10)
        patch.setattr("condmask.disclosure.audit.MIN_FILE_RECORDS", 0)
        yield
