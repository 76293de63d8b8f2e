"""Turn figures and guard rails into findings: the codes, and which of them refuse a release.

Every danger has a code. C1 to C9 refuse a release; from C11 on they are warnings, of which C11 to
C19 are the milder form of the refusal with the same last digit. A publisher accepts a finding by
its code. Figures become findings here and nowhere else, so the limits stand in one place; remedies
are sought elsewhere, since these need further attacks.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from condmask import _checks
from condmask.changes import Change
from condmask.errors import ArgumentError, warn

WARN_GAIN = 0.25  # guessed beyond a constant guess, of which is warned
MIN_SHARE_OF_REST = 0.5  # of what a constant misses: where most values are 0, that is little
REFUSED_RELATION = 0.5  # share of the records in which an exact relation refuses a release
MAX_UNIT_RATE = 0.5  # of the values of one unit
MAX_LINKED_SHARE = 0.03  # of the values, guessed because the owner of swapped values is known
ERRORS_AT_LIMIT = 1.0  # within so many standard errors a figure is said to lie at its limit
EVERYTHING = "all"  # accepted in place of codes: nothing is audited
HIDES_NOTHING = "masking it alone hides nothing"


class Code(NamedTuple):
    """The meaning of the code of a finding.

    Attributes
    ----------
    refuses : bool
        Whether a release is refused for it; else the publisher is warned.
    meaning : str
    remedy : str
        The kinds of remedies; a message names the one that fits the data.
    """

    refuses: bool
    meaning: str
    remedy: str


CODES: dict[str, Code] = {
    "C1": Code(
        True,
        "a masked column follows exactly from columns in clear, in at least half of the records",
        "drop one of these columns, or mask it in the same call",
    ),
    "C2": Code(
        True,
        "the columns in clear give the values away to somebody who knows values of other units",
        "drop the columns that tell most, or mask them in the same call",
    ),
    "C3": Code(
        True,
        "the release alone gives the values away, to a reader who knows nothing else",
        "drop the columns that tell most, or mask them in the same call",
    ),
    "C4": Code(
        True,
        "the noise is too narrow: who knows which records were swapped learns too much",
        "a wider sigma",
    ),
    "C5": Code(
        True,
        "columns in clear reveal which record each swapped value came from",
        "drop these columns, or mask them in the same call",
    ),
    "C6": Code(
        True,
        "a donor pool has too few records",
        "merge or leave out strata, leave out records with rare gaps, another p",
    ),
    "C7": Code(
        True,
        "records with a rare value would keep it too often",
        "means in place of the ends, a wider sigma, or p = .7",
    ),
    "C8": Code(True, "rows are in the order of a masked column", "shuffle the rows"),
    "C9": Code(
        True,
        "the file has too few records to judge",
        "reverse mapping with at least 50 records",
    ),
    "C11": Code(
        False,
        "a masked column follows exactly from columns in clear, in fewer than half of the records",
        "drop one of these columns, or mask it in the same call",
    ),
    "C12": Code(
        False,
        "the columns in clear tell much more of the values than one guess for all",
        "coarsen or drop the columns that tell most",
    ),
    "C13": Code(
        False,
        "the release alone tells much more of the values than one guess for all",
        "coarsen or drop the columns that tell most, or a wider sigma",
    ),
    "C14": Code(
        False,
        "a figure lies at its limit: within its standard error",
        "a little more noise",
    ),
    "C15": Code(
        False,
        "the records of one firm, household or class are guessed far more often than others",
        "coarsen the column that names it, or leave its records out",
    ),
    "C16": Code(False, "a donor pool has fewer than 200 records", "merge or leave out strata"),
    "C17": Code(
        False,
        "zeros stay zeros, as noise on the log scale does not move them",
        "the linear scale",
    ),
    "C18": Code(False, "neighbouring rows are alike in a masked column", "shuffle the rows"),
    "C19": Code(False, "the table has too few records to judge", "more records"),
    "C20": Code(
        False,
        "a column in clear has another value in each record, and may name persons",
        "drop it",
    ),
    "C21": Code(
        False,
        "columns in clear single records out in combination",
        "coarsen these columns before masking",
    ),
    "C22": Code(
        False,
        "means in place of the ends change the standard deviation",
        "fewer values that become means",
    ),
    "C23": Code(
        False,
        "the noise is so wide that relations cannot be estimated",
        "a narrower sigma",
    ),
}


FIRST_CODE = next(iter(CODES))
LAST_CODE = next(reversed(CODES))


class Finding(NamedTuple):
    """A danger of a release, its code and its remedy.

    Attributes
    ----------
    code : str
        One of `CODES`.
    column : str
        The column concerned; empty if it is about all of them.
    text : str
    remedy : str
        Arguments to pass, as in Python; empty if nothing needs to be done.
    accepted : bool
        Whether the publisher lets it pass.
    change : Change or None
        The remedy as data; None where only people can decide.
    """

    code: str
    column: str
    text: str
    remedy: str = ""
    accepted: bool = False
    change: Change | None = None

    @property
    def refuses(self) -> bool:
        """Return whether a release is refused for it."""
        return CODES[self.code].refuses and not self.accepted

    @property
    def refusal(self) -> str:
        """Return the finding with the argument that accepts it."""
        return f'{self}; accept="{self.code}" releases it anyway'

    def to_dict(self) -> dict[str, str | bool]:
        """Return the finding in terms of JSON."""
        return {
            "code": self.code,
            "column": self.column,
            "text": self.text,
            "remedy": self.remedy,
            "accepted": self.accepted,
            "refuses": self.refuses,
        }

    def __str__(self) -> str:
        column = f"{self.column}: " if self.column else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.code} {column}{self.text}{remedy}"


class Limits(NamedTuple):
    """Up to which figures a release passes.

    Attributes
    ----------
    clear : float
        The share of values that columns in clear, or the release alone, may tell; a release is
        refused from there on.
    lift : float
        ``worst - clear``: how much a release may add.
    risk : dict of float to float
        The share of values that an attacker who knows every coin may guess to within a distance,
        in the units of the data.
    accepted : frozenset of str
        The codes of the findings that are let pass.
    refused_too : frozenset of str
        The codes of warnings that refuse here, so that they are settled as well.
    """

    clear: float = 0.6
    lift: float = 0.10
    risk: Mapping[float, float] = {}
    accepted: frozenset[str] = frozenset()
    refused_too: frozenset[str] = frozenset()


class ColumnFigures(Protocol):
    """The figures of one column that findings rest on: shares of guessed values.

    NaN stands for a figure that is not known, and an empty name for no unit.
    """

    @property
    def constant(self) -> float: ...
    @property
    def clear(self) -> float: ...
    @property
    def clear_unit(self) -> float: ...
    @property
    def clear_record(self) -> float: ...
    @property
    def outsider(self) -> float: ...
    @property
    def worst(self) -> float: ...
    @property
    def linked(self) -> float: ...
    @property
    def lift(self) -> float: ...
    @property
    def error(self) -> float: ...
    @property
    def worst_unit(self) -> str: ...
    @property
    def worst_unit_rate(self) -> float: ...


class Relation(Protocol):
    """An exact relation of a masked column with columns in clear."""

    @property
    def text(self) -> str: ...
    @property
    def share(self) -> float: ...


def accepted_codes(accept: object, *, visible_coins: object = False) -> frozenset[str] | None:
    """Check the codes that a publisher accepts, and return them; None for all of them.

    Parameters
    ----------
    accept : str or sequence of str
        One code, or several; "all" for a release that is not audited.
    visible_coins : bool
        The argument ``accept_visible_coins`` of earlier versions, which stands for "all".
    """
    codes = _checks.names([accept] if isinstance(accept, str) else accept, "accept")
    unknown = [code for code in codes if code not in CODES and code != EVERYTHING]
    if unknown:
        raise ArgumentError(
            f"accept must be codes of findings, {FIRST_CODE} to {LAST_CODE}, or '{EVERYTHING}', "
            f"got {unknown[0]!r}"
        )
    if _checks.boolean(visible_coins, "accept_visible_coins"):
        warn(
            f'accept_visible_coins=True is now accept="{EVERYTHING}"; name the codes that a '
            'refusal shows instead, accept=("C4",), so that all other findings still count',
            DeprecationWarning,
        )
        return None
    return None if EVERYTHING in codes else frozenset(codes)


def with_acceptance(findings: Iterable[Finding], accepted: Collection[str]) -> list[Finding]:
    """Return findings, marked where their code is accepted."""
    return [each._replace(accepted=each.code in accepted) for each in findings]


def findings_on_figures(
    figures: Mapping[str, ColumnFigures], relations: Mapping[str, Relation], limits: Limits
) -> list[Finding]:
    """Return what the figures of columns are refused for and warned of, without remedies.

    Parameters
    ----------
    figures : dict of str to ColumnFigures
        By masked column.
    relations : dict of str to Relation
        Exact relations of some of these columns with columns in clear.
    limits : Limits

    Returns
    -------
    list of Finding
        In the order of the columns; of the refusals C1, C2, C3 and C5 one at most for each.
    """
    found: list[Finding] = []
    for name, row in figures.items():
        given_away = _given_away(name, row, relations.get(name), limits)
        given = with_acceptance(given_away, limits.accepted)
        found += given
        if not any(each.refuses for each in given):
            found += _on_lift(name, row, limits)
        found += _on_units(name, row)
    return with_acceptance(found, limits.accepted)


def _given_away(
    name: str, row: ColumnFigures, relation: Relation | None, limits: Limits
) -> Iterator[Finding]:
    """Find that columns in clear, or the release alone, tell a column: the gravest way alone."""
    refused_from = max(limits.clear, row.constant + _least_gain(row))
    of_units = row.clear if np.isnan(row.clear_unit) else row.clear_unit
    of_any = float(np.fmax(np.fmax(row.clear, row.clear_record), of_units))
    gain = _least_gain(row)
    in_words = "" if relation is None else _in_words(name, relation)
    if relation is not None and relation.share >= REFUSED_RELATION:
        yield Finding("C1", name, f"{in_words}: {HIDES_NOTHING}")
    elif row.linked > MAX_LINKED_SHARE and row.lift > limits.lift:
        text = (
            "the unmasked columns reveal which record each swapped value came from: "
            f"{row.worst:.0%} of its values are guessed to within a tenth of its spread, "
            f"{row.worst - row.linked:.0%} without"
        )
        yield Finding("C5", name, f"{text}: {HIDES_NOTHING}")
    elif of_units >= refused_from:
        yield Finding("C2", name, f"{_told(of_units, row)}: {HIDES_NOTHING}")
    elif row.outsider >= refused_from:
        yield Finding("C3", name, f"{_told(row.outsider, row, alone=True)}: {HIDES_NOTHING}")
    elif relation is not None:
        yield Finding("C11", name, in_words)
    elif of_any > row.constant + gain:
        yield Finding("C12", name, _told(of_any, row))
    elif row.outsider > row.constant + gain:
        yield Finding("C13", name, _told(row.outsider, row, alone=True))


def _in_words(name: str, relation: Relation) -> str:
    """Say an exact relation, and how often it holds."""
    return f"{name} = {relation.text} in {relation.share:.0%} of the records"


def _least_gain(row: ColumnFigures) -> float:
    """Return how much beyond a constant guess is remarkable."""
    return min(WARN_GAIN, MIN_SHARE_OF_REST * (1.0 - row.constant))


def _told(share: float, row: ColumnFigures, *, alone: bool = False) -> str:
    """Say which share of the values is told, and by whom."""
    who = "the release alone tells" if alone else "the columns in clear tell"
    near = "of its values to within a tenth of its spread"
    return f"{who} {share:.0%} {near}, a constant guess {row.constant:.0%}"


def _on_lift(name: str, row: ColumnFigures, limits: Limits) -> Iterator[Finding]:
    """Find a release that adds too much for who knows every coin, or nearly so."""
    lift = row.lift
    beside = f"{lift:.2f} of {limits.lift:.2f}, error {row.error:.2f}"
    near = abs(lift - limits.lift) < ERRORS_AT_LIMIT * row.error
    if lift > limits.lift:
        guessed = f"{row.worst:.0%} of the values to within a tenth of the spread"
        at_limit = f" (at the limit: {beside})" if near else ""
        yield Finding(
            "C4",
            name,
            too_narrow(f"{guessed}, {row.worst - lift:.0%} without the release{at_limit}"),
        )
    elif near:
        yield Finding("C14", name, f"what the release adds is at the limit: {beside}")


def too_narrow(guessed: str) -> str:
    """Say that the noise is too narrow, by the values that are guessed."""
    who = "an attacker who knows which records were swapped guesses"
    return f"{who} {guessed}: the noise is too narrow"


def _on_units(name: str, row: ColumnFigures) -> Iterator[Finding]:
    """Find a unit of which most values are guessed."""
    if row.worst_unit and row.worst_unit_rate > MAX_UNIT_RATE:
        text = f"{row.worst_unit_rate:.0%} of the values are guessed in {row.worst_unit}"
        yield Finding("C15", name, text)
