"""Closed forms of a column: the law of originals and released values, rare values, insiders,
links."""
