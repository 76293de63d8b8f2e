"""The check before anything is released: a release that shows which records were swapped is refused."""

from collections.abc import Sequence
from typing import Any

from condmask.audit_input import AuditInput
from condmask.disclosure import guard_rails
from condmask.disclosure.audit import check
from condmask.disclosure.audit_result import FEWEST, Audit, too_few
from condmask.disclosure.guard_rails import Verdict
from condmask.disclosure.long_columns import count_present
from condmask.disclosure.remedies import reverse_mapping
from condmask.errors import CondmaskError, Refusals, warn
from condmask.visible_grid import shown_digits

POOLED = "donors must be 'permutation' with strata or patterns of gaps, got 'sample': intervals were too long"
GO_ON = "; --accept-visible-coins (accept_visible_coins=True) releases it anyway"


class ReleaseWarning(UserWarning):
    """The release shows more than it should; the message says what to do."""


class ReleaseError(CondmaskError, ValueError):
    """The release would show which records were swapped; the message says what to do. Nothing is released."""


def check_release(data: AuditInput, schemes: dict[str, Any], *, to_file: bool = False) -> None:
    """Refuse a release that shows which records were swapped, and warn of what else it shows.

    Digits that noise cannot produce are looked for in all rows, everything else only if a brief look leaves a
    doubt. If there are too few records to judge, there is a warning, and no file is written. Donors that
    several records share are refused in pools: the errors of estimates would be those of one pool.
    """
    if data.strata is not None and data.strata.max() > 0 and next(iter(schemes.values())).shared_donors:
        raise ReleaseError(POOLED + GO_ON)
    if next(iter(schemes.values())).reverse_mapping:
        _apply_verdicts(guard_rails.review_clear(data), guard_rails.review(data, schemes))
        audit = check(data, schemes)
        if audit is not None and audit.visible:
            raise ReleaseError(audit.refusal + GO_ON)
        _warn_of_identifiers(data.identifiers)
        return
    for name, scheme in schemes.items():
        shown = shown_digits(scheme, data.values[name], name, data.kinds[name])
        if shown is not None:
            better = reverse_mapping(data, schemes)
            remedies = [*([] if better is None else [better.remedy]), shown[1]]
            raise ReleaseError(f"{shown[0]}; {'; or '.join(remedies)}{GO_ON}")
    n = max(map(count_present, data.values.values()))
    if n < FEWEST:
        for name, scheme in schemes.items():  # errors in the data come first
            scheme.canonical(data.values[name], name, data.kinds[name])
        if to_file:
            refuse_few(n)
        warn(too_few(n), ReleaseWarning)
        return
    audit = check(data, schemes)
    if audit is not None:
        apply_audit(audit)
    _warn_of_identifiers(data.identifiers)


def refuse_few(n: int) -> None:
    """Refuse to write a file of so few records."""
    if n < FEWEST:
        raise ReleaseError(
            f"{too_few(n)}, and a file must have at least {FEWEST}; reverse_mapping=True needs only groups "
            f"of 50 or more, and has guard rails of its own{GO_ON}"
        )


def apply_audit(audit: Audit) -> None:
    """Refuse a release, or warn of it, as the audit says."""
    if audit.visible:
        raise ReleaseError(audit.refusal + GO_ON)
    for sentence in audit.warnings:
        warn(sentence, ReleaseWarning)


def _warn_of_identifiers(names: Sequence[str]) -> None:
    """Warn of columns in clear that may be names, or numbers, of persons."""
    if names:
        every = "a different value in every record examined, released unmasked; drop what identifies persons"
        warn(f"{', '.join(names)}: {every}", ReleaseWarning)


def _apply_verdicts(*verdicts: Verdict) -> None:
    """Refuse a release by reverse mapping, or warn of it, as the guard rails say."""
    refusals = Refusals()
    for sentence in (sentence for verdict in verdicts for sentence in verdict.refusals):
        with refusals.collected():
            raise ReleaseError(sentence + GO_ON)
    refusals.raise_all()
    for verdict in verdicts:
        for sentence in verdict.warnings:
            warn(sentence, ReleaseWarning)
