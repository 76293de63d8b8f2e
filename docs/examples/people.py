"""An example file, people.parquet: monthly incomes as respondents round them, age, sex and region."""

import numpy as np
import pandas as pd

random = np.random.default_rng(1)  # for an example; it has nothing to do with masking
n = 20_000
age = random.integers(20, 66, n)
sex = random.choice(["female", "male"], n)
region = random.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2])
income = random.lognormal(7.1 + 0.01 * (age - 20) + 0.15 * (sex == "male"), 0.4)
income = np.rint(income / 10) * 10  # to tens ...
rounder = random.random(n) < 0.6
income[rounder] = np.rint(income[rounder] / 100) * 100  # ... and by most to hundreds
people = pd.DataFrame({"income": income.astype(int), "age": age, "sex": sex, "region": region})
people.to_parquet("people.parquet")
