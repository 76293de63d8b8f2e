"""Fixed keys in place of the operating system's, so that every run of a test draws the same.

A key of 16 bytes is all that the package asks the system for before it masks, and the seed of a
study all that it asks for elsewhere. Here they are hashes of a label, the test's name, and of
their number under it. Names of temporary files stay the system's: jobs that run at once must not
share them.
"""

import hashlib
import secrets
import threading
from contextlib import contextmanager

KEY = 16
_of_system = secrets.token_bytes
_lock = threading.Lock()
_label = "a process"
_drawn = 0


@contextmanager
def under(label):
    """Let keys depend on this label and their number under it alone, whatever was drawn before."""
    global _label, _drawn
    before = _label, _drawn
    _label = label
    _drawn = 0
    try:
        yield
    finally:
        _label, _drawn = before


def token_bytes(count=None):
    global _drawn
    if count != KEY:
        return _of_system(count)
    with _lock:
        _drawn += 1
        return hashlib.blake2b(f"{_label} {_drawn}".encode(), digest_size=KEY).digest()


def randbits(count):
    return int.from_bytes(token_bytes(KEY), "big") >> (8 * KEY - count)


def install():
    """Let this process draw fixed keys."""
    secrets.token_bytes = token_bytes
    secrets.randbits = randbits
