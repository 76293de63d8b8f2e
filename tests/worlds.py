"""Material of the tests of files, and which cases of a test every run needs."""

import csv
import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import condmask as cm

KEY = cm.Key(b"sixteen of tests")
PAY = cm.ConditionalMasking(0.6, 500.0, decimals=2)
AGE = cm.ConditionalMasking(0.6, 9.0, decimals=0)
JOINT = {"pay": PAY, "age": AGE}


def people(n=600, seed=1):
    """A table of Arrow: pay, age, score and euro can be masked; the others are of all sorts."""
    random = np.random.default_rng(seed)
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(k % 500) for k in range(n)]
    pay = random.lognormal(7.0, 0.5, n).round(2)
    columns = {
        "id": [f"{k:05}" for k in range(n)],
        "pay": pa.array(pay, mask=np.arange(n) % 20 == 0),
        "note": [None if k % 5 == 0 else f'é; "{k}"\n,' for k in range(n)],
        "age": pa.array(random.integers(18, 90, n), pa.int32()),
        "day": days,
        "score": pa.array(random.normal(400.0, 72.0, n).round() / 8.0, pa.float32()),
        "region": pa.array(random.choice(["north", "south", "west"], n)).dictionary_encode(),
        "euro": [decimal.Decimal(int(cents)) / 100 for cents in random.lognormal(12.0, 0.5, n)],
        "time": pa.array(np.arange(n) * 1_000_000, pa.timestamp("us", "Europe/Paris")),
        "yes": [None if k % 3 == 0 else k % 2 == 0 for k in range(n)],
        "list": pa.array([None if k % 9 == 0 else [k, None] * (k % 3) for k in range(n)]),
        "pair": [{"pay": f"b{k}", "deep": {"age": [k]}} for k in range(n)],
    }
    return pa.table(columns)


def write(table, path, **options):
    """Write a table in the format of the path's suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(table, path, **{"compression": "none", **options})
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=options.get("row_group_size"))
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(table.schema.names)
            writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return path


def read(path):
    """The table in a file, as pyarrow and pandas have it."""
    if path.suffix == ".arrow":
        with pa.OSFile(str(path)) as file:
            return pa.ipc.open_file(file).read_all()
    if path.suffix == ".csv":
        return pa.Table.from_pandas(pd.read_csv(path, dtype={"id": str}))
    return pq.ParquetFile(path).read()


def masked(source, target, schemes=None, **options):
    """Mask a file, whatever that shows of the coins: with a key, so that no log is kept."""
    return cm.mask_file(
        source,
        target,
        schemes or JOINT,
        **{"rng": KEY, "nan_policy": "omit", "accept": "all", **options},
    )


def in_memory(table, schemes=None, key=KEY, **options):
    """The masked columns of a table in memory, under the same key."""
    schemes = schemes or JOINT
    release = cm.mask_table(table, schemes, rng=key, nan_policy="omit", accept="all", **options)
    return release.data.select(list(schemes))


def numbers(column):
    """A column of Arrow as float64, NaN for missing."""
    return column.cast("float64").to_numpy(zero_copy_only=False)


def assert_same(found, expected):
    """Two columns have the same bits, whatever their containers; -0 is another than 0."""
    found = numbers(found)
    expected = numbers(expected)
    assert np.array_equal(np.isnan(found), np.isnan(expected))
    there = ~np.isnan(expected)
    assert found[there].tobytes() == expected[there].tobytes()


def rest_slow(cases):
    """The first case as it is; the others say the same of other parameters, and are marked
    slow."""
    return _marked(cases, pytest.mark.slow)


def rest_long(cases):
    """The first case as it is; the others only repeat it elsewhere, and are marked long."""
    return _marked(cases, pytest.mark.long)


def _marked(cases, mark):
    first, *rest = cases
    return [first, *(pytest.param(*_values(case), marks=mark) for case in rest)]


def _values(case):
    return case if isinstance(case, tuple) else (case,)
