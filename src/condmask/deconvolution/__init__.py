"""The weight K of one masked value, on the host: symbol, bounds, coefficients, tables, expansions."""
