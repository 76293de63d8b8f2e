"""Processes that tests start find this on their path (tests/conftest.py), and draw fixed keys as well."""

import fixed_keys

fixed_keys.install()
