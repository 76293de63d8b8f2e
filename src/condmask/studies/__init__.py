"""Run Monte Carlo studies of masking schemes."""
