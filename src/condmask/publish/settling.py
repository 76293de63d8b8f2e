"""Settle all that a release is refused for, step by step, until it passes.

Each refusal carries the change that its message names (`condmask.changes`). With ``fix=True``
these changes are made and the release is tried again, so that one call does what a publisher would
do by hand. Nothing is accepted, and nothing that only people can decide is decided: a target that
exists, values that were released before, a table of too few records.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from condmask import _checks
from condmask.changes import Change
from condmask.disclosure.policy import CODES, EVERYTHING
from condmask.errors import (
    CondmaskError,
    ReleaseWarning,
    collect_warnings,
    warn,
    warn_once_each,
)
from condmask.missing_codes import GivenCodes, codes_in_words

MAX_ATTEMPTS = 12  # each settles all that is seen by then
# warnings that are settled as well: columns that may name persons
SETTLED_TOO = frozenset({"C20"})
Made = TypeVar("Made")


class Settings(NamedTuple):
    """The arguments of a release that a change may touch, as given to `mask_table`."""

    schemes: Any
    strata: Any = None
    drop: tuple[str, ...] = ()
    shuffle: bool = False
    rare_gaps: str = "refuse"
    missing: GivenCodes = ()
    nan_policy: str = "raise"

    @property
    def by_name(self) -> bool:
        """Return whether columns are given by their names alone."""
        return isinstance(self.schemes, str | list | tuple)

    @property
    def names(self) -> list[str]:
        """Return the masked columns."""
        return [self.schemes] if isinstance(self.schemes, str) else [*self.schemes]

    def changed(self, change: Change) -> "Settings":
        """Return the settings with a change."""
        found = self
        if self.by_name and not (change.schemes and not change.mask):
            names = [*self.names, *change.mask]
            found = found._replace(schemes=[name for name in names if name not in change.drop])
        elif change.schemes:  # with the strata and the codes of the call
            omit = "omit" if self.by_name else self.nan_policy
            found = found._replace(
                schemes=dict(change.schemes), strata=None, missing=(), nan_policy=omit
            )
        if change.no_strata:
            found = found._replace(strata=None)
            if not found.by_name:
                plain = {name: replace(of, strata=None) for name, of in found.schemes.items()}
                found = found._replace(schemes=plain)
        missing = found.missing if isinstance(found.missing, tuple | list) else (found.missing,)
        new_codes = tuple(code for code in change.missing if code not in missing)
        if new_codes and not found.by_name:
            declared = {
                name: replace(of, missing=(*of.missing, *new_codes))
                for name, of in found.schemes.items()
            }
            found = found._replace(schemes=declared)
        elif new_codes:
            found = found._replace(missing=(*missing, *new_codes))
        return found._replace(
            drop=(*self.drop, *(name for name in change.drop if name not in self.drop)),
            shuffle=self.shuffle or change.shuffle,
            rare_gaps="drop" if change.rare_gaps else self.rare_gaps,
            nan_policy="omit" if change.omit else found.nan_policy,
        )


class Step(NamedTuple):
    """A change that was made to settle refusals.

    Attributes
    ----------
    text : str
        The change and its cost, without the reason.
    reasons : tuple of str
        The refusals that it settles.
    """

    text: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.text} ({'; '.join(self.reasons)})"


def settle(
    settings: Settings,
    attempt: Callable[[Settings, tuple[str, ...]], Made],
    said: Callable[[Step], object] = lambda _: None,
) -> tuple[Made, Settings, tuple[Step, ...]]:
    """Try a release, and make the changes that its refusals name until it passes.

    Parameters
    ----------
    settings : Settings
    attempt : callable (settings, texts of the steps so far)
        Tries a release, and raises all that is refused at its stage.
    said : callable (step)
        Called with each step as soon as it is decided.

    Returns
    -------
    tuple
        What the last attempt returned, its settings, and the steps.

    Raises
    ------
    CondmaskError
        As of the attempt, if there is a refusal that no change settles.
    """
    steps: tuple[Step, ...] = ()
    while True:
        try:
            with warn_once_each(), collect_warnings(ReleaseWarning) as warnings:
                made = attempt(settings, tuple(step.text for step in steps))
        except CondmaskError as error:
            refusals = error.reasons or (error,)
            changes = [each.change for each in refusals]
            if len(steps) >= MAX_ATTEMPTS or any(each is None for each in changes):
                raise
            before = settings
            for change in dict.fromkeys(repr(each) for each in changes):
                reasons = [e for e in refusals if repr(e.change) == change]
                one = reasons[0].change
                if one is None:
                    continue
                settings = settings.changed(one)
                step = Step(in_past(one, before), tuple(_reason(str(each)) for each in reasons))
                steps = (*steps, step)
                said(step)
            if settings == before:  # the same would be refused again
                raise
            continue
        for text in dict.fromkeys(warnings):
            warn(text, ReleaseWarning, about=text)
        return made, settings, steps


def in_past(change: Change, before: Settings) -> str:
    """Return a change that was made, and its cost, in words."""
    words = []
    if change.drop:
        words.append(f"{_checks.listed([*change.drop])} not released")
    if change.mask and before.by_name:
        others = " and ".join(before.names)
        words.append(
            f"{_checks.listed([*change.mask])} masked as well: relations with {others} have "
            "estimates without intervals"
        )
    elif change.schemes:
        words += [
            f"{name} masked by {of!r}"
            for name, of in change.schemes.items()
            if before.by_name or before.schemes.get(name) != of
        ]
    if change.shuffle:
        words.append("rows in a new order, which nobody can undo")
    if change.rare_gaps:
        words.append("records with rare gaps left out")
    if change.no_strata:
        words.append("donors from all strata")
    if change.missing:
        words.append(f"{codes_in_words(change.missing)} taken for missing values")
    if change.omit:
        words.append("missing values left missing")
    return "; ".join(words)


def _reason(text: str) -> str:
    """Return a refusal without the argument that would accept it."""
    return text.partition("; accept=")[0]


def in_order(accepted: frozenset[str] | None) -> tuple[str, ...]:
    """Return accepted codes in the order of the table of codes; None stands for all."""
    if accepted is None:
        return (EVERYTHING,)
    return tuple(code for code in CODES if code in accepted)
