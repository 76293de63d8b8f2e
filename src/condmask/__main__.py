"""``python -m condmask``: the command line."""

import sys

from condmask.cli import main

if __name__ == "__main__":
    sys.exit(main())
