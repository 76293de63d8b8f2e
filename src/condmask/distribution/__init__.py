"""The estimated distribution function: Theorems 2.2 and 2.3, and its quantiles."""
