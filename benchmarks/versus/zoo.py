"""The bits of releases against another commit: ``python benchmarks/versus/zoo.py --before PATH``.

PATH is the src of a checkout of that commit. Both codes mask the same tables under the same seed,
in every container, type and format; the masked values must be equal to the bit. Files are read
back by pyarrow.
"""

import argparse
import hashlib
import inspect
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

N = 3_000


def columns():
    """The columns that are masked, by what is special about them, and their neighbours in
    clear."""
    rng = np.random.default_rng(5)
    income = np.round(rng.lognormal(7.5, 0.6, N), 2)
    gaps = rng.random(N) < 0.1
    masked = {
        "decimals": income,
        "whole": np.rint(income).astype(np.int64),
        "single": income.astype(np.float32),
        "gaps": np.where(gaps, np.nan, income),
        "codes": np.where(gaps, -99_999.0, income),
        "coarse": 50.0 * np.rint(income / 50.0),
    }
    beside = {
        "region": np.array(["north", "south", "west"])[rng.integers(0, 3, N)],
        "age": rng.integers(18, 90, N),
    }
    return masked, beside


def mapped(cm, p, sigma, **options):
    """A scheme of reverse mapping, by its class or, before there was one, by its keyword."""
    if hasattr(cm, "ReverseMapping"):
        return cm.ReverseMapping(p, sigma, **options)
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


def schemes(cm, name):
    """The schemes to try on a column: noise of both laws on a grid, donors by lot, and reverse
    mapping."""
    codes = {"missing": -99_999.0} if name == "codes" else {}
    grid = {"decimals": 0} if name in ("whole", "coarse") else {"decimals": 2}
    if name == "single":
        grid = {"step": 50.0}
    return {
        "grid": cm.ConditionalMasking(0.6, 500.0, **grid, **codes),
        "laplace": cm.ConditionalMasking(0.6, 500.0, noise="laplace", **grid, **codes),
        "by lot": cm.ConditionalMasking(0.6, 500.0, donors="sample", **grid, **codes),
        "mapped": mapped(cm, 0.6, 0.3, scale="log", **codes),
        "ends": mapped(cm, 0.6, 500.0, aggregate_ends=3, **codes),
    }


def containers(table):
    """A table of NumPy arrays in every container."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    frame = pd.DataFrame(table)
    return {
        "dict": dict(table),
        "pandas": frame,
        "nullable": frame.convert_dtypes(convert_floating=False),
        "polars": pl.DataFrame(table),
        "Arrow": pa.table(table),
    }


def cases():
    """Digests of masked columns, by case."""
    import condmask as cm

    masked, beside = columns()
    for name, x in masked.items():
        options = {"rng": 7, "accept_visible_coins": True, "nan_policy": "omit", "round": False}
        for kind, scheme in schemes(cm, name).items():
            if name == "single" and kind not in ("mapped", "ends"):
                options["round"] = True
            for place, frame in containers({name: x, **beside}).items():
                for strata in (None, "region"):
                    release = cm.mask_table(frame, {name: scheme}, strata=strata, **options)
                    yield f"{name}, {kind}, {place}, strata {strata}", release.data[name]
            options["round"] = False
    both = {"decimals": masked["decimals"], "gaps": masked["gaps"], **beside}
    for kind, scheme in schemes(cm, "gaps").items():
        taken = {"decimals": scheme, "gaps": scheme}
        release = cm.mask_table(both, taken, rng=8, accept_visible_coins=True, nan_policy="omit")
        for name in taken:
            yield f"both columns, {kind}, {name}", release.data[name]
    yield from files(cm, {"decimals": masked["decimals"], "whole": masked["whole"], **beside})


def files(cm, table):
    """Digests of masked columns of files."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    table = pa.table(table)
    table = table.append_column(
        "exact", table["decimals"].cast(pa.string()).cast(pa.decimal128(12, 2))
    )
    known = inspect.signature(cm.mask_file).parameters
    options = {"ledger": False} if "ledger" in known else {"log": False}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        target = Path(folder, "target")
        parquet.write_table(table, source.with_suffix(".parquet"), row_group_size=1_000)
        feather.write_feather(table, source.with_suffix(".arrow"), compression="uncompressed")
        csv.write_csv(table, source.with_suffix(".csv"))
        for name in ("decimals", "whole", "exact"):
            for kind, scheme in schemes(cm, name).items():
                for end, read in {
                    ".parquet": parquet.read_table,
                    ".arrow": feather.read_table,
                    ".csv": csv.read_csv,
                }.items():
                    path = target.with_name(f"{name}-{kind}{end}")
                    cm.mask_file(
                        source.with_suffix(end),
                        path,
                        {name: scheme},
                        strata="region",
                        rng=9,
                        accept_visible_coins=True,
                        **options,
                    )
                    yield f"file {end}, {name}, {kind}", read(path)[name]


def digest(values):
    """Of a column of any container, gaps and all, as numbers."""
    plain = values.to_pylist() if hasattr(values, "to_pylist") else values
    plain = (
        plain.tolist()
        if hasattr(plain, "tolist")
        else plain.to_list()
        if hasattr(plain, "to_list")
        else plain
    )
    numbers = np.array([np.nan if _is_gap(value) else float(value) for value in plain])
    return hashlib.sha256(np.where(np.isnan(numbers), np.nan, numbers).tobytes()).hexdigest()[:16]


def _is_gap(value):
    return value is None or str(value) in ("<NA>", "nan", "None")


def asked(path):
    """What the code at a path gives, a line for each case."""
    run = [sys.executable, __file__, "--alone"]
    found = subprocess.run(
        run, env=os.environ | {"PYTHONPATH": str(path)}, capture_output=True, text=True, check=True
    )
    return dict(line.rsplit(" ", 1) for line in found.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before")
    parser.add_argument("--alone", action="store_true")
    args = parser.parse_args()
    if args.alone:
        warnings.simplefilter("ignore")
        for case, values in cases():
            print(case, digest(values))
        return
    before = asked(args.before)
    now = asked(Path(__file__).parents[2] / "src")
    assert set(before) == set(now), f"other cases: {set(before) ^ set(now)}"
    other = [case for case in before if before[case] != now[case]]
    print(f"{len(before)} cases, {len(before) - len(other)} with the same bits")
    for case in other:
        print("other bits:", case)
    sys.exit(bool(other))


if __name__ == "__main__":
    main()
