"""What columns reveal about each other, in words: identities, copies in clear, and related pairs."""

from condmask.disclosure.causes import COMPUTED, Cause, tells
from condmask.disclosure.identity import Identity
from condmask.disclosure.inequalities import Inequality
from condmask.disclosure.relations import Copy


def of_copy(copy: Copy) -> Cause:
    """The cause that a column in clear repeats a masked one, or follows it."""
    if copy.ordered:
        return Cause(
            COMPUTED, copy.share, f"leave {copy.clear!r} out",
            f"{copy.clear!r} is left in clear and {copy.how}: both put the records in the same order, so "
            f"{copy.masked!r} can be computed", copy.masked,
        )  # fmt: skip
    return Cause(
        "copy", copy.share, f"mask {copy.clear!r} together with {copy.masked!r}, or drop {copy.clear!r}",
        f"{copy.clear!r} is left in clear and {copy.how}: it gives much of {copy.masked!r} away",
        copy.masked,
    )  # fmt: skip


def of_lone_identity(identity: Identity, share: float, masked: set[str]) -> Cause | None:
    """The cause that a masked column can be computed from columns in clear; None if several are masked."""
    names = [name for name in identity.names if name in masked]
    if len(names) > 1:
        return None
    text = (
        f"{identity} in {share:.0%} of the records, and only {names[0]!r} is masked: it can be computed "
        "from the others"
    )
    return Cause(COMPUTED, share, _instead(identity, names[0]), text, names[0])


def _instead(identity: Identity, masked: str) -> str:
    """What to do about a masked column that can be computed from others in clear."""
    clear = [name for name in identity.names if name != masked]
    if len(clear) == 1 or not (identity.adds_up or identity.product):
        return f"leave {clear[0]!r} out"
    if masked != identity.left:
        return f"leave {identity.left!r} out"
    names = f"{', '.join(map(repr, clear[:-1]))} and {clear[-1]!r}"
    how = "add the masked parts" if identity.adds_up else "compute it from the masked columns"
    return f"leave {masked!r} out and mask {names} instead: analysts {how}"


def of_identity(identity: Identity | Inequality, guessed: float, blind: float, masked: set[str]) -> Cause:
    """The cause that an identity or an inequality holds in swapped records, and not in kept ones."""
    clear = [name for name in identity.names if name not in masked]
    column = next(name for name in identity.names if name in masked)
    text = f"{identity} holds in swapped records but not in kept ones: {tells(guessed)}"
    remedy = f"drop {clear[0]!r}" if clear else f"drop {column!r} and compute it from the masked others"
    if isinstance(identity, Inequality):
        remedy = f"drop {clear[0]!r}" if clear else "pass smaller sigmas, or drop one of them"
    return Cause("identity", guessed - blind, remedy, text, column)


def of_pair(a: str, b: str, guessed: float, blind: float, *, clear: bool) -> Cause:
    """The cause that two columns, the second masked or in clear, are related otherwise in kept records."""
    if clear:
        text = f"{b!r} is left in clear and is related to {a!r} in kept records but not in swapped ones"
        remedy = f"mask within strata by {b!r}, or drop it"
    else:
        text = f"{a!r} and {b!r} are more closely related in swapped records than in kept ones"
        remedy = "pass smaller sigmas, or drop one of them"
    return Cause("relation", guessed - blind, remedy, f"{text}: {tells(guessed)}", a if clear else b)


def of_unit(column: str, name: str, guessed: float, blind: float) -> Cause:
    """The cause that other records of a unit, or neighbouring rows, show what a record is like."""
    if name:
        text = f"in {column!r} kept records resemble the others of their {name!r}, swapped ones do not"
        remedy = (
            f"release one record per {name!r}, drop {name!r}, or draw donors within it (strata={name!r}) if "
            "each has enough records"
        )
    else:
        text = f"in {column!r} kept records resemble the neighbouring rows, swapped ones do not"
        remedy = "shuffle the rows before masking"
    return Cause("units", guessed - blind, remedy, f"{text}: {tells(guessed)}", column)
