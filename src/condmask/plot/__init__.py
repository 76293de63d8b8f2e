"""Pictures, with matplotlib; whatever imports from here is told once where it is missing."""

from condmask.errors import optional

with optional("a figure", "plot"):
    import matplotlib  # noqa: F401
