"""A study on a Dask cluster, here one of two processes."""

from distributed import Client

import condmask as cm

if __name__ == "__main__":
    schemes = {"masked": cm.ConditionalMasking(0.6, 1000.0)}
    with Client(n_workers=2, threads_per_worker=1) as client:
        found = cm.simulate(
            cm.paper_population(),
            schemes,
            n=20_000,
            replications=20,
            rng=1,
            workers=cm.dask.client_map(client),
        )
    print(f"{found.value('masked', 'T_1', 'mean', 'rmse'):.3f}")
