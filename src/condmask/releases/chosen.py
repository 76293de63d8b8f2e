"""Schemes for columns that are named and nothing else: chosen for their data, before a release is begun."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from condmask import _checks
from condmask.disclosure.audit import table_of
from condmask.disclosure.choose import Choice, choose, widened
from condmask.disclosure.rails import AUTO, settled
from condmask.errors import ArgumentTypeError
from condmask.releases.job import Job
from condmask.schemes.conditional import ConditionalMasking
from condmask.strata import not_masked

LOG = logging.getLogger(__name__)


def names_alone(schemes: Any) -> tuple[str, ...]:
    """The columns to mask, where only their names are given; none where their schemes are."""
    if isinstance(schemes, Mapping):
        return ()
    if not isinstance(schemes, str | list | tuple):
        raise ArgumentTypeError(
            f"schemes must be a dict of schemes by column, or names of columns, got {_checks.shown(schemes)}"
        )
    names = _checks.names([schemes] if isinstance(schemes, str) else schemes, "schemes")
    _checks.require(bool(names), "schemes must name at least one column", schemes)
    return names


def chosen_for(frame: Any, names: Sequence[str], strata: Any) -> dict[str, Choice]:
    """Schemes for columns of a table; missing values are left out, small strata merged."""
    groups = not_masked(strata, names)
    of = partial(ConditionalMasking, strata=groups, small_strata="merge") if groups else ConditionalMasking
    table = table_of(frame, {name: of(0.6, 1.0, reverse_mapping=True) for name in names})
    found = widened(table, choose(table, names, of))
    for name, choice in found.items():
        LOG.info("%s: %s", name, choice)
    return found


def settled_for(job: Job, frame_of: Callable[[], Any]) -> Job:
    """The job with numbers in place of aggregate_ends="auto", as a table needs them."""
    if all(getattr(scheme, "aggregate_ends", 0) != AUTO for scheme in job.schemes.values()):
        return job
    schemes = settled(table_of(frame_of(), job.schemes), job.schemes)
    LOG.info("aggregate_ends: %s", [scheme.aggregate_ends for scheme in schemes.values()])
    return job._replace(schemes=schemes)
