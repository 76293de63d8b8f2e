"""The reports of a file of a million records: ``python benchmarks/versus/report.py``.

They are checked before they are timed: the internal one has a figure of the original, and the
public one not.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import tables
from tables import Line

import condmask as cm
from condmask._digits import number

N = 1_000_000
P = 0.6
SIGMA = 1000.0


def files(folder, n):
    """An original of two columns beside a masked one, and its release."""
    rng = np.random.default_rng(1)
    income = rng.lognormal(8.0, 0.5, n).round(2)
    frame = pd.DataFrame(
        {
            "income": income,
            "age": rng.integers(18, 66, n),
            "schooling": np.round(np.log(income) + rng.normal(0.0, 0.5, n), 3),
            "region": rng.choice(["east", "west"], n),
        }
    )
    frame.to_parquet(folder / "people.parquet")
    scheme = cm.ConditionalMasking(P, SIGMA, decimals=2)
    cm.mask_file(folder / "people.parquet", folder / "released.parquet", {"income": scheme}, rng=1)
    return income


def measure(args, n=N):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        income = files(folder, n)
        source = folder / "people.parquet"
        release = folder / "released.parquet"

        def made(public):
            original = None if public else source
            cm.report(release, folder / f"{public}.html", original=original, force=True)
            return (folder / f"{public}.html").read_text(encoding="utf-8")

        error = cm.read_release(release, "income").mean_interval(target="file").standard_error
        assert f">{number(income.mean(), error)}<" in made(False)
        assert "SHA-256 of the original" not in made(True)
        calls = {"internal": lambda: made(False), "public": lambda: made(True)}
        t = tables.medians(calls, max(1, args.rounds // 5))
        size = (folder / "False.html").stat().st_size / 1024
    return [
        Line(f"the internal report of {n:,} records", t["internal"], 15.0, unit="s"),
        Line("the public one", t["public"], unit="s"),
        Line("size of the internal one", size, unit="kB"),
    ]


if __name__ == "__main__":
    tables.main(__file__, measure)
