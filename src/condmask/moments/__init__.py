"""Moments of the original and of pairs: Theorems 2.1 and 2.5."""
