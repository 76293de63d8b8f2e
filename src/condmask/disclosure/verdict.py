"""What an audit of the coins of a release found, and how it is said."""

from dataclasses import dataclass, field
from typing import Any

from condmask.disclosure.causes import UNCHANGED, Cause

GUESSED, CERTAIN = 0.12, 0.10  # coins beyond the blind guess, and records: more is visible
FEWEST = 100  # records that tell anything
WARNED = ("unchanged", "p", "row order", "copy")  # causes for which nothing is refused
DIGITS = ("grid", "mixed grid", "heaps", "last digits")
ASIDE = (*WARNED, "together")  # and those that say nothing of why a release is refused


@dataclass(frozen=True)
class Audit:
    """What an attacker can tell of the coins of a release.

    Attributes
    ----------
    n : int
        Number of records.
    blind : float
        The share of coins guessed without a look, max(p, 1 - p).
    guessed : float
        The share of coins guessed by an attacker who knows the scheme and, from other records of their kind,
        how the data are distributed; at least `blind`.
    certain : float
        The share of records of whose coin he is certain, to 1 in 20.
    unchanged : float
        The share of kept records that are released with their own value.
    causes : tuple of Cause
        Why coins show, the greatest first.
    scheme : scheme or dict of str to scheme
        What was audited.
    proposal : scheme, dict of str to scheme, or None
        Where coins are visible, the first of some schemes that hides them, or else the best.
    proposed : Audit or None
        The audit of the proposal.
    remedy : str
        How to come by the proposal.
    name : str
        Of the column or columns.

    See Also
    --------
    audit : makes one.
    """

    n: int
    blind: float
    guessed: float
    certain: float
    unchanged: float
    causes: tuple[Cause, ...]
    scheme: Any
    proposal: Any = None
    proposed: "Audit | None" = None
    remedy: str = ""
    name: str = field(default="x", repr=False)

    @property
    def visible(self) -> bool:
        """Whether coins guessed exceed the blind guess by .12, or more than a tenth of records is certain.

        Of fewer than 100 records nothing is said.
        """
        return self.n >= FEWEST and (self.guessed > self.blind + GUESSED or self.certain > CERTAIN)

    @property
    def refusal(self) -> str:
        """A sentence that refuses the release, with the remedy."""
        why = [cause for cause in self.causes if cause.name not in ASIDE]
        if why and why[0].name == "point masses":  # which rounding makes, too
            why.sort(key=lambda cause: cause.name not in DIGITS)
        said = f": {why[0].text}" if why else ""
        first = why[0].remedy if why else "mend the columns that show most"
        if self.proposed is None:
            mends = first
        elif not self.proposed.visible and self.proposed.unchanged <= UNCHANGED:
            mends = self.remedy
        else:
            by_columns = why and why[0].name in ("identity", "relation")
            mends = (
                f"{first + '; ' if by_columns else ''}no scheme that was tried hides them, the best "
                f"({self.remedy}) leaves {self.proposed.guessed:.0%} guessed, {self.proposed.certain:.0%} "
                f"certain and {self.proposed.unchanged:.0%} of the kept records unchanged"
            )
        return (
            f"{self.name} must not show which records were swapped, got {self.guessed:.0%} of the coins "
            f"guessed ({self.blind:.0%} blindly) and {self.certain:.0%} of the records certain{said}; {mends}"
        )

    @property
    def warnings(self) -> list[str]:
        """Sentences on what the release shows besides, each with its remedy."""
        found = [f"{cause.text}; {cause.remedy}" for cause in self.causes if cause.name in WARNED]
        if self.n < FEWEST:
            found.append(f"{self.n} records are too few to tell how far their coins can be guessed")
        return found

    def to_dict(self) -> dict[str, Any]:
        """The audit in terms of JSON.

        Returns
        -------
        dict
            Figures, "visible", "causes", and the schemes by column.
        """
        figures = {name: getattr(self, name) for name in FIGURES}
        return {
            **figures,
            "visible": self.visible,
            "causes": [cause._asdict() for cause in self.causes],
            "schemes": _entries(self.scheme, self.name),
            "proposal": None if self.proposal is None else _entries(self.proposal, self.name),
            "proposed": None if self.proposed is None else self.proposed.to_dict(),
            "remedy": self.remedy,
        }

    def __str__(self) -> str:
        sides = [self] if self.proposed is None else [self, self.proposed]
        lines = [
            f"Coins of {self.n:,} records, {self.name}",
            "",
            _row("", ["scheme", "proposal"][: len(sides)]),
        ]
        lines += [_row(said, [f"{getattr(each, name):.1%}" for each in sides]) for said, name in SAID]
        lines += [_row("visible", ["yes" if each.visible else "no" for each in sides])]
        lines += ["", f"scheme    {_shown(self.scheme)}"]
        if self.proposed is not None:
            lines += [f"proposal  {_shown(self.proposal)}", f"          {self.remedy}"]
        for title, each in zip(("shown by", "with the proposal"), sides, strict=False):
            lines += ["", f"{title}:"] if each.causes else []
            for cause in each.causes:
                own = f" ({cause.column})" if cause.column else ""
                lines += [f"  {cause.name}{own}, {cause.share:.2f}: {cause.text}", f"      {cause.remedy}"]
        if self.n < FEWEST:
            lines += ["", self.warnings[-1]]
        return "\n".join(lines)


FIGURES = ("n", "blind", "guessed", "certain", "unchanged")
SAID = (
    ("coins guessed", "guessed"),
    ("  without a look", "blind"),
    ("records known for certain", "certain"),
    ("kept records unchanged", "unchanged"),
)


def _row(said: str, cells: list[str]) -> str:
    return f"{said:26}" + "".join(f"{cell:>12}" for cell in cells)


def _shown(scheme: Any) -> str:
    if not isinstance(scheme, dict):
        return repr(scheme)
    return ", ".join(f"{name}: {each!r}" for name, each in scheme.items())


def _entries(scheme: Any, name: str) -> dict[str, Any]:
    schemes = scheme if isinstance(scheme, dict) else {name: scheme}
    return {own: each.to_dict() for own, each in schemes.items()}
