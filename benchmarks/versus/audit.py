"""The audit of coins against KDEpy, and the brief one against masking: ``python benchmarks/versus/audit.py``.

Answers are checked before they are timed: continuous data show nothing, rounded ones do.
"""

import numpy as np
import tables
from tables import Line

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure.audit import audit, check

N, P, SIGMA = 1_000_000, 0.6, 1000.0


def originals(n):
    """Columns to audit, by name."""
    rng = np.random.default_rng(1)
    return {
        "Laplace": rng.laplace(10.0, SIGMA, n),
        "lognormal over 200 sigma": rng.lognormal(9.5, 0.5, n),
        "Cauchy": SIGMA * rng.standard_cauchy(n),
    }


def brief(x, scheme):
    """What masking asks."""
    return check(AuditInput({"x": x}, {"x": "float64"}, {}, None), {"x": scheme})


def measure(args, n=N):
    from KDEpy import FFTKDE

    columns, scheme = originals(n), cm.ConditionalMasking(P, SIGMA)
    rounded = np.rint(columns["lognormal over 200 sigma"] / 100.0) * 100.0
    exact = cm.ConditionalMasking(P, SIGMA, decimals=2)
    for x in columns.values():
        assert brief(x, scheme) is None
        assert abs(audit(x, scheme).guessed - P) < 0.01
    assert brief(rounded, exact).visible
    assert all(each.hides for each in audit(rounded, exact).proposals)
    x = columns["Laplace"]
    calls = {
        "FFTKDE": lambda: FFTKDE(kernel="gaussian", bw=71.0).fit(x).evaluate(1024),
        "mask": lambda: scheme.mask(x, accept_visible_coins=True),
        "brief": lambda: brief(x, scheme),
        "rounded": lambda: audit(rounded, exact),
    }
    calls |= {name: (lambda x=x: audit(x, scheme)) for name, x in columns.items()}
    t = tables.medians(calls, args.rounds)
    lines = [
        Line("a brief audit that shows nothing", 1e3 * t["brief"], unit="ms"),
        Line("the same, to masking", t["brief"] / t["mask"], 0.1),
        Line("an audit of Laplace data, to KDEpy's FFTKDE at 1024 points", t["Laplace"] / t["FFTKDE"], 10.0),
    ]
    lines += [Line(f"of {name}, to FFTKDE", t[name] / t["FFTKDE"]) for name in [*columns][1:]]
    return [*lines, Line("of rounded data, with a proposal", 1e3 * t["rounded"], unit="ms")]


if __name__ == "__main__":
    tables.main(__file__, measure)
