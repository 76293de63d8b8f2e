"""Sampling designs: weights, clusters, strata, replicate weights."""
