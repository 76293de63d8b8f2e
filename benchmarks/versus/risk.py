"""Risks and plans against KDEpy: ``python benchmarks/versus/risk.py``.

Answers are checked before they are timed: the paper's Table 3, and a best attacker whom no other
beats.
"""

import numpy as np
import tables
from tables import Line
from unaudited import UNAUDITED

import condmask as cm

N = 1_000_000
PLANNED = 100_000
DISTANCES = np.array([250.0, 500.0, 1000.0, 1500.0, 2000.0])
EXPECTED = {
    "masked value": [0.153, 0.298, 0.542, 0.712, 0.819],
    "best constant": [0.221, 0.393, 0.632, 0.777, 0.865],
    "best attacker": [0.225, 0.407, 0.661, 0.807, 0.889],
}
SAMPLING = 0.002  # four standard errors of a share of a million records


def check(found):
    """The figures of the setting of Table 3."""
    for name, expected in EXPECTED.items():
        more = 0.003 if name == "best attacker" else 0.0
        assert np.abs(found.attackers[name] - expected).max() < SAMPLING + more, name
    for share in found.attackers.values():
        assert (share <= found.attackers["knows who was swapped"] + 1e-12).all()


def planned(x, other):
    """A frontier of 100 schemes, half of them with reverse mapping, whose suggestions are
    audited."""
    return cm.plan(
        x,
        max_risk={500: 0.42, 1000: 0.7},
        other=other,
        p=np.arange(1, 11) / 11,
        sigma=np.geomspace(200.0, 2000.0, 5),
    )


def measure(args, n=N, planned_for=PLANNED):
    from KDEpy import FFTKDE

    rng = np.random.default_rng(1)
    x = rng.laplace(10.0, 1000.0, n)
    scheme = cm.ConditionalMasking(0.6, 1000.0)
    z = scheme.mask(x, **UNAUDITED)
    other = 0.6 * x + 800.0 * rng.laplace(size=n)
    check(cm.risk(x, scheme, d=DISTANCES))
    made = planned(x[:planned_for], other[:planned_for])
    assert len(made.candidates) == 100
    assert made.best.risk[0] <= 0.42
    calls = {
        "FFTKDE": lambda: FFTKDE(kernel="gaussian", bw=71.0).fit(x).evaluate(1024),
        "risk": lambda: cm.risk(x, scheme, d=DISTANCES),
        "release": lambda: cm.risk(x, scheme, d=DISTANCES, released=z),
        "others": lambda: cm.risk({"x": x, "w": other}, {"x": scheme}, d={"x": DISTANCES}),
        "linkage": lambda: cm.risk(x, scheme, d=DISTANCES, released=z).linkage(),
    }
    t = tables.medians(calls, args.rounds)
    t |= tables.medians({"plan": lambda: planned(x[:planned_for], other[:planned_for])}, 3)
    return [
        Line(
            "risks of all attackers at five d, relative to KDEpy's FFTKDE at 1024 points",
            t["risk"] / t["FFTKDE"],
            30.0,
        ),
        Line("of a release", 1e3 * t["release"], unit="ms"),
        Line("with an unmasked column", t["others"], unit="s"),
        Line("record linkage by one column", t["linkage"], unit="s"),
        Line("a plan of 100 schemes for 100,000 records", t["plan"], 5.0, unit="s"),
    ]


if __name__ == "__main__":
    tables.main(__file__, measure)
