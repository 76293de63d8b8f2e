"""Write the report of a release: one HTML file, for the publisher or for everybody."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks
from condmask._digits import number
from condmask.disclosure.risk_result import ATTACKERS
from condmask.errors import ArgumentError, FileError, optional
from condmask.files.about import digest_of
from condmask.files.csv_text import CsvFormat
from condmask.files.publish import refuse_target, write_whole
from condmask.publish.read import read_release
from condmask.publish.release import Release
from condmask.publish.stages import originals
from condmask.reports.alignment import OriginalData

LOG = logging.getLogger(__name__)
REPORT_SUFFIXES = (".html", ".htm")
# distances of all columns, or by column
GivenDistances = ArrayLike | Mapping[str, ArrayLike] | None


def report(
    release: Release | str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    original: OriginalData | str | os.PathLike[str] | None = None,
    d: GivenDistances = None,
    units: Mapping[str, str] | None = None,
    csv: CsvFormat | None = None,
    force: bool = False,
    workers: int = 1,
    match: str | None = None,
) -> None:
    """Write the report of a release: one HTML file that needs no network and runs no scripts.

    Parameters
    ----------
    release : Release or path
        What `mask_table`, `mask_file` or `read_release` returned, or a file that was released,
        masked by `ConditionalMasking` or `ReverseMapping`.
    path : path
        The report, which ends in .html or .htm.
    original : path, data frame or dict of columns, optional
        The original data, for an *internal* report, which is as confidential as these. By default
        the report is *public*: it is made from the release alone.
    d : float, sequence of float, or dict of them by column, optional
        Distances at which risks are reported, in the units of the data, as for `risk`.
    units : dict of str to str, optional
        Units of masked columns, ``{"income": "euros a month"}``, shown with figures and on the
        axes of pictures.
    csv : CsvFormat, optional
        The format of the original, as for `mask_file`.
    force : bool
        Whether an existing file may be replaced.
    workers : int
        For the estimates of a released file; results do not depend on it.
    match : str, optional
        A column in clear with a different value in each record, by which rows of original and
        release are matched. Without it they are taken to be in the same order; the rows of a
        shuffled release are then not matched, and its report compares distributions and relations,
        gives the risk to be expected, and says so.

    Raises
    ------
    FileError
        If a file cannot be read or written, or the report exists.
    ValueError, TypeError
        If the release holds no scheme, or one of another method; if the original has other rows,
        or other missing ones; if its index has the labels of the release in another order, and
        `match` is not given; if `match` repeats a value, or has others in the original. Nothing is
        written.
    ModuleNotFoundError
        If matplotlib or Jinja2 is not installed.

    See Also
    --------
    audit, risk : the figures of attackers in an internal report.
    plot_release : a picture for the publisher.

    Notes
    -----
    An internal report holds figures of the original and its hash. A public report is made without
    the original, a hash of which would confirm a guessed file. The same files give the same
    report, byte by byte.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> folder = tempfile.TemporaryDirectory()
    >>> here = Path(folder.name)
    >>> income = np.random.default_rng(1).lognormal(8, 0.5, 2_000).round(2)
    >>> people = pd.DataFrame({"income": income})
    >>> release = cm.mask_table(people, {"income": cm.ConditionalMasking(0.6, 1000.0, decimals=2)})
    >>> cm.report(release, here / "public.html")
    >>> cm.report(release, here / "internal.html", original=people, d=[250, 500])
    >>> ["knows who was swapped" in (here / name).read_text() for name in ("public.html", "internal.html")]
    [False, True]
    >>> folder.cleanup()
    """
    made = release if isinstance(release, Release) else read_release(release, workers=workers)
    out = _checks.path(path, "path")
    file = Path(original) if isinstance(original, str | os.PathLike) else None
    if out.suffix.lower() not in REPORT_SUFFIXES:
        raise ArgumentError(f"path must end in one of {', '.join(REPORT_SUFFIXES)}, got {out}")
    others = {each.resolve() for each in (made.path, file) if each is not None}
    if {out.resolve(), *out.resolve().parents} & others:
        raise FileError(
            f"path must stand outside of the files and folders that it reports on, got {out}"
        )
    refuse_target(out, None, force=_checks.boolean(force, "force"))
    rule = "match must be left out of a public report, which needs no original"
    _checks.require(match is None or original is not None, rule, match)
    with optional("a report", "plot"):
        page = _template()
        from condmask.reports import view
    shown = view.View(made, _units(units, made))
    facts: dict[str, Any] = {"view": shown, "internal": None, "original": None, "who": ATTACKERS}
    if original is None:
        facts["columns"] = [shown.column(name) for name in shown.schemes]
    else:
        numbers = [*shown.schemes]
        # columns in clear are those of the original, too
        if match is None and made.shuffled:
            numbers += shown.numbers
        table = original if file is None else originals(file, csv).table(numeric=numbers)
        facts["columns"], facts["internal"] = view.internal(shown, table, d, match)
        facts["original"] = (
            None if file is None else {"name": file.name, "digest": digest_of(file)}
        )
    write_whole(out, page.render(facts).encode())
    LOG.info("wrote %s", out)


def _units(units: Mapping[str, str] | None, release: Release) -> dict[str, str]:
    """Check the units of masked columns, and return them by column."""
    with _checks.converting(units, "units", "a dict of columns and their units"):
        by_column = {name: str(unit) for name, unit in dict(units or {}).items()}
    for name in by_column:
        rule = f"units must be of the masked columns {_checks.listed([*release.schemes])}"
        _checks.require(name in release.schemes, rule, name)
    return by_column


def _template() -> Any:
    """Return the template of the page, which escapes everything except the pictures."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("condmask.reports", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        extensions=["jinja2.ext.do"],
    )
    environment.filters.update(number=_number_text, share=_percent_text, statistic=_statistic_text)
    return environment.get_template("page.html.j2")


def _number_text(value: float, error: float | None = None) -> str:
    """Return a number in words, with a true minus."""
    return "unknown" if np.isnan(value) else number(float(value), error).replace("-", "\u2212")


def _percent_text(value: float) -> str:
    """Return a share in percent, "" if it is NaN."""
    return "" if np.isnan(value) else f"{100.0 * value:.1f}%"


def _statistic_text(name: str) -> str:
    """Return the name of a statistic for readers."""
    if name.startswith("quantile "):
        share = 100.0 * float(name.removeprefix("quantile "))
        return "median" if share == 50.0 else f"{share:g}% lie at or below"
    return "standard deviation" if name == "s.d." else name
