"""What the tests of the command line share."""

import json

MASK = ("--p", "0.6", "--sigma", "300")


def answer(finished):
    """The JSON that a quiet success printed."""
    code, out, err = finished
    assert (code, err) == (0, "")
    return json.loads(out)
