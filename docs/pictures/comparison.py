"""The page on studies: its comparison of methods."""

import numpy as np
import pandas as pd

import condmask as cm

rng = np.random.default_rng(1)
age = rng.uniform(20.0, 65.0, 1_000)
income = pd.Series(rng.lognormal(6.5 + age / 100.0, 0.5), name="income")
scheme = cm.ReverseMapping(0.3, 500.0)
cm.compare(income, scheme, d=150.0, other=age, replications=20, rng=1).plot()
