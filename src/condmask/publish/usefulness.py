"""Warn of releases of little use: noise so wide that group means and regressions are lost in it.

Both rest on pseudo-values (`linear.pseudo_values`, `reverse_mapping.pseudo_values`), which vary N
times as much as without noise. Under reverse mapping N depends on the data, and beyond 5 these
statistics are refused. With noise of variance s^2 on a column of variance V it is

    N = sqrt(1 + (1 - p) s^2 / V),

and m records tell as much of a mean as m (1 - p)^2 / N^2 unmasked ones. The publisher is warned
before anything is written if the variance is more than 5 times that without noise; the warning
names parameters that would do, each tested on the data.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from condmask.disclosure.audit import audit_table
from condmask.disclosure.policy import Finding, Limits
from condmask.disclosure.unmasked import Table, clear_of
from condmask.errors import ReleaseWarning, warn
from condmask.frames import DataFrame
from condmask.inference.interval import UndefinedError
from condmask.linear.records import Records
from condmask.masking.ends import aggregate
from condmask.masking.reverse_mapping import ReverseMappingScheme
from condmask.masking.swap_scheme import SwapScheme
from condmask.reverse_mapping.pseudo_values import (
    MAX_VARIATION,
    MAX_VARIATION_UNWARNED,
    MIN_MAPPED_RECORDS,
    ReverseMapped,
)
from condmask.strata import values_by_pool

WIDE_NOISE = "C23"  # the code of the finding
MAX_VARIANCE_FACTOR = 5.0  # N^2; a larger one gets a warning
# largest N of schemes that are suggested, the more useful one first
MAX_SUGGESTED_N = (MAX_VARIATION_UNWARNED, float(np.sqrt(MAX_VARIANCE_FACTOR)))
EXAMPLE_RECORDS = 1_000  # masked ones, which the message compares with unmasked ones
SIGMA_HALVINGS = 14  # of the interval that holds sigma: to less than its second digit
MIN_SIGMA_FACTOR = 1e-3  # the lower end of that interval, in units of sigma


class UnmaskedRelease(NamedTuple):
    """A release before it is masked.

    Attributes
    ----------
    table : Table
        The columns to be masked, and their donor pools.
    frame : data frame or dict of columns
        The table with the columns in clear.
    schemes : dict of str to scheme
    limits : Limits or None
        What a release may show; None where it is not audited.
    chosen : bool
        Whether the schemes were chosen for names of columns.
    """

    table: Table
    frame: DataFrame
    schemes: dict[str, SwapScheme]
    limits: Limits | None
    chosen: bool


def warn_of_use(release: UnmaskedRelease) -> None:
    """Warn of each column of which hardly any group mean or regression could be estimated.

    A publisher who accepts the code of this finding is not warned.
    """
    if release.limits is not None and WIDE_NOISE in release.limits.accepted:
        return
    schemes = release.schemes
    table = release.table
    variation = {name: variation_of(table, name, scheme) for name, scheme in schemes.items()}
    wide = {name: times for name, times in variation.items() if times**2 > MAX_VARIANCE_FACTOR}
    if not wide:
        return
    with_clear = table._replace(clear=clear_of(release.frame, table.values))
    remedy = _remedy(release._replace(table=with_clear), list(wide))
    for name, times in wide.items():
        finding = Finding(WIDE_NOISE, name, _loss(times, schemes[name]), remedy[name])
        warn(str(finding), ReleaseWarning, about=name)


def variation_of(table: Table, name: str, scheme: SwapScheme) -> float:
    """Return N, the factor by which pseudo-values vary more than without noise.

    Of several donor pools, the largest N counts. It is infinite if reverse mapping cannot be
    undone, and 1 for a column or pool too small to say.
    """
    x = table.values[name]
    law = scheme.law
    if law is not None:
        variance = float(np.nanvar(x))
        return float(np.sqrt(1.0 + (1.0 - law.p) * law.variance / variance)) if variance else 1.0
    if not isinstance(scheme, ReverseMappingScheme):
        return 1.0
    if min(values.size for _, values in values_by_pool(x, table.pool)) < MIN_MAPPED_RECORDS:
        return 1.0  # the guard rails refuse such pools
    released = x.astype(np.float64)
    if scheme.aggregate_ends:
        aggregate(released, table.pool, scheme.aggregate_ends)
    try:
        return ReverseMapped(Records(released, table.pool), scheme).variation
    except UndefinedError:
        return np.inf


def _loss(times: float, scheme: SwapScheme) -> str:
    """Say what analysts lose with a column, as a part of a sentence."""
    lost = "no group mean and no regression can be estimated from this"
    much = f"{times:.1f} times as much as" if np.isfinite(times) else "without bound, and not as"
    vary = f"its pseudo-values vary {much} without noise"
    if scheme.law is None and times > MAX_VARIATION:
        return f"{lost}: {vary}, of which at most {MAX_VARIATION:g} times can be undone"
    worth = EXAMPLE_RECORDS * (1.0 - scheme.p) ** 2 / times**2
    return (
        f"{lost}, unless of very many records: {vary}, and {EXAMPLE_RECORDS:,} of them tell as "
        f"much of a mean as {worth:.2g} unmasked ones"
    )


# --- parameters under which the release would be useful ---


def _remedy(release: UnmaskedRelease, wide: Sequence[str]) -> dict[str, str]:
    """Return by column the parameters to pass instead.

    With all of them together the release is useful and passes the audit.
    """
    for max_n in MAX_SUGGESTED_N:
        schemes = _narrowed(release, wide, max_n)
        if _passes(release, schemes):
            return {name: _remedy_of_column(release, schemes, name) for name in wide}
    for name, max_n in product(
        release.schemes if len(release.schemes) > 1 else (), MAX_SUGGESTED_N
    ):
        alone = _only(release, name)
        schemes = _narrowed(alone, [name], max_n)
        if _passes(alone, schemes):
            others = ", ".join(other for other in release.schemes if other != name)
            remedy = (
                f"narrower noise is refused for these columns together: drop {others}, "
                f"{_call(schemes)}"
            )
            return dict.fromkeys(wide, remedy)
    return dict.fromkeys(
        wide, "narrower noise is refused: release fewer columns that tell of each other"
    )


def _narrowed(
    release: UnmaskedRelease, names: Sequence[str], max_n: float
) -> dict[str, SwapScheme]:
    """Return the schemes, with the largest sigma of two digits for which N is at most `max_n`.

    Only the schemes of the columns `names` are changed.
    """
    schemes = dict(release.schemes)
    for name in names:
        scheme = release.schemes[name]
        table = release.table
        if variation_of(table, name, scheme) <= max_n:
            continue
        low = np.log(MIN_SIGMA_FACTOR * scheme.sigma)
        high = np.log(scheme.sigma)
        for _ in range(SIGMA_HALVINGS):
            middle = 0.5 * (low + high)
            if variation_of(table, name, with_sigma(scheme, float(np.exp(middle)))) <= max_n:
                low = middle
            else:
                high = middle
        schemes[name] = with_sigma(scheme, _rounded_down(float(np.exp(low))))
    return schemes


def with_sigma(scheme: SwapScheme, sigma: float) -> SwapScheme:
    """Return the scheme with another sigma; a default step becomes the default of that sigma."""
    grid = {"step": None} if scheme.rounds else {}
    return scheme.with_parameters(sigma=sigma, **grid)


def _rounded_down(value: float) -> float:
    """Return the largest number of two digits that is not larger."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 1.0)
    return float(f"{np.floor(value / unit * (1.0 + 1e-9)) * unit:.2g}")


def _passes(release: UnmaskedRelease, schemes: Mapping[str, SwapScheme]) -> bool:
    """Return whether the audit would accept these schemes."""
    limits = release.limits
    return limits is None or not audit_table(release.table, dict(schemes), limits).refused


def _only(release: UnmaskedRelease, name: str) -> UnmaskedRelease:
    """Return the release with one of its masked columns alone."""
    table = release.table._replace(values={name: release.table.values[name]})
    return release._replace(table=table, schemes={name: release.schemes[name]})


def _remedy_of_column(
    release: UnmaskedRelease, schemes: Mapping[str, SwapScheme], name: str
) -> str:
    """Return which parameters to pass for a column."""
    if release.chosen:
        return _call(schemes)
    sigma = f"{schemes[name].sigma:g}"
    return f"pass sigma={sigma} for {name}" if len(schemes) > 1 else f"pass sigma={sigma}"


def _call(schemes: Mapping[str, SwapScheme]) -> str:
    """Return the remedy with all schemes as Python code."""
    full = ", ".join(f"{name!r}: cm.{scheme!r}" for name, scheme in schemes.items())
    return f"pass {{{full}}}"
