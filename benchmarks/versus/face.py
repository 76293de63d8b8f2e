"""The public face against another commit, bit for bit:
``python benchmarks/versus/face.py --before PATH``.

PATH is the src of a checkout of that commit. Both codes answer the same questions about the same
masked columns: every statistic of an estimate, of batches, parts and groups, of released files of
versions 1 and 2, and risks, plans and studies. Keys are compared by the values masked under them.
Each case is a digest of the answer's numbers to their last bit; cases that differ are named.
`zoo.py` compares released values in every container and format.
"""

import argparse
import dataclasses
import hashlib
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
RELEASED = ROOT / "tests" / "data" / "released"
FIXED_KEYS = ROOT / "tests" / "fixed_keys"  # keys of bands come from the operating system else
N = 1_500


def mapped(cm, p, sigma, **options):
    """A scheme of reverse mapping, by its class or, before there was one, by its keyword."""
    if hasattr(cm, "ReverseMapping"):
        return cm.ReverseMapping(p, sigma, **options)
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


def schemes(cm):
    """The schemes that are asked, by name."""
    return {
        "normal": cm.ConditionalMasking(0.6, 300.0, decimals=2),
        "laplace": cm.ConditionalMasking(0.4, 300.0, noise="laplace"),
        "by lot": cm.ConditionalMasking(0.6, 300.0, donors="sample"),
        "no grid": cm.ConditionalMasking(0.6, 300.0, step=0.0),
        "strata": cm.ConditionalMasking(0.6, 300.0, strata="region"),
        "mapped": mapped(cm, 0.6, 0.3, scale="log"),
        "ends": mapped(cm, 0.6, 300.0, aggregate_ends=3),
        "mapped strata": mapped(cm, 0.6, 0.3, scale="log", strata="region"),
        "additive": cm.AdditiveNoise(300.0),
        "multiplicative": cm.MultiplicativeNoise(0.1),
        "swapping": cm.DataSwapping(),
        "rank swapping": cm.RankSwapping(10.0),
    }


def people():
    """A table with gaps in one column."""
    rng = np.random.default_rng(11)
    income = np.round(rng.lognormal(7.5, 0.5, N), 2)
    return {
        "income": income,
        "wealth": np.where(
            rng.random(N) < 0.1, np.nan, np.round(3 * income + rng.normal(0, 900, N))
        ),
        "region": np.array(["north", "south", "west"])[rng.integers(0, 3, N)],
        "age": rng.integers(18, 90, N).astype(float),
        "household": rng.integers(0, 400, N),
    }


def statistics(estimate):
    """Calls of an estimate without other columns, by name."""
    q = [0.1, 0.5, 0.9]
    t = [1_000.0, 2_000.0]
    for target in ("population", "file"):
        options = {"target": target}
        yield f"summary {target}", lambda o=options: estimate.summary(points=t, **o)
        yield f"median_interval {target}", lambda o=options: estimate.median_interval(**o)
        yield f"moment_interval {target}", lambda o=options: estimate.moment_interval(3, **o)
        yield f"variance_interval {target}", lambda o=options: estimate.variance_interval(**o)
        yield f"gini_interval {target}", lambda o=options: estimate.gini_interval(**o)
        yield f"lorenz_interval {target}", lambda o=options: estimate.lorenz_interval(q, **o)
        yield f"cdf_band {target}", lambda o=options: estimate.cdf_band(**o)
        yield (
            f"expectation_interval {target}",
            lambda o=options: estimate.expectation_interval(np.cbrt, **o),
        )
    for name in (
        "mean",
        "variance",
        "std",
        "median",
        "interquartile_range",
        "gini",
        "pseudo_values",
    ):
        yield name, getattr(estimate, name)
    yield "cdf", lambda: estimate.cdf(t)
    yield "cdf monotone", lambda: estimate.cdf(t, monotone=True)
    yield "cdf bandwidth", lambda: estimate.cdf(t, bandwidth="scott")
    yield "pdf", lambda: estimate.pdf(t)
    yield "quantile", lambda: estimate.quantile(q)
    yield "quantile rearranged", lambda: estimate.quantile(q, crossing="rearranged")
    yield "quantile bandwidth", lambda: estimate.quantile(q, bandwidth="scott")
    yield "lorenz", lambda: estimate.lorenz(q)
    yield "central moment", lambda: estimate.moment(4, central=True)
    yield "N", lambda: estimate.N


def relations(estimate, table):
    """Calls of an estimate beside other columns, by name."""
    weights = table["age"]
    for target in ("population", "file"):
        options = {"target": target}
        yield f"covariance {target}", lambda o=options: estimate.covariance_interval(weights, **o)
        yield (
            f"correlation {target}",
            lambda o=options: estimate.correlation_interval(weights, **o),
        )
        yield f"group_means {target}", lambda o=options: estimate.group_means(table["region"], **o)
        yield f"total {target}", lambda o=options: estimate.total(weights, **o)
        yield f"weighted_mean {target}", lambda o=options: estimate.weighted_mean(weights, **o)
        yield f"regress {target}", lambda o=options: estimate.regress({"age": weights}, **o)
        clusters = {"clusters": table["household"]}
    yield "regress clusters", lambda: estimate.regress({"age": weights}, **clusters)
    yield "group_means clusters", lambda: estimate.group_means(table["region"], **clusters)


