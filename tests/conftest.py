"""Settings that hold for every test file."""

import os

from hypothesis import settings

# compiling a kernel takes seconds the first time, so no deadline; in CI the same examples every time
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
