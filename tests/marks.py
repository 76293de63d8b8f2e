"""Which cases of a test every run needs."""

import pytest


def rest_slow(cases):
    """The first case as it is; the others say the same of other parameters, and are marked slow."""
    first, *rest = cases
    return [first, *(pytest.param(*_values(case), marks=pytest.mark.slow) for case in rest)]


def _values(case):
    return case if isinstance(case, tuple) else (case,)
