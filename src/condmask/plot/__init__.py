"""Draw pictures with matplotlib; importing this package raises an error if it is missing."""

from condmask.errors import optional

with optional("a figure", "plot"):
    import matplotlib  # noqa: F401
