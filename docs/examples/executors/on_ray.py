"""A study on a Ray cluster, here one of two processes."""

import ray

import condmask as cm


@ray.remote
def call(function, task):
    return function(task)


def ray_map(function, tasks):
    sent = ray.put(function)
    for future in [call.remote(sent, task) for task in tasks]:
        yield ray.get(future)


if __name__ == "__main__":
    ray.init(num_cpus=2)
    schemes = {"masked": cm.ConditionalMasking(0.6, 1000.0)}
    found = cm.simulate(cm.paper_population(), schemes, n=20_000, replications=20, rng=1, workers=ray_map)
    print(f"{found.value('masked', 'T_1', 'mean', 'rmse'):.3f}")
