"""Name the files of a folder so that all readers agree on their order.

Writers such as Dask number their files, part.0 to part.11. Dask reads them in the order of the
numbers; pandas, polars and DuckDB read them in the order of the letters, part.10 before part.2.
With zeros in front, as in part.02, both orders are one.
"""

import re
from collections import defaultdict
from collections.abc import Sequence

NUMBERED = re.compile(r"(?P<head>(?:.*/)?[^/]*?)(?P<number>[0-9]+)(?P<tail>[^0-9/]*)", re.DOTALL)


def padded(names: Sequence[str]) -> list[str]:
    """Return the names of files with zeros in front of the last number of each, as long as the
    longest one.

    Only names that are otherwise the same are numbered together. If zeros would make two of them
    one, they stay as they are.
    """
    series = defaultdict[tuple[str, str], list[re.Match[str]]](list)
    for name in names:
        found = NUMBERED.fullmatch(name)
        if found is not None:
            series[found["head"], found["tail"]].append(found)
    renamed: dict[str, str] = {}
    for (head, tail), matches in series.items():
        width = max(len(one["number"]) for one in matches)
        new = {one.string: f"{head}{one['number'].zfill(width)}{tail}" for one in matches}
        if len({*new.values()}) == len(new):
            renamed |= new
    return [renamed.get(name, name) for name in names]
