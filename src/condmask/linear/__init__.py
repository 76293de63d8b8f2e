"""Statistics that are linear in the original: groups, totals, regressions (docs/inference.rst)."""
