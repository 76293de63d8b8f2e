"""A study on two processes that joblib keeps."""

from joblib import Parallel, delayed

import condmask as cm


def joblib_map(function, tasks):
    return Parallel(n_jobs=2, return_as="generator")(delayed(function)(task) for task in tasks)


if __name__ == "__main__":
    schemes = {"masked": cm.ConditionalMasking(0.6, 1000.0)}
    found = cm.simulate(cm.paper_population(), schemes, n=20_000, replications=20, rng=1, workers=joblib_map)
    print(f"{found.value('masked', 'T_1', 'mean', 'rmse'):.3f}")
