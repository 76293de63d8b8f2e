"""Lets benchmarks be timed where no tests run side by side."""

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # pytest-benchmark takes the `--dist` of pyproject.toml for tests that run side by side,
    # without -n too
    if not config.getoption("numprocesses", None):
        config.option.dist = "no"
