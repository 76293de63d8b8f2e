"""What an audit of a release finds: how well one can tell which records were swapped, and what helps."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from condmask._digits import line
from condmask.disclosure.causes import COMPUTED, UNCHANGED, Cause

GUESSED, CERTAIN = 0.12, 0.10  # records beyond the blind guess, and certain ones: more is visible
FEWEST = 100  # records that tell anything
RAIL, RAIL_WARNING = "guard rail", "warning"  # of reverse mapping
WARNED = ("unchanged", "p", "row order", "copy", RAIL_WARNING)  # causes for which nothing is refused
DIGITS = ("grid", "mixed grid", "heaps", "last digits")
OF_SEVERAL = ("identity", "relation", "units", "row order", "copy", "trained")  # columns, or of neighbours
ASIDE = (*WARNED, "joint")  # and those that say nothing of why a release is refused


class Proposal(NamedTuple):
    """A scheme that hides which records were swapped, or the best that was tried.

    Attributes
    ----------
    scheme : scheme or dict of str to scheme
        As in the audit.
    remedy : str
        How to come by it.
    audit : Audit
        What the attacker can tell then.
    round : bool
        Whether the data have to be rounded for it (``round=True``).
    """

    scheme: Any
    remedy: str
    audit: "Audit"
    round: bool = False

    @property
    def hides(self) -> bool:
        """Whether it hides which records were swapped, and changes what is kept.

        Under reverse mapping a kept record may show its own value as that of another: where many share it.
        """
        first = next(iter(self.scheme.values())) if isinstance(self.scheme, dict) else self.scheme
        stays = not first.reverse_mapping and self.audit.unchanged > UNCHANGED
        return not (self.audit.visible or stays)


@dataclass(frozen=True)
class Audit:
    """How well an attacker can tell which records of a release were swapped.

    Attributes
    ----------
    n : int
        Number of records.
    blind : float
        The share of records of which a blind guess is right, max(p, 1 - p).
    guessed : float
        The share of records of which an attacker guesses right whether they were swapped, who knows the
        scheme and, from other records of their kind, how the data are distributed; at least `blind`.
    certain : float
        The share of records of which he is certain, to 1 in 20.
    unchanged : float
        The share of kept records that are released with their own value; by reverse mapping beyond that of
        swapped ones, which get theirs by chance where many records share a value.
    causes : tuple of Cause
        Why swapped records show, the greatest first.
    scheme : scheme or dict of str to scheme
        What was audited.
    proposals : tuple of Proposal
        Where swapped records are visible: reverse mapping, if its guard rails hold, and a coarser step, if
        one hides them; or else the best coarser step that was tried.
    name : str
        Of the column or columns.
    trained : float or None
        The share of records of which an attacker guesses right who is trained on releases of half of the
        file; None where none was.
    worst : float
        The share of records of which he guesses right in the tenth of which he is surest, by the value that
        one column shows; at least `guessed`.
    columns : int
        Number of columns that were looked at, masked or in clear. What is said holds for these and for
        records that are independent.

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
    proposals: tuple[Proposal, ...] = ()
    name: str = field(default="x", repr=False)
    trained: float | None = field(default=None, repr=False)
    worst: float = 0.0
    columns: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "worst", max(self.worst, self.guessed))

    @property
    def visible(self) -> bool:
        """Whether guesses exceed the blind ones by .12, or more than a tenth of the records is certain.

        Of fewer than 100 records nothing is said. By reverse mapping also whether a guard rail refuses, and
        always whether columns in clear make up a masked one.
        """
        visible = self.guessed > self.blind + GUESSED or self.certain > CERTAIN
        return self._refused is not None or (self.n >= FEWEST and visible)

    @property
    def computed(self) -> bool:
        """Whether columns in clear make up a masked one, beyond chance in a tenth of the records."""
        return any(cause.name == COMPUTED for cause in self.causes)

    @property
    def remedy(self) -> str:
        """How to come by the proposals."""
        return "; or ".join(proposal.remedy for proposal in self.proposals)

    @property
    def refusal(self) -> str:
        """A sentence that refuses the release, with the remedies."""
        if self._refused is not None:
            return f"{self._refused.text}; {self._refused.remedy}"
        why = [cause for cause in self.causes if cause.name not in ASIDE]
        why = why or [cause for cause in self.causes if cause.name in ("row order", "copy")]
        if why and why[0].name == "point masses":  # which rounding makes, too
            why.sort(key=lambda cause: cause.name not in DIGITS)
        because = f": {why[0].text}" if why else ""
        first = why[0].remedy if why else "mend the columns that show most"
        mends, best = self.remedy or first, self.proposals[0].audit if self.proposals else None
        if best is not None and not self.proposals[0].hides:
            by_columns = why and why[0].name in OF_SEVERAL
            mends = (
                f"{first + '; ' if by_columns else ''}no scheme that was tried hides them, the best "
                f"({self.remedy}) leaves {best.guessed:.0%} guessed right, {best.certain:.0%} certain and "
                f"{best.unchanged:.0%} of the kept records unchanged"
            )
        return (
            f"{self.name} must not show which records were swapped, got {self.guessed:.0%} of the records "
            f"guessed right ({self.blind:.0%} blindly) and {self.certain:.0%} certain{because}; {mends}"
        )

    @property
    def _refused(self) -> Cause | None:
        """A cause for which a release is refused, whatever share of coins it tells."""
        return next((cause for cause in self.causes if cause.name in (RAIL, COMPUTED)), None)

    @property
    def _mapped(self) -> bool:
        schemes = self.scheme if isinstance(self.scheme, dict) else {self.name: self.scheme}
        return bool(next(iter(schemes.values())).reverse_mapping)

    @property
    def _few(self) -> bool:
        return self.n < FEWEST and not self._mapped

    @property
    def warnings(self) -> list[str]:
        """Sentences on what the release shows besides, each with its remedy."""
        causes = [cause for cause in self.causes if cause.name in WARNED]
        sentences = ["; ".join(filter(None, (cause.text, cause.remedy))) for cause in causes]
        if self._few:
            sentences.append(too_few(self.n))
        return sentences

    @property
    def basis(self) -> tuple[str, str]:
        """For what the figures hold, in two lines."""
        columns = "one column" if self.columns == 1 else f"{self.columns} columns"
        others = "other columns, and " if self.columns == 1 else ""
        return (
            f"These figures are for {columns} and records that are independent:",
            f"{others}several records of one person, household or firm, may tell more.",
        )

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
            **({} if self.trained is None else {"trained": self.trained}),
            "visible": self.visible,
            "causes": [cause._asdict() for cause in self.causes],
            "schemes": _entries(self.scheme, self.name),
            "proposals": [
                {
                    "remedy": proposal.remedy, "round": proposal.round,
                    "schemes": _entries(proposal.scheme, self.name), "audit": proposal.audit.to_dict(),
                }
                for proposal in self.proposals
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        numbers = range(1, len(self.proposals) + 1)
        columns = ["scheme", *(f"proposal {k}" for k in numbers)]
        lines = [f"Which of {self.n:,} records were swapped, {self.name}", "", line("", columns, head=HEAD)]
        sides = [self, *(proposal.audit for proposal in self.proposals)]
        lines += [
            line(label, (f"{getattr(side, name):.1%}" for side in sides), head=HEAD) for label, name in LABELS
        ]
        if self.trained is not None:
            shares = ("" if side.trained is None else f"{side.trained:.1%}" for side in sides)
            lines.insert(-2, line("  by a trained attacker", shares, head=HEAD))
        lines.append(line("visible", ("yes" if side.visible else "no" for side in sides), head=HEAD))
        if any(side._mapped for side in sides):
            lines += ["", *ALONE]
        if not self._mapped:
            lines += ["", *self.basis]
        lines += ["", f"scheme      {_shown(self.scheme)}"]
        for k, proposal in zip(numbers, self.proposals, strict=True):
            lines += [f"proposal {k}  {_shown(proposal.scheme)}", f"            {proposal.remedy}"]
        for title, side in zip(("shown by", *(f"with {name}" for name in columns[1:])), sides, strict=True):
            if not side.causes:
                continue
            lines += ["", f"{title}:"]
            for cause in side.causes:
                column = f" ({cause.column})" if cause.column else ""
                lines += [f"  {cause.name}{column}, {cause.share:.2f}: {cause.text}", f"      {cause.remedy}"]
        if self._few:
            lines += ["", self.warnings[-1]]
        return "\n".join(lines)


HEAD = 26  # characters of a label
FIGURES = ("n", "columns", "blind", "guessed", "worst", "certain", "unchanged")
LABELS = (
    ("guessed right", "guessed"),
    ("  in the worst tenth", "worst"),
    ("  blindly", "blind"),
    ("records known for certain", "certain"),
    ("kept records unchanged", "unchanged"),
)


ALONE = (
    "By reverse mapping a column alone shows nothing of who was swapped: it is released in",
    "a random order whoever was. What is guessed beyond is shown by several columns.",
)


def too_few(n: int) -> str:
    """What is said of so few records."""
    return f"{n} records are too few to tell how well one can guess which were swapped"


def _shown(scheme: Any) -> str:
    if not isinstance(scheme, dict):
        return repr(scheme)
    return ", ".join(f"{name}: {of_column!r}" for name, of_column in scheme.items())


def _entries(scheme: Any, name: str) -> dict[str, Any]:
    schemes = scheme if isinstance(scheme, dict) else {name: scheme}
    return {column: of_column.to_dict() for column, of_column in schemes.items()}
