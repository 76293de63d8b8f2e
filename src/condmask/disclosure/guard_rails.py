"""Guard rails of reverse mapping: where its promise does not hold, or does not help.

Coins and release are independent whatever the column (docs/reverse_mapping.rst), so digits, heaps and edges
do not matter. What remains: pools so small that anyone who knows most of one can work out the rest; rare
values that come back to their own records; the order of the rows; columns in clear that are in the order of a
masked one; and columns so closely related that their pairs show who was kept.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from condmask._blocks import blocks
from condmask._digits import number
from condmask.audit_input import AuditInput
from condmask.disclosure import causes, relation_causes, relations
from condmask.disclosure.aggregated_ends import aggregate
from condmask.disclosure.long_columns import share_holding
from condmask.disclosure.rare_values import own_value
from condmask.kernels import counting_sort
from condmask.strata import values_by_pool

FEWEST, FEWEST_KEPT, FEWEST_SWAPPED, SMALL = 50, 20, 10, 200  # records of a pool
OWN = 0.3  # the chance that a record keeps its value
ENDS = (3, 5)  # remedies: values at either end that become means
WIDER, WIDEST = (1.5, 2.0), (3.0, 5.0)  # and times sigma
LINEAR = (1.0, 2.0, 4.0)  # and on the linear scale, times the mean size of the values
CLOSE = 0.5  # a p from which .7 costs relations with other columns less than three times sigma
CHANGED = 0.001  # of a standard deviation: the least change worth mentioning


class Finding(NamedTuple):
    """Something that a guard rail stops or warns of, and the sentence that says so, or None.

    The sentence is made only on request, since a remedy that helps has to be searched for.
    """

    refused: bool
    sentence: Callable[[], str | None]


class Verdict(NamedTuple):
    """Why columns must not be released, for all reasons there are, and what to warn of."""

    refusals: list[str]
    warnings: list[str]


def review(data: AuditInput, schemes: dict[str, Any]) -> Verdict:
    """The verdict on columns to be masked."""
    return _verdict(findings(data, schemes))


def review_clear(data: AuditInput) -> Verdict:
    """The verdict on columns that are left in clear."""
    return _verdict(_of_clear(data.aligned()))


def hold(data: AuditInput, schemes: dict[str, Any]) -> bool:
    """Whether the guard rails hold for columns, without a search for what would help."""
    return not any(finding.refused for finding in findings(data, schemes))


def pools_hold(data: AuditInput, p: float) -> bool:
    """Whether donor pools are large enough."""
    return not any(finding.refused for finding in _of_pools(data, p))


def findings(data: AuditInput, schemes: dict[str, Any]) -> Iterator[Finding]:
    """What the guard rails find in columns to be masked, one after the other."""
    if not data.sampled:
        yield from _of_pools(data, next(iter(schemes.values())).p)
    for name, scheme in schemes.items():
        yield from _of_order(data.values[name], name)
        if not data.sampled:
            yield from _of_ends(data, name, scheme)
            yield from _of_rare(data, name, scheme)
        yield from _of_zeros(data, name, scheme)
    yield from _of_pairs(data)


def _verdict(walk: Iterable[Finding]) -> Verdict:
    found = Verdict([], [])
    for finding in walk:
        sentence = finding.sentence()
        if sentence is not None:
            (found.refusals if finding.refused else found.warnings).append(sentence)
    return found


def _refusal(sentence: str) -> Finding:
    return Finding(True, lambda: sentence)


def _warning(sentence: str) -> Finding:
    return Finding(False, lambda: sentence)


def _of_clear(data: AuditInput) -> Iterator[Finding]:
    for copy in relations.copies(data.values, data.clear):
        text = f"{copy.clear!r} is left in clear and {copy.how}"
        if copy.ordered or _monotone(data.values[copy.masked], data.clear[copy.clear]):
            # masked together they would show their coins (`_of_pairs`)
            yield _refusal(f"{text}: the order of {copy.masked!r} can be read from it; drop {copy.clear!r}")
        else:
            yield _warning(f"{text}: it gives much of {copy.masked!r} away; drop {copy.clear!r}")
    if data.clear:
        yield from _of_identities(data.values, data.clear)


def _of_pools(data: AuditInput, p: float) -> Iterator[Finding]:
    counts = np.zeros(1 if data.strata is None else int(data.strata.max()) + 1, dtype=np.int64)
    for start, stop in blocks(data.n):
        gaps = np.logical_and.reduce([np.isnan(x[start:stop]) for x in data.values.values()])
        pool = np.int32(0) if data.strata is None else data.strata[start:stop]
        counting_sort.count(np.where(gaps, np.int32(-1), pool), counts)
    least = int(counts[0]) if data.strata is None else int(counts[counts > 0].min(initial=data.n))
    merge = "" if data.strata is None else "merge strata, or leave them out"
    if least < FEWEST:
        yield _refusal(
            f"a donor pool has {least} records, fewer than {FEWEST}: anyone who knows most of them can work "
            f"out the rest; {merge or 'publish no values of so few records'}"
        )
    for expected, most, what, other in (
        (least * (1.0 - p), FEWEST_KEPT, "kept", "smaller"),
        (least * p, FEWEST_SWAPPED, "swapped", "larger"),
    ):
        if expected < most:
            yield _refusal(
                f"a donor pool of {least} records has on average {expected:.1f} that are {what}, fewer than "
                f"{most}; pass a {other} p{f', {merge}' if merge else ''}"
            )
    if least < SMALL:
        yield _warning(
            f"a donor pool has {least} records: anyone who knows most of them learns much about the rest; "
            f"{SMALL} records or more are safer"
        )


def _of_order(values: np.ndarray, name: str) -> Iterator[Finding]:
    for cause in causes.of_order(values):
        yield _refusal(f"{name}: {cause.text}; {cause.remedy}")


def _monotone(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether one of two columns never falls, or never rises, where the other rises."""
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    up, down = np.diff(x[np.lexsort((x, y))]), np.diff(x[np.lexsort((-x, y))])
    return bool((up >= 0.0).all() or (down <= 0.0).all())


