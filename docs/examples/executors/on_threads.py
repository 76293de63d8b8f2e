"""A study on two threads."""

import condmask as cm

schemes = {"masked": cm.ConditionalMasking(0.6, 1000.0)}
found = cm.simulate(cm.paper_population(), schemes, n=20_000, replications=20, rng=1, workers=2)
print(f"{found.value('masked', 'T_1', 'mean', 'rmse'):.3f}")
