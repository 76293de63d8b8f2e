"""Medical expenditure: released against original amounts, and means by insurance plan."""

from pathlib import Path

import pandas as pd
import statsmodels
from panels import panels

import condmask as cm

source = Path(statsmodels.__file__).parent / "datasets/randhie/src/randhie.csv"
persons = pd.read_csv(source).query("year == 1").sample(frac=1, random_state=1, ignore_index=True)
dollars, coins = persons["meddol"], persons["coins"]
options = {"scale": "log", "reverse_mapping": True, "aggregate_ends": 3, "strata": "coins"}
scheme = cm.ConditionalMasking(0.6, 0.75, **options)
table = persons[["meddol", "coins"]]
release = cm.mask_table(table, {"meddol": scheme}, rng=1)  # seeded for the picture alone
released, estimated = release.data["meddol"], release["meddol"].group_means("coins")
means = [
    (f"pay {plan}%", dollars[coins == plan].mean(), released[coins == plan].mean(), estimated[plan])
    for plan in sorted(coins.unique())
]
panels("expenditure, dollars", dollars, released, means)
