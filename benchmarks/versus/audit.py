"""The audit of coins against KDEpy, and the brief one against masking: ``python benchmarks/versus/audit.py``.

Answers are checked before they are timed: continuous data show nothing, rounded ones do.
"""

import numpy as np
import tables
from tables import Line

import condmask as cm
from condmask._blocks import in_stretches
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


def table(n, masked):
    """A table of 20 columns, as masking has it, and the schemes of those that are masked."""
    columns = {f"c{k}": x for k, x in enumerate(np.random.default_rng(2).laplace(10.0, SIGMA, (20, n)))}
    values = {name: columns[name] for name in [*columns][:masked]}
    rows = in_stretches(n, 1 << 15)
    clear = {name: x[rows] for name, x in columns.items() if name not in values}
    data = AuditInput(values, dict.fromkeys(values, "float64"), clear, None, rows)
    return data, dict.fromkeys(values, cm.ConditionalMasking(P, 0.3 * SIGMA))


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
    tables_of_20 = [table(n, masked) for masked in (20, 1)]
    for data, schemes in tables_of_20:
        assert check(data, schemes) is None
    calls |= {
        "20 masked": lambda: check(*tables_of_20[0]),
        "19 in clear": lambda: check(*tables_of_20[1]),
    }
    calls |= {name: (lambda x=x: audit(x, scheme)) for name, x in columns.items()}
    t = tables.medians(calls, args.rounds)
    lines = [
        Line("a brief audit that shows nothing", 1e3 * t["brief"], unit="ms"),
        Line("the same, relative to masking", t["brief"] / t["mask"], 0.1),
        Line(
            "an audit of Laplace data, relative to KDEpy's FFTKDE at 1024 points",
            t["Laplace"] / t["FFTKDE"],
            10.0,
        ),
    ]
    lines += [Line(f"of {name}, relative to FFTKDE", t[name] / t["FFTKDE"]) for name in [*columns][1:]]
    lines += [
        Line("a brief audit of 20 columns masked together", 1e3 * t["20 masked"], 1000.0, unit="ms"),
        Line("of one column beside 19 unmasked ones", 1e3 * t["19 in clear"], 1000.0, unit="ms"),
    ]
    return [*lines, Line("of rounded data, with a proposal", 1e3 * t["rounded"], unit="ms")]


if __name__ == "__main__":
    tables.main(__file__, measure)
