"""Match the rows of an original with those of its release, which may be in another order.

A shuffled release does not show the order of its original, and nothing that undoes it is kept. Its
rows are matched by a column in clear that the publisher names as unique. Without one, rows are not
matched: distributions and relations can then be compared, but not records.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frame_rows, frames
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.frames import DataFrame
from condmask.labels import Labels, coded
from condmask.marks import refuse_marked
from condmask.publish.job import Job
from condmask.publish.original_table import OriginalTable
from condmask.publish.release import Release
from condmask.row_labels import has_index, labels_of_rows, refuse_other_order

# of the random order of originals that are not matched, so that a report can be repeated
ORDER_SEED = 0
NEEDS_MATCH = (
    "original must have its rows in the order of the release, which was shuffled: pass "
    "match=COLUMN, a column in clear with a different value in each record"
)


# a table, or the only column that is masked
OriginalData = DataFrame | ArrayLike


class Aligned(NamedTuple):
    """An original beside its release.

    Attributes
    ----------
    table : data frame, dict of columns, or a column
        The original, with its rows in the order of the release, or in random order if not matched.
    matched : bool
        Whether each row is that of the same record in the release.
    """

    table: OriginalData
    matched: bool


def align(original: OriginalData, release: Release, match: str | None) -> Aligned:
    """Return an original with its rows in the order of its release.

    Parameters
    ----------
    original : data frame, dict of columns, or a column
    release : Release
    match : str or None
        A column in clear of both by which rows are matched. With None they are taken to be in the
        same order; with a shuffled release they are not matched, and the original is shuffled,
        too.
    """
    refuse_marked(original, "original")
    labels_of_rows(original, "original")
    if match is not None:
        order = _order_of_release(original, release, _checks.text(match, "match"))
        return Aligned(frame_rows.reordered(original, lambda _: order), True)
    if release.shuffled:
        shuffled = np.random.default_rng(ORDER_SEED)
        return Aligned(frame_rows.reordered(original, shuffled.permutation), False)
    if has_index({"original": original}):  # else labels of files need not be read
        refuse_other_order({"original": original}, release.source.row_labels)
    return Aligned(original, True)


def is_table(original: OriginalData) -> bool:
    """Return whether originals are a table rather than one column."""
    return isinstance(original, dict) or frames.is_frame(original)


def as_released(original: OriginalData, release: Release) -> OriginalData:
    """Return a table of originals without columns and records that the release leaves out.

    Records were left out for their rare gaps, which the original shows again.
    """
    if not is_table(original):
        return original
    there = {*release.source.names, *release.schemes}
    original = frames.without_columns(
        original, [name for name in frames.column_names(original) if name not in there]
    )
    n = len(next(iter(original.values()))) if isinstance(original, dict) else len(original)
    if n == release.records:
        return original
    job = Job(dict(release.schemes), nan_policy="omit", rare_gaps="drop")
    table = OriginalTable(original)
    kept = job.kept_rows(table)
    if kept is None or int(kept.sum()) != release.records:
        return original  # which is refused, as it has other rows
    return table.take(np.flatnonzero(kept)).frame


def matched_to_release(
    original: OriginalData, release: Release, match: str | None
) -> OriginalData:
    """Return an original with its rows in the order of its release, or raise an error if they
    cannot be matched."""
    table, matched = align(original, release, match)
    if not matched:
        raise ArgumentError(NEEDS_MATCH)
    return table


def _order_of_release(original: OriginalData, release: Release, name: str) -> np.ndarray:
    """Return the row of the original for each row of the release, by a column that is unique in
    both."""
    if not (isinstance(original, dict) or frames.is_frame(original)):
        kind = type(original).__name__
        raise ArgumentTypeError(
            f"original must be a table that has the column {name!r} of match, got {kind}"
        )
    _checks.require(name not in release.schemes, "match must be a column that is not masked", name)
    if name not in release.source.names:
        columns = _checks.listed(
            [each for each in release.source.names if each not in release.schemes]
        )
        raise ArgumentError(f"match must be one of the columns in clear {columns}, got {name!r}")
    of_original = _unique_texts(
        frames.table_column(original, name, "original", levels=True), name, "the original"
    )
    of_release = _unique_texts(release.source.labels(name), name, "the release")
    row = {label: place for place, label in enumerate(of_original)}
    unknown = sum(label not in row for label in of_release)
    if len(of_original) != len(of_release) or unknown:
        raise ArgumentError(
            f"match={name!r} must have the same values in original and release, got "
            f"{len(of_original):,} in the original, and {len(of_release):,} in the release, "
            f"{unknown:,} of them not in the original"
        )
    return np.array([row[label] for label in of_release], np.int64)


def _unique_texts(values: ArrayLike | Labels, name: str, where: str) -> list[str]:
    """Return a column as texts, as CSV files have them; raise an error if one is missing or two
    are equal."""
    labels = values if isinstance(values, Labels) else coded({name: values}, name)
    is_gap = np.array([frames.is_missing(label) for label in labels.distinct], bool)
    gaps = int(np.count_nonzero(is_gap[labels.code]))
    texts = [str(label) for label in labels.distinct]
    repeated = labels.code.size - len(set(texts))
    if gaps or repeated:
        found = (
            f"{gaps:,} missing values"
            if gaps
            else f"{repeated:,} rows that repeat the value of another"
        )
        raise ArgumentError(
            f"match={name!r} must have a different value in each record, got {found} in {where}"
        )
    return [texts[code] for code in labels.code.tolist()]
