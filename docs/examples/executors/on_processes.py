"""A study on two processes of this machine."""

from concurrent.futures import ProcessPoolExecutor

import condmask as cm

if __name__ == "__main__":
    schemes = {"masked": cm.ConditionalMasking(0.6, 1000.0)}
    with ProcessPoolExecutor(2) as pool:
        found = cm.simulate(
            cm.paper_population(), schemes, n=20_000, replications=20, rng=1, workers=pool.map
        )
    print(f"{found.value('masked', 'T_1', 'mean', 'rmse'):.3f}")
