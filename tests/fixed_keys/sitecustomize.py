"""Processes that tests start find this on their path (tests/conftest.py), and draw fixed keys as
well.

Examples that are run as such have no log of the user's, either.
"""

import os
import tempfile

import fixed_keys

fixed_keys.install()
if "XDG_DATA_HOME" not in os.environ:
    _state = tempfile.TemporaryDirectory()  # goes with the process
    os.environ["XDG_DATA_HOME"] = _state.name
