"""Turn estimates and standard errors into intervals (docs/inference.rst)."""
