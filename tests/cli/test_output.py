"""Numbers as people and programs read them."""

import json

import numpy as np

from condmask.cli import output


def test_json_has_no_nan():
    assert json.loads(output.to_json({"a": [np.nan, 1.0], "b": (np.inf,)})) == {"a": [None, 1.0], "b": [None]}
