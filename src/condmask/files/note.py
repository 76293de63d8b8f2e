"""The note that goes with a release, for analysts."""

from collections.abc import Mapping
from pathlib import Path

from condmask.estimates.origin import Origin
from condmask.files.formats import FILENAME, ROOMY, format_of
from condmask.files.metadata import Published
from condmask.scheme import Scheme
from condmask.schemes.description import rounding
from condmask.strata import names_of

HEAD = """\
# {name}

{rows:,} records{parts}. These columns were masked with condmask; all others are unchanged.

{columns}

Do not take a masked value for its record's own, and base no decision about a person on it.
"""

BESIDE = """
Keep `{name}.condmask.json` with this file: it says how the columns were masked, and nothing can be estimated
without it.
"""

OF_PARTS = """\
 in {files}, which are one release: estimates need all of them, under their present names"""

ESTIMATED = """
## What can be computed

From the masked column and the numbers above, without the original: mean, standard deviation, moments,
distribution function, quantiles, Gini coefficient, correlations, means of groups, regressions, each with its
standard error and interval. Use the functions below: ordinary formulas give wrong answers on a masked column.
Keep all records, in their order: for a group, name the column of labels, and never select its records.

## How

```sh
pip install 'condmask[cli]'
condmask estimate {name} -c {column}
```

```python
import condmask as cm
{variable} = cm.read_release("{name}", "{column}")
print({variable}.summary())                           # mean, s.d. and deciles, with standard errors
print({variable}.quantile_interval(0.5))              # the median, with its 95% interval
print({variable}.group_means("a column of labels"))   # means of groups
print({variable}.correlation("another column"))
```
"""

AS_THEY_ARE = """
## What can be computed

The values of {columns} are those of the original in another order. Ordinary formulas are right for statistics
of such a column alone.
"""

REVERSE_MAPPED = """
Ordinary formulas give wrong correlations, group means and regressions of {columns}: closer to zero than those
of the original. Use these functions:

```python
import condmask as cm
{variable} = cm.read_release("{name}", "{column}")
print({variable}.summary())                           # of the population, with standard errors
print({variable}.summary(target="file"))              # of the original file itself
print({variable}.group_means("a column of labels"))   # means of groups, corrected for swaps and noise
print({variable}.correlation_interval("a column that was not masked"))
```
"""

OF_STRATA = """
Values were swapped within the same {groups} alone, so quantiles and all else are available for each, too:

```python
print({variable}.part({{{labels}}}).summary())
```
"""


def sentence(scheme: Scheme, origin: Origin) -> str:
    """How a column was masked, and how it was rounded before."""
    return scheme.sentence() + (rounding(*origin.shift) if origin.shift else "")


def written_note(name: str, released: Published, parts: int | None = None) -> str:
    """The note for a file of this name, or for a folder of so many files."""
    schemes = released.schemes
    columns = "\n".join(
        f"* `{column}`: {sentence(scheme, released.origins[column])}" for column, scheme in schemes.items()
    )
    of = "" if parts is None else OF_PARTS.format(files="1 file" if parts == 1 else f"{parts:,} files")
    text = HEAD.format(name=name, rows=released.records, columns=columns, parts=of)
    text += BESIDE.format(name=name) if parts is None and format_of(Path(name)) not in ROOMY else ""
    estimated = [column for column, scheme in schemes.items() if scheme.law is not None]
    if estimated:
        text += ESTIMATED.format(name=name, column=estimated[0], variable=_variable(estimated[0]))
    others = [f"`{column}`" for column in schemes if column not in estimated]
    text += AS_THEY_ARE.format(columns=", ".join(others)) if others else ""
    mapped = [column for column, scheme in schemes.items() if scheme.reverse_mapping]
    if mapped:
        columns, variable = ", ".join(f"`{column}`" for column in mapped), _variable(mapped[0])
        text += REVERSE_MAPPED.format(name=name, column=mapped[0], variable=variable, columns=columns)
    strata = strata_of(schemes)
    if strata:
        groups, labels = (
            " and ".join(f"`{each}`" for each in strata),
            (f'"{each}": "a label"' for each in strata),
        )
        variable = _variable((estimated or mapped)[0])
        text += OF_STRATA.format(groups=groups, variable=variable, labels=", ".join(labels))
    return text


def strata_of(schemes: Mapping[str, Scheme]) -> list[str]:
    """The columns within whose groups alone values were swapped; files of a folder have none."""
    return [name for name in names_of(next(iter(schemes.values())).strata) if name != FILENAME]


def _variable(column: str) -> str:
    """A name for a column in Python."""
    return column if column.isidentifier() else "masked"
