"""How the estimator of the distribution function is evaluated."""
