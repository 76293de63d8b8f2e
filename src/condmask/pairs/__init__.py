"""Estimate relations of two columns (Theorem 2.5) and their variances."""
