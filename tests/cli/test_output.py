"""Numbers as people and programs read them."""

import json

import numpy as np

from condmask.cli import output


def test_json_has_no_nan():
    assert json.loads(output.to_json({"a": [np.nan, 1.0], "b": (np.inf,)})) == {"a": [None, 1.0], "b": [None]}


class Bar:
    """What tqdm is asked to draw."""

    n, total, at = 0.0, 1.0, ()

    def reset(self, total):
        self.n, self.total = 0.0, total

    def update(self, more):
        assert more >= 0.0
        self.n += more

    def set_description(self, name, refresh):
        self.at += (name,)

    def refresh(self):
        pass


def test_a_bar_goes_once_through_all_stages():
    bar = Bar()
    report = output.StagedBar(bar)
    report.begin({"reading": 2.0, "auditing": 1.0, "drawing": 3.0, "writing": 4.0}, 200)
    report.stage("reading")
    report(100, None)
    assert (bar.n, bar.total) == (1.0, 10.0)
    report(300, None)  # more rows than were expected
    assert bar.n == 2.0
    report.stage("auditing")
    report.stage("drawing")
    assert bar.n == 3.0
    report(75, 300)
    assert bar.n == 7.0
    report(300, 300)
    assert bar.n == bar.total
    assert bar.at == ("reading", "auditing", "drawing", "writing")
