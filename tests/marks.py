"""Which cases of a test every run needs."""

import pytest


def rest_slow(cases):
    """The first case as it is; the others say the same of other parameters, and are marked slow."""
    return _marked(cases, pytest.mark.slow)


def rest_long(cases):
    """The first case as it is; the others only repeat it elsewhere, and are marked long."""
    return _marked(cases, pytest.mark.long)


def _marked(cases, mark):
    first, *rest = cases
    return [first, *(pytest.param(*_values(case), marks=mark) for case in rest)]


def _values(case):
    return case if isinstance(case, tuple) else (case,)
