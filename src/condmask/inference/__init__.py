"""Uncertainty of estimates: variances, pseudo-values and intervals, on arrays."""
