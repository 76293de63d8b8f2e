"""Running a recipe: check, mask, report."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from condmask import _checks
from condmask._blocks import Workers
from condmask.disclosure.boosting import check_available
from condmask.disclosure.release_check import GO_ON, ReleaseError
from condmask.disclosure.risk import risk, with_trained
from condmask.disclosure.risk_result import BEST, TRAINED
from condmask.errors import ArgumentError
from condmask.files.publish import refuse_target
from condmask.files.read import read_labels, read_numbers
from condmask.recipes.recipe import Recipe, read_recipe
from condmask.releases.mask_file import audit_file, audited_table, mask_file
from condmask.reports import charts
from condmask.reports.report import check_page, report
from condmask.strata import names_of


class RecipeResult(NamedTuple):
    """The result of a recipe.

    Attributes
    ----------
    target : Path
        The release.
    schemes : dict of str to ConditionalMasking
        As published.
    reports : tuple of Path
        The reports that were written.
    """

    target: Path
    schemes: dict[str, Any]
    reports: tuple[Path, ...]


def run_recipe(
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    workers: Workers = 1,
    progress: Callable[[int, int | None], None] | None = None,
    dry_run: bool = False,
    again: bool = False,
) -> RecipeResult:
    """Mask a file and write its reports, with every choice in a recipe.

    Parameters
    ----------
    path : path
        A TOML file with every choice of a release (docs/report.rst lists the keys). Paths in it are relative
        to its own folder.
    force : bool
        Whether existing files may be replaced.
    workers : int or map-like callable
        Results do not depend on it.
    progress : callable (rows_done, rows_total), optional
        As for `mask_file`.
    dry_run : bool
        Check and audit everything, but write nothing.
    again : bool
        Release records that were released before, as for `mask_file`.

    Returns
    -------
    RecipeResult
        The release, its schemes, and the reports.

    Raises
    ------
    FileError
        If a file cannot be read or written, or exists already.
    ValueError, TypeError
        If the recipe has an unknown key, a missing key or a wrong value, which is found before any data are
        read; if a check fails; or if the data cannot be masked. Nothing is written.
    ReleaseError
        If the release would show which records were swapped (`audit`), or a masked column has the
        values of an earlier release. Nothing is written.

    See Also
    --------
    mask_file, report : called by it.

    Notes
    -----
    A recipe has no secret key and no seed. Run again on the same file, it makes the same release, except that
    swap status, donors and noise are drawn anew: publish only one of the two.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, pandas as pd
    >>> import condmask as cm
    >>> folder = tempfile.TemporaryDirectory()
    >>> here = Path(folder.name)
    >>> income = np.random.default_rng(4).lognormal(8, 0.5, 2_000).round(2)
    >>> pd.DataFrame({"income": income}).to_csv(here / "people.csv", index=False)
    >>> recipe = here / "recipe.toml"
    >>> written = recipe.write_text('''
    ... source = "people.csv"
    ... target = "released.csv"
    ... [columns.income]
    ... p = 0.6
    ... sigma = 1000.0
    ... decimals = 2
    ... [report]
    ... public = "report.html"
    ... [checks.income]
    ... 500 = 0.45
    ... ''')
    >>> done = cm.run_recipe(recipe)
    >>> done.target.name, [page.name for page in done.reports]
    ('released.csv', ['report.html'])
    >>> folder.cleanup()
    """
    threads, recipe = _checks.workers(workers), read_recipe(path)
    _checks.called(progress, "progress")
    dry_run = _checks.truth(dry_run, "dry_run")
    reports = {
        public: page for public, page in ((False, recipe.internal), (True, recipe.public)) if page is not None
    }
    refuse_target(recipe.target, recipe.source, force=force)
    for page in reports.values():
        check_page(page, [recipe.source, recipe.target], force=force)
    if reports:
        charts.ready()
    if recipe.thorough:
        check_available()
    _check_risks(recipe)
    if recipe.thorough and not recipe.accept_visible_coins:
        _check_coins(recipe)
    release = mask_file(
        recipe.source, recipe.target, recipe.schemes, nan_policy="omit" if recipe.omit_missing else "raise",
        round=recipe.round, force=force, workers=threads, progress=progress,
        accept_visible_coins=recipe.accept_visible_coins, dry_run=dry_run, csv=recipe.csv,
        keep_metadata=recipe.keep_metadata,
        log=recipe.log, again=again,
    )  # fmt: skip
    if dry_run:
        return RecipeResult(recipe.target, release.schemes, ())
    for public, page in reports.items():
        report(
            recipe.source, recipe.target, page, public=public, d=recipe.within or None, csv=recipe.csv,
            force=force, workers=threads, thorough=recipe.thorough and not public, units=recipe.units,
        )  # fmt: skip
    return RecipeResult(recipe.target, release.schemes, tuple(reports.values()))


def _check_coins(recipe: Recipe) -> None:
    """Refuse a release in which a trained attacker could tell which records were swapped."""
    audit = audit_file(recipe.source, recipe.schemes, csv=recipe.csv, thorough=True)
    if audit.visible:
        raise ReleaseError(audit.refusal + GO_ON)


def _check_risks(recipe: Recipe) -> None:
    """Refuse a release whose best attacker would guess too many values: one who sees the masked value alone,
    or, if the recipe is thorough, one trained on all columns."""
    source, csv = recipe.source, recipe.csv
    for name, caps in recipe.checks.items():
        scheme, distances = recipe.schemes[name], list(caps)
        x = read_numbers(source, name, csv=csv)
        strata = {group: read_labels(source, group, csv=csv) for group in names_of(scheme.strata)}
        by_value = risk(x, scheme, d=distances, strata=strata or None, audit=False)
        best = by_value.attackers[BEST]
        if recipe.thorough:
            data = audited_table(source, recipe.schemes, csv)
            best = with_trained(by_value, data, name, recipe.schemes).attackers[TRAINED]
        for d, share in zip(distances, best, strict=True):
            if share > caps[d]:
                raise ArgumentError(
                    f"checks.{name} allows the best attacker to guess {caps[d]:g} of the records closer than "
                    f"{d:g}, got {share:.3f}; a larger sigma or another p lowers this (condmask plan)"
                )
