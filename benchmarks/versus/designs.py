"""Compares estimates under sampling designs with those of svy, on data that are hardly masked.

Needs svy 0.35 and polars, which the tests do not: ``python benchmarks/versus/designs.py``. It
prints for each statistic the largest relative difference of estimates and of standard errors, and
ends with the exit code 1 if one exceeds 1e-5.
"""

import sys

import numpy as np
import polars as pl
import svy

import condmask as cm
from condmask.inference.interval import Interval

AGREE = 1e-5  # the masking of the example moves errors by less
RECORDS = 1_200
STRATA = 4
CLUSTERS = 8  # in each stratum


def example() -> dict[str, np.ndarray]:
    """Return the columns of a stratified sample of clusters."""
    rng = np.random.default_rng(0)
    stratum = rng.integers(0, STRATA, RECORDS)
    cluster = rng.integers(0, CLUSTERS, RECORDS)
    age = rng.normal(40.0, 10.0, RECORDS)
    alike = rng.normal(0.0, 4.0, STRATA * CLUSTERS)[stratum * CLUSTERS + cluster]
    return {
        "y": 50.0 + 5.0 * stratum + alike + 0.3 * age + rng.normal(0.0, 10.0, RECORDS),
        "age": age,
        "stratum": stratum,
        "psu": cluster,
        "w": rng.uniform(1.0, 5.0, RECORDS),
        "group": rng.integers(0, 3, RECORDS),
    }


def replicate_weights(columns: dict[str, np.ndarray], kind: str) -> np.ndarray:
    """Return replicate weights of shape (n, replicates)."""
    unit = columns["stratum"] * CLUSTERS + columns["psu"]
    count = STRATA * CLUSTERS
    if kind == "JK1":
        factors = np.where(unit[:, None] == np.arange(count), 0.0, count / (count - 1.0))
    else:
        rng = np.random.default_rng(1)
        drawn = [rng.multinomial(count, np.full(count, 1.0 / count)) for _ in range(25)]
        factors = np.array(drawn, dtype=float).T[unit]
    return columns["w"][:, None] * factors


def compared(name: str, ours: list[Interval], theirs: pl.DataFrame, column: str) -> float:
    """Print and return the largest relative difference to a table of svy."""
    estimates = np.array([one.estimate for one in ours]) / theirs[column].to_numpy() - 1.0
    errors = np.array([one.standard_error for one in ours]) / theirs["se"].to_numpy() - 1.0
    apart = max(np.abs(estimates).max(), np.abs(errors).max())
    print(f"{name:30}{np.abs(estimates).max():10.1e}{np.abs(errors).max():10.1e}")
    return float(apart)


def main() -> int:
    """Compare linearisation and replicates; return an exit code."""
    columns = example()
    frame = pl.DataFrame(columns)
    scheme = cm.ConditionalMasking(1e-9, 1e-6, step=0)
    estimate = scheme.estimate(columns["y"])
    print(f"{'largest relative difference of':30}{'estimate':>10}{'s.e.':>10}")
    design = cm.Design(weights=columns["w"], clusters=columns["psu"], strata=columns["stratum"])
    survey = estimate.with_design(design)
    peer = svy.Sample(frame, svy.Design(stratum="stratum", psu="psu", wgt="w")).estimation
    by_group = survey.group_means(columns["group"])
    apart = [
        compared("mean", [survey.mean_interval()], peer.mean("y").to_polars(), "est"),
        compared("total", [survey.total()], peer.total("y").to_polars(), "est"),
        compared("groups", list(by_group.values()), peer.mean("y", by="group").to_polars(), "est"),
    ]
    for kind, options in (
        ("JK1", {"method": "jackknife", "kind": "jk1"}),
        ("bootstrap", {"method": "bootstrap"}),
    ):
        weights = replicate_weights(columns, kind)
        names = {f"r{k + 1}": weights[:, k] for k in range(weights.shape[1])}
        replicates = svy.RepWeights(prefix="r", n_reps=weights.shape[1], **options)
        wide = frame.with_columns(**{name: pl.Series(value) for name, value in names.items()})
        peer = svy.Sample(wide, svy.Design(wgt="w", rep_wgts=replicates)).estimation
        for mse, center in ((True, "estimate"), (False, "rep_mean")):
            design = cm.Design(
                weights=columns["w"], replicate_weights=weights, method=kind, mse=mse
            )
            survey = estimate.with_design(design)
            how = {"method": "replication", "variance_center": center}
            for name, ours in (("mean", survey.mean_interval()), ("total", survey.total())):
                theirs = getattr(peer, name)("y", **how).to_polars()
                apart.append(compared(f"{name}, {kind}, mse={mse}", [ours], theirs, "est"))
    return int(max(apart) > AGREE)


if __name__ == "__main__":
    sys.exit(main())
