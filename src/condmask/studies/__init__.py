"""The researcher's view: Monte Carlo studies of masking schemes."""
