"""The page on studies: bias and RMSE of its first example."""

import condmask as cm

schemes = {"masked": cm.ConditionalMasking(0.6, 1000.0), "noise": cm.AdditiveNoise(1414.21)}
cm.simulate(cm.paper_population(), schemes, n=1000, replications=130, rng=1).plot()
