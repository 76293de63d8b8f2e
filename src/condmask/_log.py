"""What the package logs: what is being done, and how much of it.

There is no value of the data in it, no key, no label, and no name of a column, which without a header would
be a value. Nothing is said unless somebody listens: ``--verbose``, or a handler on the logger "condmask".
"""

import logging

logging.getLogger("condmask").addHandler(logging.NullHandler())


def logger(module: str) -> logging.Logger:
    """The logger of a module."""
    return logging.getLogger(module)