def _of_identities(values: dict[str, np.ndarray], clear: dict[str, np.ndarray]) -> Iterator[Finding]:
    """Identities that the kept records break, with a column in clear if there are any."""
    table, masked = {**values, **clear}, set(values)
    for identity in relations.identities(table, masked):
        if clear and masked >= set(identity.names):
            continue
        share = share_holding(identity, table, {})
        lone = relation_causes.of_lone_identity(identity, share, masked)
        yield _refusal(
            f"{identity} holds in swapped records but not in kept ones: this shows which records were "
            "swapped; drop one of these columns"
            if lone is None
            else f"{lone.text}; {lone.remedy}"
        )


def _of_pairs(data: AuditInput) -> Iterator[Finding]:
    """Identities and close correlations of masked columns, which the pairs of kept records break."""
    if len(data.values) == 1:
        return
    yield from _of_identities(data.values, {})
    names = list(data.values)
    for k, name in enumerate(names):
        others = {other: data.values[other] for other in names[k + 1 :]}
        for copy in relations.copies({name: data.values[name]}, others):
            yield _refusal(
                f"{name!r} and {copy.clear!r} are so closely related ({copy.share:.3f}) in swapped records, "
                "but not in kept ones, that this shows which records were swapped; drop one of them"
            )


# --- the ends ---


def _of_ends(data: AuditInput, name: str, scheme: Any) -> Iterator[Finding]:
    """How means at the ends change the standard deviation."""
    if not scheme.aggregate_ends:
        return

    def sentence() -> str | None:
        x = np.empty(data.n)
        x[:] = data.values[name]
        before = _deviation(x)
        aggregate(x, data.strata, scheme.aggregate_ends)
        after = _deviation(x)
        if abs(after - before) <= CHANGED * before:
            return None
        shown, changed = (number(value, before / 100.0) for value in (before, after))
        return (
            f"aggregate_ends={scheme.aggregate_ends} changes the standard deviation of {name} from {shown} "
            f"to {changed} ({100.0 * (after / before - 1.0):+.1f}%), which analysts cannot undo"
        )

    yield Finding(False, sentence)


def _deviation(x: np.ndarray) -> float:
    """The standard deviation of the values that are present, without a copy of a long column."""
    parts = [x[start:stop] for start, stop in blocks(x.size)]
    n = sum(np.count_nonzero(~np.isnan(part)) for part in parts)
    mean = sum(float(np.nansum(part)) for part in parts) / n
    return float(np.sqrt(sum(float(np.nansum((part - mean) ** 2)) for part in parts) / n))


# --- rare values ---


def _of_rare(data: AuditInput, name: str, scheme: Any) -> Iterator[Finding]:
    """Records that too often keep a rare value, and the first of the remedies tried that helps."""
    pools = _too_often(data, name, scheme)
    first = next((chances for chances in pools if chances.size), None)
    if first is None:
        return

    def sentence() -> str:
        chances = np.concatenate([first, *pools])
        few = ("", "s") if chances.size == 1 else ("s", "")
        # the simulated chance of a record that stands alone may exceed the chance of being kept
        most = min(float(chances.max()), 1.0 - scheme.p + scheme.p / data.n)
        return (
            f"{chances.size} record{few[0]} of {name} with a rare value get{few[1]} that value back with a "
            f"chance above {OWN:g} (up to {most:.2f}); {_remedy(data, name, scheme)}"
        )

    yield Finding(True, sentence)


