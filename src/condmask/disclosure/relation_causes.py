"""What columns tell of each other, in words: identities, copies in clear, and pairs that go together."""

from condmask.disclosure.causes import COMPUTED, Cause, tells
from condmask.disclosure.identity import Identity
from condmask.disclosure.inequalities import Inequality
from condmask.disclosure.relations import Copy


def of_copy(copy: Copy) -> Cause:
    """The cause that a column in clear repeats a masked one, or goes with it."""
    if copy.ordered:
        return Cause(
            COMPUTED, copy.share, f"leave {copy.clear!r} out",
            f"{copy.clear!r} is left in clear and {copy.how}, so that records stand in one order by both: "
            f"{copy.masked!r} can be computed", copy.masked,
        )  # fmt: skip
    return Cause(
        "copy", copy.share, f"mask {copy.clear!r} together with it, or drop it",
        f"{copy.clear!r} is left in clear and {copy.how} as {copy.masked!r}: it gives the values away",
        copy.masked,
    )  # fmt: skip


def of_lone_identity(identity: Identity, share: float, masked: set[str]) -> Cause | None:
    """The cause that a masked column can be computed from columns in clear; None where more are masked."""
    names = [name for name in identity.names if name in masked]
    if len(names) > 1:
        return None
    text = (
        f"{identity} in {share:.0%} of the records, and all but {names[0]!r} is left in clear: "
        "it can be computed"
    )
    return Cause(COMPUTED, share, _instead(identity, names[0]), text, names[0])


def _instead(identity: Identity, masked: str) -> str:
    """What to do about a masked column that others in clear make up."""
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
    text = f"{identity} in swapped records, not in kept ones: {tells(guessed)}"
    remedy = f"drop {clear[0]!r}" if clear else f"drop {column!r} and compute it from the masked others"
    if isinstance(identity, Inequality):
        remedy = f"drop {clear[0]!r}" if clear else "pass smaller sigmas, or drop one of them"
    return Cause("identity", guessed - blind, remedy, text, column)


def of_pair(a: str, b: str, guessed: float, blind: float, *, clear: bool) -> Cause:
    """The cause that two columns, the second masked or in clear, go together otherwise in kept records."""
    if clear:
        text = f"{b!r} is left in clear and goes with {a!r} in kept records, not in swapped ones"
        remedy = f"mask within strata by {b!r}, or drop it"
    else:
        text = f"{a!r} and {b!r} hang together more closely in swapped records than in kept ones"
        remedy = "pass smaller sigmas, or drop one of them"
    return Cause("relation", guessed - blind, remedy, f"{text}: {tells(guessed)}", a if clear else b)


def of_unit(column: str, name: str, guessed: float, blind: float) -> Cause:
    """The cause that other records of a unit, or the rows beside, show what a record is like."""
    if name:
        text = f"kept records of {column!r} are like others of their {name!r}, swapped ones are not"
        remedy = (
            f"release one record of each {name!r}, drop it, or draw donors within it (strata={name!r}) where "
            "all have records enough"
        )
    else:
        text = f"kept records of {column!r} are like the rows beside them, swapped ones are not"
        remedy = "shuffle the rows before masking"
    return Cause("units", guessed - blind, remedy, f"{text}: {tells(guessed)}", column)