def answers(cm):
    """Pairs of a case and a call."""
    table = people()
    x = table["income"]
    for name, scheme in schemes(cm).items():
        strata = {"strata": table["region"]} if scheme.strata else {}
        options = {"accept_visible_coins": True} if scheme.shared_coins else {}
        yield f"{name}: sentence", scheme.sentence
        yield f"{name}: risk", lambda s=scheme: s.risk(x, [10.0, 100.0])
        yield f"{name}: mse", lambda s=scheme: (s.mse(x), s.mse_of_mean(x))
        if name not in ("multiplicative", "swapping", "rank swapping"):
            z = scheme.mask(x, rng=3, **strata, **options)
            yield f"{name}: masked", lambda z=z: z
            estimate = scheme.estimate(z, **strata)
            for case, call in statistics(estimate):
                yield f"{name}: {case}", call
            for case, call in relations(estimate, table):
                yield f"{name}: {case}", call
            if strata:
                north = estimate.part(table["region"] == "north")
                for case, call in statistics(north):
                    yield f"{name}, north: {case}", call
            if name != "no grid":
                batch = scheme.estimate(np.stack([z, z[::-1]]), **strata)
                for case in ("mean", "std", "median", "gini", "mean_interval", "std_interval"):
                    yield f"{name}, batch: {case}", getattr(batch, case)
        else:
            yield f"{name}: masked", lambda s=scheme: s.mask(x, rng=3)
        if scheme.strata is None:
            yield (
                f"{name}: simulate",
                lambda s=scheme: cm.simulate(
                    cm.Resampled(x), s, n=200, replications=20, rng=5, risk_distances=[100.0]
                ).to_dict(),
            )
    yield from releases(cm, table)
    yield from files(cm)


def releases(cm, table):
    """Pairs of a case and a call about tables with several masked columns."""
    kinds = {
        "noise": cm.ConditionalMasking(0.5, 300.0, decimals=0),
        "mapped": mapped(cm, 0.5, 0.3, scale="log"),
    }
    for kind, scheme in kinds.items():
        taken = {"income": scheme, "wealth": scheme}
        release = cm.mask_table(
            table,
            taken,
            rng=4,
            nan_policy="omit",
            accept_visible_coins=True,
            round=kind == "noise",
        )
        yield f"table {kind}: values", lambda r=release: [r.data["income"], r.data["wealth"]]
        yield (
            f"table {kind}: together",
            lambda r=release: r["income"].correlation_interval("wealth"),
        )
        yield f"table {kind}: regress", lambda r=release: r.regress("wealth", on=["income", "age"])
        yield f"table {kind}: groups", lambda r=release: r["wealth"].group_means("region")
        yield (
            f"risk {kind}",
            lambda s=scheme: cm.risk(table["income"], s, d=[10.0, 100.0]).to_dict(),
        )
        yield (
            f"plan {kind}",
            lambda k=kind: cm.plan(
                table["income"], max_error={"mean": 50.0}, d=100.0, reverse_mapping=k == "mapped"
            ).to_dict(),
        )
    named = cm.mask_table(table, ["income"], rng=4)
    yield "named: chosen", lambda: repr(named.schemes["income"].sigma)
    yield "named: values", lambda: named.data["income"]


def files(cm):
    """Pairs of a case and a call about releases of earlier versions."""
    for name in ("people.parquet", "people.arrow", "people.csv", "months"):
        release = cm.read_release(RELEASED / name)
        for column in release:
            yield f"{name}, {column}: summary", lambda r=release, c=column: r[c].summary()


def plain(value):
    """An answer as nested lists of texts and exact numbers."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float | np.floating):
        return "nan" if np.isnan(value) else float(value).hex()
    if hasattr(value, "names") and hasattr(value, "standard_error"):
        fields = ("low", "high", "standard_error", "estimate", "records")
        return [plain(value.names), *(plain(getattr(value, name)) for name in fields)]
    if hasattr(value, "standard_error"):
        return [
            plain(getattr(value, name)) for name in ("low", "high", "standard_error", "estimate")
        ]
    if dataclasses.is_dataclass(value):
        return plain(vars(value))
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items() if key != "reverse_mapping"}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return str(value)


def digest(call):
    """A digest of an answer, or of the kind of its refusal."""
    try:
        answer = plain(call())
    except (ValueError, TypeError, AttributeError) as error:
        answer = type(error).__name__
    return hashlib.sha256(repr(answer).encode()).hexdigest()[:16]


def asked(path):
    """The digests of the code at a path, by case."""
    finished = subprocess.run(
        [sys.executable, __file__, "--alone"],
        env=os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{FIXED_KEYS}"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(line.rsplit(" ", 1) for line in finished.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before")
    parser.add_argument("--alone", action="store_true")
    args = parser.parse_args()
    if args.alone:
        import condmask as cm

        warnings.simplefilter("ignore")
        for case, call in answers(cm):
            print(case, digest(call))
        return
    before = asked(args.before)
    now = asked(ROOT / "src")
    other = [case for case in before.keys() | now.keys() if before.get(case) != now.get(case)]
    print(
        f"{len(before)} cases before, {len(now)} now, {len(now) - len(other)} with the same bits"
    )
    for case in sorted(other):
        print("other bits:", case)
    sys.exit(bool(other))


if __name__ == "__main__":
    main()