def _too_often(data: AuditInput, name: str, scheme: Any) -> Iterator[np.ndarray]:
    """By pool, the chances above `OWN` that records with a rare value get it back."""
    if scheme.p >= 1.0 - OWN:
        return
    x = data.values[name]
    for _, values in values_by_pool(x, data.strata):
        chances = own_value(values, scheme)
        yield chances[chances > OWN]


def _remedy(data: AuditInput, name: str, scheme: Any) -> str:
    """The first of other parameters for which the guard rails hold."""
    for options in _other_options(data.values[name], scheme):
        if hold(data.only(name), {name: replace(scheme, **options)}):
            changed = [_shown(key, value) for key, value in options.items() if value != getattr(scheme, key)]
            return f"pass {', '.join(changed)}{_for_which(data, name, options)}"
    return "drop these records"


def _for_which(data: AuditInput, name: str, options: dict[str, Any]) -> str:
    """Of several columns, the one that a remedy is for; p is that of all."""
    if len(data.values) == 1:
        return ""
    return " for all columns" if "p" in options else f" for {name!r}"


def _shown(name: str, value: Any) -> str:
    return f'{name}="{value}"' if isinstance(value, str) else f"{name}={value:g}"


def _other_options(x: np.ndarray, scheme: Any) -> Iterator[dict[str, Any]]:
    """Other parameters against rare values that come back, starting with those that cost analysts least."""
    yield from ({"aggregate_ends": count} for count in ENDS if count > scheme.aggregate_ends)
    size = _mean_size(x)
    other, unit = ("log", 1.0 / size) if scheme.scale == "linear" else ("linear", size)
    ends = {"aggregate_ends": max(scheme.aggregate_ends, ENDS[0])}

    def wider(own: tuple[float, ...], others: tuple[float, ...]) -> Iterator[dict[str, Any]]:
        for scale, sigma, factors in (
            (scheme.scale, scheme.sigma, own),
            (other, unit * scheme.sigma, others),
        ):
            yield from ({"scale": scale, "sigma": float(f"{times * sigma:.2g}"), **ends} for times in factors)

    yield from wider(WIDER, (1.0, *WIDER))
    seldom = {"p": 1.0 - OWN}  # then a record is seldom kept
    if scheme.p >= CLOSE:
        yield seldom
    yield from wider(WIDEST, WIDEST)
    yield seldom


# --- zeros on the log scale ---


def _of_zeros(data: AuditInput, name: str, scheme: Any) -> Iterator[Finding]:
    """Zeros that kept records get back, beyond those that swapped ones get by chance."""
    x = data.values[name]
    if not zeros_stay(x, scheme):
        return

    def sentence() -> str:
        share = _share_of_zeros(x)
        text = (
            f'{share:.0%} of the values of {name} are zero and stay so under scale="log": all kept records '
            f"that have one show it, against {share:.0%} of the swapped ones"
        )
        for times in LINEAR:
            options = {
                "scale": "linear", "sigma": float(f"{times * _mean_size(x):.2g}"),
                "aggregate_ends": max(scheme.aggregate_ends, ENDS[-1]),
            }  # fmt: skip
            if hold(data.only(name), {name: replace(scheme, **options)}):
                changed = ", ".join(_shown(key, value) for key, value in options.items())
                return f"{text}; pass {changed}{_for_which(data, name, options)} where it matters"
        return text

    yield Finding(False, sentence)


def zeros_stay(x: np.ndarray, scheme: Any) -> bool:
    """Whether so many values are zeros, which the log scale does not move, that their records stand out."""
    share = _share_of_zeros(x) if scheme.scale == "log" else 0.0
    return share / (1.0 + share) > causes.UNCHANGED  # (share - share^2) / (1 - share^2)


def _share_of_zeros(x: np.ndarray) -> float:
    """The share of zeros among the values that are present."""
    parts = [x[start:stop] for start, stop in blocks(x.size)]
    present = sum(int(np.count_nonzero(~np.isnan(part))) for part in parts)
    return sum(int(np.count_nonzero(part == 0.0)) for part in parts) / max(present, 1)


def _mean_size(x: np.ndarray) -> float:
    """The mean size of the values other than zero."""
    sizes = x[(x < 0.0) | (x > 0.0)]
    return float(np.abs(sizes, out=sizes).mean()) if sizes.size else 1.0
