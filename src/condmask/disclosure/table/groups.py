"""Find groups that columns in clear form: by a code, by two, by names of each other, by place."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.crossing import composites, crossed
from condmask.disclosure.table.encode import ORDER, PART_OF, Encoded, column_of
from condmask.disclosure.table.neighbours import Group, Nearest, group, shrunk, standard

RUN = "rows by "  # of so many rows after one another, in the name of a group
MAX_PAIRED = 10  # codes of which pairs are formed
MIN_GROUP_GAIN = 0.01  # of the variance that groups explain
MIN_UNIT_GAIN = 0.05  # the same, for groups that are units
CERTAINTY = 4.0  # standard errors of an intraclass correlation by chance
MIN_UNIT_RECORDS = 1.2  # mean size of units
MAX_UNIT_RECORDS = 300.0
MAX_KEYS = 12
MAX_PLAIN_UNITS = 4
MAX_UNITS = 5
MAX_REFERENCES = 1
MIN_REFERRING = 1.5  # records that give the same reference, by record
MAX_REFERRING = 50.0
REFERENCE = re.compile(re.escape(PART_OF) + r"\d+\)$")  # a part of a text, by its place
MAX_ALIKE_NUMBERS = 4  # in which units may be alike as well
MIN_NAMED_SHARE = 0.25  # of the records, that name others
MIN_NAMED_RECORDS = 0.03  # of the records, that others name
MIN_SHARED_LABELS = 0.8  # of the labels of two columns that name the same things
MIN_MIRRORED_LABELS = 8
MIN_FINE = 50  # values of a column that may be a coordinate
MAX_PLACED = 4_000  # records in which pairs of coordinates are compared
MAX_PLACED_COLUMNS = 5
NEAREST = 8
CELL_RECORDS = 32.0


def groups_of(encoded: Encoded) -> list[Group]:
    """Return all groups that columns in clear form: by a code, by two of them, and records that
    name each other."""
    single = encoded.codes | encoded.keys
    levels = {name: int(codes.max(initial=-1)) for name, codes in single.items()}
    paired = sorted(single, key=lambda name: -levels[name])[:MAX_PAIRED]
    found = [group(name, codes) for name, codes in single.items()]
    pairs = {
        (one, other): group(f"{one} x {other}", crossed(single[one], single[other]))
        for one, other in combinations(paired, 2)
        if column_of(one) != column_of(other)
    }
    together = composites(encoded, pairs)
    known = {each.name for each in together}
    found += [each for each in pairs.values() if each.name not in known]
    return [*found, *_pointers(encoded), *_mirrors(encoded, single), *together]


def _pointers(encoded: Encoded) -> Iterator[Group]:
    """Yield records joined with the one that each names by its number in another column."""
    whole = {
        name: np.nan_to_num(x, nan=-1.0)
        for name, x in encoded.numbers.items()
        if (np.nan_to_num(x) % 1.0 == 0.0).all()
    }
    n = encoded.n
    for name, number in whole.items():
        order = np.argsort(number, kind="stable")
        ascending = number[order]
        if (np.diff(ascending) == 0.0).any():
            continue
        for other, named in whole.items():
            place = np.searchsorted(ascending, named).clip(0, n - 1)
            at = np.where(ascending[place] == named, order[place], -1)
            hit = at >= 0
            several = np.unique(at[hit]).size > MIN_NAMED_RECORDS * n
            if other != name and hit.mean() > MIN_NAMED_SHARE and several:
                yield group(f"{other} -> {name}, chain", _joined(at), structural=True)
                yield group(f"{other} -> {name}", np.where(hit, at, np.arange(n)), structural=True)


def _joined(at: np.ndarray) -> np.ndarray:
    """Return the connected component of each record, by the record that it names."""
    from scipy.sparse import coo_array, csgraph  # takes .1 s to import

    rows = np.flatnonzero(at >= 0)
    links = coo_array((np.ones(rows.size), (rows, at[rows])), (at.size, at.size))
    codes = csgraph.connected_components(links, directed=False)[1]
    return np.asarray(codes, dtype=np.int64)


def _mirrors(encoded: Encoded, single: dict[str, np.ndarray]) -> Iterator[Group]:
    """Yield records whose two names are the same in either order."""
    named = {
        name: encoded.labels[name]
        for name in single
        if len(encoded.labels.get(name, ())) > MIN_MIRRORED_LABELS
    }
    for one, other in combinations(named, 2):
        every = sorted({*named[one], *named[other]}, key=str)
        both = {*named[one]} & {*named[other]}
        if type(named[one][0]) is not type(named[other][0]):
            continue
        if len(both) > MIN_SHARED_LABELS * len(every):
            place = {label: k for k, label in enumerate(every)}
            a, b = (
                np.array([place[label] for label in named[name]])[single[name]]
                for name in (one, other)
            )
            pair = crossed(np.minimum(a, b), np.maximum(a, b))
            yield group(f"{one} and {other}", pair, structural=True)


def nearest(encoded: Encoded, z: np.ndarray) -> list[Nearest]:
    """Return the nearest records in the two columns in which these tell most of a masked column,
    standardized as z; none where they tell little."""
    fine = {
        name: standard(x)
        for name, x in encoded.numbers.items()
        if column_of(name) == name and not np.isnan(x).any() and np.unique(x).size > MIN_FINE
    }
    rows = np.arange(0, z.size, max(1, z.size // MAX_PLACED))
    best = (MIN_GROUP_GAIN, "", "")
    for one, other in combinations(list(fine)[:MAX_PLACED_COLUMNS], 2):
        near = _nearest_in(one, other, fine, rows)
        known = np.ones(rows.size)
        gain = shrunk(near, z[rows], known, z[rows], np.arange(rows.size)).gain
        best = max(best, (gain, one, other))
    gain, one, other = best
    return [_nearest_in(one, other, fine, np.arange(z.size))] if one else []


def places(near: Sequence[Nearest], encoded: Encoded) -> list[Group]:
    """Return the cells of a grid of coordinates, which are units of those who live there."""
    found = []
    for each in near:
        side = max(1, int(np.sqrt(encoded.n / CELL_RECORDS)))
        one, other = (
            np.argsort(np.argsort(encoded.numbers[name])) * side // encoded.n
            for name in each.columns
        )
        found.append(group(f"cells of {each.name}", one * side + other))
    return found


def _nearest_in(one: str, other: str, fine: dict[str, np.ndarray], rows: np.ndarray) -> Nearest:
    from scipy.spatial import cKDTree  # takes .1 s to import

    places = np.column_stack((fine[one][rows], fine[other][rows]))
    _, at = cKDTree(places).query(places, k=NEAREST + 1)
    each = np.arange(rows.size)[:, None]
    # of records at one place the first found need not be the record itself
    own = at == each
    own[:, -1] |= ~own.any(axis=1)
    return Nearest((one, other), at[~own].reshape(rows.size, NEAREST))


class Ranked(NamedTuple):
    """Groups by how alike their records are in a masked column.

    Attributes
    ----------
    keys : list of Group
        Those that tell most of it.
    units : list of Group
        Firms, households or persons: small groups that are alike in it or in other columns, or
        that a column tells by itself.
    alike : list of Group
        Those that are certainly alike, the most alike in the masked column first.
    """

    keys: list[Group]
    units: list[Group]
    alike: list[Group]


def ranked(groups: Sequence[Group], z: np.ndarray, encoded: Encoded) -> Ranked:
    """Return the groups that tell of a masked column, standardized as z, and the units."""
    shown = [
        (column_of(name), standard(x))
        for name, x in list(encoded.numbers.items())[:MAX_ALIKE_NUMBERS]
        if name != ORDER
    ]
    gains: list[tuple[float, float, Group]] = []
    for each in groups:
        mean_size = each.codes.size / max(each.codes.max() + 1, 1)
        small = MIN_UNIT_RECORDS < mean_size < MAX_UNIT_RECORDS
        likeness = [
            explained(each.codes, x) for name, x in shown if small and name not in each.name
        ]
        known = max(likeness, default=0.0) * min(1.0, mean_size - 1.0)
        gains.append((explained(each.codes, z), known, each))
    by_masked = sorted(gains, key=lambda gain: -gain[0])
    by_any = sorted(gains, key=lambda gain: -max(gain[:2]))
    keys = [each for gain, _, each in by_masked if gain > MIN_GROUP_GAIN][:MAX_KEYS]
    small_groups = [gain for gain in by_any if gain[2].structural or _is_small(gain[2])]
    plain = [each for _, _, each in small_groups if column_of(each.name) == each.name]
    plain = [each for each in plain if " x " not in each.name and RUN not in each.name]
    plain = plain[:MAX_PLAIN_UNITS]
    units = [each for _, _, each in small_groups if each.structural]
    units += plain
    rest = [each for a, b, each in small_groups if max(a, b) > MIN_UNIT_GAIN]
    units += [each for each in rest if RUN not in each.name]
    units = _distinct([*_distinct(units)[:MAX_UNITS], *_referring(groups)])
    alike_groups = [each for a, b, each in by_masked if max(a, b) > MIN_GROUP_GAIN]
    return Ranked(keys, units, alike_groups)


def _referring(groups: Sequence[Group]) -> list[Group]:
    """Return the groups by a part of a text that most evenly put a few records side by side, as a
    reference does that a payer and a payee give."""
    found = []
    for each in groups:
        sizes = each.sizes
        of_record = float(np.sum(sizes * sizes)) / each.codes.size
        if REFERENCE.search(each.name) and MIN_REFERRING < of_record < MAX_REFERRING:
            found.append((float(np.std(sizes)) / float(np.mean(sizes)), each))
    found.sort(key=lambda one: one[0])
    return [each for _, each in found[:MAX_REFERENCES]]


def _is_small(each: Group) -> bool:
    mean_size = each.codes.size / (int(each.codes.max()) + 1)
    return MIN_UNIT_RECORDS < mean_size < MAX_UNIT_RECORDS


def _distinct(groups: Sequence[Group]) -> list[Group]:
    """Return groups without those that put the same records side by side."""
    kept: dict[tuple[float, ...], Group] = {}
    weight = np.sin(1.0 + np.arange(groups[0].codes.size)) if groups else np.empty(0)
    for each in groups:
        mark = np.bincount(each.codes, weight)
        kept.setdefault((float(mark.size), round(float(np.sum(mark**2)), 6)), each)
    return list(kept.values())


def explained(codes: np.ndarray, z: np.ndarray) -> float:
    """Return the share of the variance that means of the others explain, by the intraclass
    correlation; 0 where that may be chance."""
    size = np.bincount(codes).astype(np.float64)
    several = size > 1.0
    m = float(size[several].sum())
    groups = int(np.count_nonzero(several))
    if groups < 2 or m - groups < 1.0:
        return 0.0
    inside = several[codes]
    mean = np.bincount(codes, z) / np.maximum(size, 1.0)
    overall = float(z[inside].mean())
    within = float(np.sum((z - mean[codes])[inside] ** 2)) / (m - groups)
    between = float(np.sum((size * (mean - overall) ** 2)[several])) / (groups - 1)
    mean_size = (m - float(np.sum(size[several] ** 2)) / m) / (groups - 1)
    total = between + (mean_size - 1.0) * within
    if total <= 0.0 or mean_size <= 1.0:
        return 0.0
    alike = (between - within) / total
    by_chance = np.sqrt(2.0 / ((mean_size - 1.0) * mean_size * groups))
    if alike < CERTAINTY * by_chance:
        return 0.0
    others = mean_size - 1.0
    reach = m / codes.size
    return float(reach * alike * alike * others / (1.0 + (others - 1.0) * alike))
