"""How far estimates may lie from their targets: variances, pseudo-values and intervals, on arrays."""
