"""The report of a release: one HTML file, for the publisher or for everybody."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from condmask import _checks
from condmask._blocks import Workers
from condmask.disclosure.boosting import check_available
from condmask.errors import ArgumentError, ArgumentTypeError, FileError
from condmask.files.csv_text import CsvFormat
from condmask.files.publish import publishing, refuse_target
from condmask.reports import charts, disclaimers, html, internal_sections, public_sections
from condmask.reports.html import section
from condmask.reports.original import Original, compared
from condmask.reports.release_view import ReleaseView
from condmask.reports.verdict import Finding, approval, verdict_section

LOG = logging.getLogger(__name__)

SUFFIXES = (".html", ".htm")
PARTS = (0.25, 0.5, 1.0)  # of sigma: distances where none are given


def report(
    source: str | os.PathLike[str] | None,
    release: str | os.PathLike[str],
    path: str | os.PathLike[str],
    *,
    public: bool = False,
    d: Any = None,
    csv: CsvFormat | None = None,
    force: bool = False,
    workers: Workers = 1,
    thorough: bool = False,
    units: Mapping[str, str] | None = None,
) -> None:
    """Write the report of a release: one HTML file that needs no network and runs no scripts.

    Parameters
    ----------
    source : path or None
        The original that the release was made of. A public report does not open it: None will do.
    release : path
        What `mask_file` or `Release.write` wrote, by `ConditionalMasking`.
    path : path
        The report, which ends in .html or .htm.
    public : bool
        Leave out whatever is computed from the original. What remains is told by the release alone: the
        scheme, estimates with their intervals, what can be computed, what is not promised.
    d : float, sequence of float, or dict of them by column, optional
        Distances at which risks are told, in the units of the data. By default a quarter, half and all of
        sigma; on the log scale of sigma times the median as it is estimated. A public report has no risks.
    csv : CsvFormat, optional
        How the original is written, as for `mask_file`.
    force : bool
        Whether an existing file may be replaced.
    workers : int or map-like callable
        Results do not depend on it.
    thorough : bool
        Whether attackers are trained for an internal report, as for `audit` and `risk`.
    units : dict of str to str, optional
        What the values of masked columns are counted in, ``{"income": "euros a month"}``: it stands beside
        figures and on the axes of pictures.

    Raises
    ------
    FileError
        If a file cannot be read or written, or the report exists.
    ValueError, TypeError
        If the release holds no scheme, or one of another method; if the original has other rows, or other
        missing ones. Nothing is written.
    ModuleNotFoundError
        If matplotlib is not installed, or scikit-learn where `thorough` is True.

    See Also
    --------
    mask_file : makes the release.
    audit, release_risk, record_risk, record_linkage, uniques : what an internal report tells of risk.

    Notes
    -----
    An internal report holds raw figures of the original, hashes of both files and numbers of records: it is
    as confidential as the original. A public report says nothing that the release does not tell; it is made
    without the original, a hash of which would confirm a guessed file. The same files give the same report,
    byte by byte.

    Of large files some attackers are tried on evenly spaced records, as `release_risk` says, and 65,536 are
    looked at one by one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> folder = tempfile.TemporaryDirectory()
    >>> here = Path(folder.name)
    >>> income = np.random.default_rng(1).lognormal(8, 0.5, 2_000).round(2)
    >>> pd.DataFrame({"income": income}).to_parquet(here / "people.parquet")
    >>> scheme = cm.ConditionalMasking(0.6, 1000.0, decimals=2)
    >>> released = here / "released.parquet"
    >>> release = cm.mask_file(here / "people.parquet", released, {"income": scheme})
    >>> cm.report(here / "people.parquet", released, here / "internal.html", d=[250, 500])
    >>> cm.report(None, released, here / "public.html", public=True)
    >>> "SHA-256 of the original" in (here / "internal.html").read_text()
    True
    >>> "SHA-256 of the original" in (here / "public.html").read_text()
    False
    >>> folder.cleanup()
    """
    threads = _checks.workers(workers)
    original = None if source is None else _checks.path(source, "source")
    released, out = _checks.path(release, "release"), _checks.path(path, "path")
    check_page(out, [released, *([] if original is None else [original])], force=force)
    public, thorough = _checks.truth(public, "public"), _checks.truth(thorough, "thorough")
    distances = None if d is None else _distances(d)
    if original is None and not public:
        raise ArgumentError("source must be the original where public is False, got None")
    if thorough:
        check_available()
    charts.ready()
    view = ReleaseView(released, threads, _units(units))
    for argument, by_column in (("d", distances), ("units", units)):
        for name in by_column or ():
            if name is not None and name not in view.schemes:
                raise ArgumentError(
                    f"{argument} must be of the masked columns {_checks.listed(list(view.schemes))}, got "
                    f"{name!r}"
                )
    if public:
        text = public_page(view)
    else:
        assert original is not None
        text = internal_page(view, Original(original, view, csv, thorough=thorough), distances)
    with publishing(out) as hidden:
        hidden.write_text(text, encoding="utf-8")
    LOG.info("wrote %s", out)


def public_page(view: ReleaseView) -> str:
    """What the release tells; the original is not even known here."""
    means = [public_sections.mean_sentence(view, name) for name in view.schemes]
    first = next(iter(view.schemes.values()))
    columns = [
        section(html.name(name), public_sections.distribution_section(view, name)) for name in view.schemes
    ]
    return html.page(
        html.join(["About the data in ", html.name(view.path.name)]),
        disclaimers.public_opening(
            list(view.schemes), [mean for mean in means if mean is not None],
            reverse_mapping=view.reverse_mapping, exact=not first.aggregate_ends,
        ),
        disclaimers.public_notice(view.path.name),
        disclaimers.what_can_be_computed(
            view.file, next(iter(view.schemes)), reverse_mapping=view.reverse_mapping
        ),
        *columns, public_sections.notes(view),
        disclaimers.not_promised(reverse_mapping=view.reverse_mapping),
        public_sections.facts_section(view),
        public_sections.scheme_section(view),
        public_sections.equations_section(view),
    )  # fmt: skip


def internal_page(view: ReleaseView, original: Original, d: dict[str | None, list[float]] | None) -> str:
    """All of it, for those who may read the original."""
    audit, findings, columns = original.audit(), {}, []
    for name, scheme in view.schemes.items():
        estimates = view.estimates(name, "file")
        column = original.column(name, list(estimates), _distances_of(view, name, d))
        exact = view.reverse_mapping and not scheme.aggregate_ends
        findings[name] = Finding(column, compared(estimates, column, exact=exact))
        columns.append(
            section(
                html.name(name),
                html.tag("h3", "What attackers learn"),
                internal_sections.risk_section(view, name, column),
                html.tag("h3", "What analysts learn of the file"),
                internal_sections.utility(view, name, findings[name].compared, column),
                html.tag("h3", "What analysts learn of the population"),
                public_sections.estimate_table(view, name, correlations=False),
            )
        )
    return html.page(
        html.join(["Internal report on the release ", html.name(view.path.name)]),
        disclaimers.internal_notice(),
        verdict_section(view, audit, findings, original.told_by_originals()),
        approval(),
        public_sections.scheme_section(view),
        internal_sections.audit_section(audit, view, original),
        *columns, internal_sections.linkage_section(original), public_sections.notes(view),
        disclaimers.not_promised(reverse_mapping=view.reverse_mapping),
        public_sections.facts_section(view, internal_sections.facts(original)),
        public_sections.equations_section(view),
    )  # fmt: skip


def check_page(out: Path, others: list[Any], *, force: Any) -> None:
    """Refuse a file that a report may not go to."""
    if out.suffix.lower() not in SUFFIXES:
        raise ArgumentError(f"path must end in one of {', '.join(SUFFIXES)}, got {out}")
    for other in map(Path, others):
        if out.resolve() == other.resolve():
            raise FileError(f"path must be another file than those it reports on, got {out}")
        if other.resolve() in out.resolve().parents:
            raise FileError(f"path must stand outside of the folders it reports on, got {out}")
    refuse_target(out, None, force=_checks.truth(force, "force"))


def _units(units: Any) -> dict[str, str]:
    """Units by column."""
    by_column = dict(units) if isinstance(units, Mapping) else units
    if by_column is None:
        return {}
    if not isinstance(by_column, dict) or not all(isinstance(unit, str) for unit in by_column.values()):
        raise ArgumentTypeError(
            f'units must be a dict of columns and their units, {{"income": "euros"}}, got '
            f"{_checks.shown(units)}"
        )
    return by_column


def _distances(d: Any) -> dict[str | None, list[float]]:
    """Distances by column; those under None are for all others."""
    by_column: dict[Any, Any] = dict(d) if isinstance(d, Mapping) else {None: d}
    distances = {}
    for name, values in by_column.items():
        argument = "d" if name is None else f"d for {name!r}"
        distances[name] = sorted(set(_checks.distances(values, argument).ravel().tolist()))
        if not distances[name]:
            raise ArgumentError(f"{argument} must hold at least one distance, got none")
    return distances


def _distances_of(view: ReleaseView, name: str, d: dict[str | None, list[float]] | None) -> list[float]:
    """The distances for a column."""
    if d is not None and (name in d or None in d):
        return d.get(name) or d[None]
    scheme, unit = view.schemes[name], 1.0
    if scheme.scale == "log":
        unit = abs(float(view.release[name].quantile(0.5))) or 1.0
    return [float(f"{part * scheme.sigma * unit:.3g}") for part in PARTS]
