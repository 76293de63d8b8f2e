"""Draw for the publisher a column before masking, as released, and as estimated."""

import os
from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask._blocks import evenly_spaced
from condmask._randomness import Randomness
from condmask.errors import ArgumentError, ArgumentTypeError
from condmask.estimates.bands import drawn_curve
from condmask.missing_codes import numbers_of, released_codes
from condmask.publish.read import masked_column
from condmask.publish.release import Release
from condmask.reports.alignment import OriginalData, matched_to_release

MAX_DRAWN_RECORDS = 1000  # drawn as dots
CURVE_POINTS = 1000  # at which distribution functions are evaluated


def plot_release(
    original: OriginalData,
    release: Release,
    column: str | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    ax: Any = None,
    confidence_level: float = 0.95,
    rng: Randomness = None,
    match: str | None = None,
) -> Any:
    """Draw a column before masking, as it was released, and as it is estimated from the release.

    For the publisher alone, who has the original: the picture shows original values, and which
    records kept theirs. **Do not publish it.** What may be published is the picture of the
    estimate, `Estimate.plot_cdf`. Needs matplotlib (``pip install condmask[plot]``).

    Parameters
    ----------
    original : array_like, series, data frame or dict of columns
        The original column, or the table that has it, with the rows of the release in their order.
    release : Release
        What `mask_table`, `mask_file` or `read_release` returned. It knows the scheme, the donor
        pools and the codes of missing values, which need not be given again.
    column : str, optional
        The masked column; None stands for the only one.
    path : path-like, optional
        Where the picture is written; it is then not shown.
    ax : sequence of two matplotlib Axes, optional
        Where to draw; labels that they have are kept. None makes a figure.
    confidence_level, rng
        As for `Estimate.plot_cdf`.
    match : str, optional
        As for `report`; a shuffled release needs it.

    Returns
    -------
    ndarray of matplotlib Axes
        The first has up to 1,000 records, evenly spaced in the file, by original and released
        value. Those on the line were released as they were. The other has the distribution
        functions of the original, of the released values and of the estimate, with its band for
        the distribution in the original file.

    Raises
    ------
    ModuleNotFoundError
        If matplotlib is not installed.
    ValueError
        If the original has another number of records than the release, or misses other values, or
        if the release was shuffled and `match` is not given; if its index has the labels of the
        release in another order and `match` is not given.

    Notes
    -----
    Scales are logarithmic where the scheme has ``scale="log"`` and all values are positive. By
    reverse mapping all three distributions are the same, but for means at their ends.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> people = pd.DataFrame({"income": np.random.default_rng(1).lognormal(7, 0.5, 5_000)})
    >>> release = cm.mask_table(people, {"income": cm.ConditionalMasking(0.6, 500.0)})
    >>> records, shares = cm.plot_release(people, release)
    >>> [text.get_text() for text in shares.get_legend().get_texts()][:2]
    ['released', 'original (confidential)']
    """
    from condmask.plot.distribution import original_and_release

    if not isinstance(release, Release):
        raise ArgumentTypeError(f"release must be a Release, got {type(release).__name__}")
    name = masked_column(release.schemes, column)
    x, z = originals_and_released(matched_to_release(original, release, match), release, name)
    x = x[~np.isnan(x)]
    z = z[~np.isnan(z)]
    both = np.concatenate([x, z])
    log = getattr(release.schemes[name], "scale", "linear") == "log" and both.min() > 0.0
    at = (np.geomspace if log else np.linspace)(both.min(), both.max(), CURVE_POINTS)
    curve = drawn_curve(
        release[name], at, confidence_level=confidence_level, target="file", rng=rng
    )
    return original_and_release(
        x, z, evenly_spaced(x.size, MAX_DRAWN_RECORDS), curve, log=log, path=path, ax=ax
    )


def originals_and_released(
    original: OriginalData, release: Release, name: str, *, matched: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return a column before and after masking, NaN where values are missing.

    Raises an error if values are missing in different rows, or, where rows are not matched, if
    different numbers of values are missing.
    """
    is_table = isinstance(original, dict) or frames.is_frame(original)
    values = frames.table_column(original, name, "original") if is_table else original
    x = numbers_of(values, name, release.schemes[name].codes)
    z = numbers_of(release.source.column(name), name, released_codes(release.schemes[name]))
    _checks.same_length(x, "original", z.size, "the release")
    if matched and not np.array_equal(np.isnan(x), np.isnan(z)):
        raise ArgumentError(
            f"{name} must be missing in the same rows of original and release, got different rows"
        )
    if np.count_nonzero(np.isnan(x)) != np.count_nonzero(np.isnan(z)):
        raise ArgumentError(
            f"{name} must be missing in as many rows of the original as of the release, got "
            "different numbers"
        )
    return x, z
