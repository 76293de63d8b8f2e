"""Pictures without a window, none of which stays open."""

import matplotlib
import pytest


@pytest.fixture(autouse=True)
def closed():
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")
