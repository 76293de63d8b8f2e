"""Statistics that are linear in the original: groups, totals, regressions."""
