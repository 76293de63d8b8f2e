"""Distributions of groups of records, and with weights (docs/theory.rst, "Groups of records")."""
