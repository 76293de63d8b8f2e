"""Before anything is released: are the coins hidden? A release that would show them is refused."""

from typing import Any

from condmask._warn import warn
from condmask.disclosure import guard_rails
from condmask.disclosure.audit import check
from condmask.disclosure.audit_input import AuditInput
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.remedies import reverse_mapping
from condmask.grids import shown_digits

GO_ON = "; --accept-visible-coins (accept_visible_coins=True) goes on"


class ReleaseWarning(UserWarning):
    """The release shows more than it should; the message says what to do."""


class ReleaseError(ValueError):
    """The release would show which records were swapped; the message says what to do. Nothing is released."""


def check_release(data: AuditInput, schemes: dict[str, Any]) -> None:
    """Refuse a release whose coins are visible, and warn of what else it shows.

    Digits that no noise has are looked at in all rows, everything else where a brief look leaves a doubt.
    """
    if next(iter(schemes.values())).reverse_mapping:
        _say_of_rails(guard_rails.review(data, schemes), guard_rails.review_clear(data))
        return
    for name, scheme in schemes.items():
        shown = shown_digits(scheme, data.values[name], name, data.kinds[name])
        if shown is not None:
            better = reverse_mapping(data, schemes)
            remedies = [*([] if better is None else [better.remedy]), shown[1]]
            raise ReleaseError(f"{shown[0]}; {'; or '.join(remedies)}{GO_ON}")
    found = check(data, schemes)
    if found is not None:
        say(found)


def _say_of_rails(*found: tuple[str | None, list[str]]) -> None:
    """Refuse or warn of a release by reverse mapping."""
    for refusal, _ in found:
        if refusal is not None:
            raise ReleaseError(refusal + GO_ON)
    for _, told in found:
        for text in told:
            warn(text, ReleaseWarning)


def check_beside(data: AuditInput, schemes: dict[str, Any]) -> None:
    """Warn of columns left in clear that give a masked one away; refuse where they show the coins."""
    if next(iter(schemes.values())).reverse_mapping:
        _say_of_rails(guard_rails.review_clear(data))
        return
    found = check(data, schemes)
    if found is not None:
        relations = tuple(cause for cause in found.causes if cause.name in ("copy", "identity", "relation"))
        if any(cause.name != "copy" for cause in relations) and found.visible:
            raise ReleaseError(found.refusal + GO_ON)
        for cause in relations:
            warn(f"{cause.text}; {cause.remedy}", ReleaseWarning)


def say(found: Audit) -> None:
    """Refuse or warn, as an audit has it."""
    if found.visible:
        raise ReleaseError(found.refusal + GO_ON)
    for text in found.warnings:
        warn(text, ReleaseWarning)
