"""How far an estimate may be from the original: variances and intervals (docs/inference.rst)."""
