"""What an audit of a release finds: how well one can tell which records were swapped, and what helps."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from condmask._digits import line
from condmask.disclosure.causes import COMPUTED, UNCHANGED, Cause

GUESSED, CERTAIN = 0.12, 0.10  # limits: records guessed beyond the blind guess, and certain ones
FEWEST = 100  # records: fewer are too few to judge
RAIL, RAIL_WARNING = "guard rail", "warning"  # of reverse mapping
WARNED = ("unchanged", "p", "row order", "copy", RAIL_WARNING)  # causes for which nothing is refused
DIGITS = ("grid", "mixed grid", "heaps", "last digits")
OF_SEVERAL = ("identity", "relation", "units", "row order", "copy", "trained")  # columns, or of neighbours
ASIDE = (*WARNED, "joint")  # and those that do not explain why a release is refused


class Proposal(NamedTuple):
    """A scheme that hides which records were swapped, or the best one tried.

    Attributes
    ----------
    scheme : scheme or dict of str to scheme
        Like `Audit.scheme`.
    remedy : str
        Which arguments to pass for it.
    audit : Audit
        The audit under this scheme.
    round : bool
        Whether the data have to be rounded for it (``round=True``).
    """

    scheme: Any
    remedy: str
    audit: "Audit"
    round: bool = False

    @property
    def hides(self) -> bool:
        """Whether it hides which records were swapped, and changes the values of kept records.

        Under reverse mapping a kept record may show its own value, as that of another: many may share it.
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
        The share of records whose swap status (swapped or kept) a blind guess gets right, max(p, 1 - p).
    guessed : float
        The share of records whose swap status an attacker guesses right who knows the scheme and, from other
        records of this kind, how the data are distributed; at least `blind`.
    certain : float
        The share of records whose swap status the attacker knows for certain, to 1 in 20.
    unchanged : float
        The share of kept records that are released with their own value. With reverse mapping: beyond the
        share among swapped records, which get their own value back by chance if many records share it.
    causes : tuple of Cause
        Why swapped records show, the greatest first.
    scheme : scheme or dict of str to scheme
        The scheme or schemes audited.
    proposals : tuple of Proposal
        If swapped records are visible: reverse mapping, if its guard rails hold, and a coarser step, if one
        hides them; otherwise the best coarser step tried.
    name : str
        Name of the column or columns.
    trained : float or None
        The share of records whose swap status is guessed right by an attacker trained on releases of half of
        the file; None if none was trained.
    worst : float
        The share guessed right among the tenth of the records of which the attacker is surest, by the value
        that one column shows; at least `guessed`.
    columns : int
        Number of columns examined, masked or in clear. The figures hold for these and for
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
        """Whether masking refuses the release, since it shows too often which records were swapped.

        This is so if `guessed` exceeds `blind` by more than .12, or if `certain` exceeds .10. Fewer than 100
        records are too few to judge, and count as not visible. With reverse mapping it is also so if a guard
        rail refuses, and always if a masked column can be computed from columns in clear.
        """
        visible = self.guessed > self.blind + GUESSED or self.certain > CERTAIN
        return self._refused is not None or (self.n >= FEWEST and visible)

    @property
    def computed(self) -> bool:
        """Whether a masked column can be computed from columns in clear, in a tenth of the records or more
        beyond chance."""
        return any(cause.name == COMPUTED for cause in self.causes)

    @property
    def remedy(self) -> str:
        """Which arguments to pass for the proposals."""
        return "; or ".join(proposal.remedy for proposal in self.proposals)

    @property
    def refusal(self) -> str:
        """A sentence that refuses the release, with the remedies."""
        if self._refused is not None:
            return f"{self._refused.text}; {self._refused.remedy}"
        why = [cause for cause in self.causes if cause.name not in ASIDE]
        why = why or [cause for cause in self.causes if cause.name in ("row order", "copy")]
        if why and why[0].name == "point masses":  # rounding makes these, too
            why.sort(key=lambda cause: cause.name not in DIGITS)
        because = f": {why[0].text}" if why else ""
        first = why[0].remedy if why else "change the columns that show most"
        mends, best = self.remedy or first, self.proposals[0].audit if self.proposals else None
        if best is not None and not self.proposals[0].hides:
            by_columns = why and why[0].name in OF_SEVERAL
            mends = (
                f"{first + '; ' if by_columns else ''}none of the schemes tried hides it; the best "
                f"({self.remedy}) leaves {best.guessed:.0%} guessed right, {best.certain:.0%} known for "
                f"certain and {best.unchanged:.0%} of the kept records unchanged"
            )
        return (
            f"{self.name} must not show which records were swapped, got {self.guessed:.0%} of the records "
            f"guessed right ({self.blind:.0%} blindly) and {self.certain:.0%} known for certain{because}; "
            f"{mends}"
        )

    @property
    def _refused(self) -> Cause | None:
        """A cause for which a release is refused, whatever share of coins it gives away."""
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
        """Sentences on what else the release shows, each with its remedy. Nothing is refused for these."""
        causes = [cause for cause in self.causes if cause.name in WARNED]
        sentences = [
            f"{self._of(cause)}{'; '.join(filter(None, (cause.text, cause.remedy)))}" for cause in causes
        ]
        if self._few:
            sentences.append(too_few(self.n))
        return sentences

    def _of(self, cause: Cause) -> str:
        """The column that a cause is about, where there are several."""
        several = isinstance(self.scheme, dict) and len(self.scheme) > 1
        return f"{cause.column}: " if several and cause.column else ""

    @property
    def basis(self) -> tuple[str, str]:
        """What the figures hold for, in two lines."""
        columns = "one column" if self.columns == 1 else f"{self.columns} columns"
        others = "other columns, or " if self.columns == 1 else ""
        return (
            f"These figures are for {columns} and independent records:",
            f"{others}several records of one person, household or firm, may show more.",
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
        sides = [self, *(proposal.audit for proposal in self.proposals)]
        most = self.blind + GUESSED
        limits = {"guessed": f"{most:.1%}" if most < 1.0 else "none", "certain": f"{CERTAIN:.1%}"}
        lines = [
            f"Audit of {self.name}: can an attacker tell which of {self.n:,} records were swapped?",
            self._verdict,
            "",
            line("share of records", [*columns, "limit"], head=HEAD),
        ]
        for label, name in LABELS:
            shares = ["" if getattr(side, name) is None else f"{getattr(side, name):.1%}" for side in sides]
            if any(shares):
                lines.append(line(label, [*shares, limits.get(name, "")], head=HEAD).rstrip())
        lines.append(line("verdict", (side._word for side in sides), head=HEAD))
        if any(side._mapped for side in sides):
            lines += ["", *ALONE]
        if not self._mapped:
            lines += ["", *self.basis]
        lines += ["", f"scheme      {_shown(self.scheme)}"]
        for k, proposal in zip(numbers, self.proposals, strict=True):
            lines += [f"proposal {k}  {_shown(proposal.scheme)}", f"            {proposal.remedy}"]
        for what, side in zip(("", *(f" with {name}" for name in columns[1:])), sides, strict=True):
            lines += side._explained(what)
        if self._few:
            lines += ["", self.warnings[-1]]
        return "\n".join(lines)

    @property
    def _word(self) -> str:
        """The verdict in a word."""
        if self.visible:
            return "refused"
        return "too few" if self._few else "passes"

    @property
    def _verdict(self) -> str:
        """Whether the release passes, and whether anything has to be done."""
        if self.visible:
            hiding = [k for k, proposal in enumerate(self.proposals, start=1) if proposal.hides]
            which = f"{'Proposals' if len(hiding) > 1 else 'Proposal'} {' and '.join(map(str, hiding))}"
            why = (
                "for the reason given below"
                if self._refused is not None
                else "the swap status shows too often"
            )
            return f"Verdict: REFUSED, {why}.{f' {which} would pass.' if hiding else ''}"
        if self._few:
            return "Verdict: TOO FEW records to judge. Masking warns, and writes no file of them."
        if self.warnings:
            return "Verdict: PASSES, with a warning: decide whether you accept what is said below."
        return "Verdict: PASSES. No action is needed."

    def _explained(self, where: str) -> list[str]:
        """The causes, each with its remedy if the release is refused or warned of for it."""
        warned = [cause for cause in self.causes if cause.name in WARNED]
        others = [cause for cause in self.causes if cause.name not in WARNED]
        if self.visible and not others:
            warned, others = [], warned
        title = (
            f"Refused{where}, because:" if self.visible else f"Below the limits{where}, no action is needed:"
        )
        lines = ["", title] if others else []
        for cause in others:
            lines += _of_cause(cause, "remedy" if self.visible else None)
        if warned:
            lines += ["", f"Accepted{where} with a warning; what would avoid it is up to you:"]
        for cause in warned:
            lines += _of_cause(cause, "to avoid it")
        return lines


def _of_cause(cause: Cause, remedy: str | None) -> list[str]:
    """A cause in a line, and what to do about it in another one."""
    column = f" ({cause.column})" if cause.column else ""
    lines = [f"  {cause.name}{column}: {cause.text}"]
    return [*lines, f"      {remedy}: {cause.remedy}"] if remedy and cause.remedy else lines


HEAD = 32  # characters of a label
FIGURES = ("n", "columns", "blind", "guessed", "worst", "certain", "unchanged")
LABELS = (
    ("swap status guessed right", "guessed"),
    ("  in the worst tenth", "worst"),
    ("  blindly", "blind"),
    ("  by a trained attacker", "trained"),
    ("swap status known for certain", "certain"),
    ("unchanged, of kept records only", "unchanged"),
)


ALONE = (
    "With reverse mapping, one column alone does not show who was swapped: its values come in a",
    "random order either way. Anything beyond a blind guess comes from several columns together.",
)


def too_few(n: int) -> str:
    """The sentence on so few records."""
    return f"{n} records are too few to judge how well an attacker can guess which were swapped"


def _shown(scheme: Any) -> str:
    if not isinstance(scheme, dict):
        return repr(scheme)
    return ", ".join(f"{name}: {of_column!r}" for name, of_column in scheme.items())


def _entries(scheme: Any, name: str) -> dict[str, Any]:
    schemes = scheme if isinstance(scheme, dict) else {name: scheme}
    return {column: of_column.to_dict() for column, of_column in schemes.items()}
