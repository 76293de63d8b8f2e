"""One target a file (``fuzz.target``)."""
