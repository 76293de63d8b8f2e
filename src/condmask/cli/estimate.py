"""``condmask estimate``: what a masked file tells about the original."""

import argparse
from typing import Any

from condmask._digits import number
from condmask._warn import warn
from condmask.cli.arguments import UsageError, add_estimand, add_running, command, typed, usage, workers
from condmask.cli.output import to_json
from condmask.cli.streams import add_files, add_release
from condmask.schemes.parameters import number as read_number

DECILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
PARTS = ("value", "standard_error", "low", "high")


def add(commands: Any) -> None:
    text = "Estimate mean, s.d., quantiles and more of the original from a masked file."
    new = command(
        commands, "estimate", run, text, "condmask estimate masked.csv -c income --quantile .1 --quantile .9"
    )
    add_release(new, add_files(new), "file")
    asked = new.add_argument_group("what is estimated")
    asked.add_argument("-c", "--column", help="masked column; may be left out where there is one")
    asked.add_argument(
        "--quantile", type=typed(read_number), action="append", dest="quantiles", metavar="Q",
        help="0 < Q < 1 (repeat for more; default the deciles)",
    )  # fmt: skip
    asked.add_argument(
        "--cdf", type=typed(read_number), action="append", metavar="T",
        help="distribution function at T (repeat for more)",
    )  # fmt: skip
    asked.add_argument("--other", metavar="COLUMN", help="correlation with this column")
    asked.add_argument("--group", metavar="COLUMN", help="means by the groups of this column")
    asked.add_argument(
        "--bandwidth",
        metavar="RULE",
        help="smooth: scott, silverman, undersmooth or a number in units of the data",
    )
    intervals = new.add_argument_group("intervals")
    intervals.add_argument(
        "--level", type=typed(read_number), default=0.95, metavar="P", help="confidence level (default 0.95)"
    )
    add_estimand(intervals, "what they cover: the population, or the values of the original file itself")
    add_running(new, workers=True)


def run(args: argparse.Namespace) -> str:
    with usage():
        from condmask import _checks
        from condmask.inference.intervals import UndefinedError

        bandwidth = _bandwidth(args.bandwidth)
        quantiles = _points(args.quantiles or DECILES, "--quantile", probabilities=True)
        points = _points(args.cdf or [], "--cdf")
        threads = workers(args)
        level, target = _checks.probability(args.level, "level"), args.target
    from condmask.releases.read import masked_column, read_release

    release = read_release(args.file, workers=threads)
    schemes, column = release.schemes, masked_column(release.schemes, args.column)
    for option, other in (("--other", args.other), ("--group", args.group)):
        if other is not None and other == column:
            raise UsageError(f"{option} must name another column, got {column!r} twice")
    if args.group in schemes:
        raise UsageError(f"--group must name a column that was not masked, got {args.group!r}")
    estimate = release[column]
    options: dict[str, Any] = {"confidence_level": level, "target": target}
    try:
        summary = estimate.summary(quantiles, points=points, bandwidth=bandwidth, **options)
    except UndefinedError as error:
        if args.quantiles is not None:
            raise
        summary, quantiles = estimate.summary([], points=points, bandwidth=bandwidth, **options), []
        warn(str(error), UserWarning)  # nobody asked for them
    result: dict[str, Any] = {
        "column": column,
        "n": estimate.n,
        "confidence_level": level,
        "target": target,
        "mean": _numbers(summary["mean"]),
        "std": _numbers(summary["s.d."]),
        "bandwidth": estimate.bandwidth(bandwidth) if isinstance(bandwidth, str) else bandwidth,
        "quantiles": [{"q": q, **_numbers(summary[f"quantile {q:g}"])} for q in quantiles],
    }
    if target == "file" and schemes[column].reverse_mapping:
        result["certainty"] = summary.about.partition(", ")[2].partition(";")[0]
    if points:
        result["cdf"] = [{"t": t, **_numbers(summary[f"cdf at {t:g}"])} for t in points]
    if args.other is not None:
        if args.other in schemes and schemes[column].reverse_mapping:  # no interval is known
            correlation = {"value": float(estimate.correlation(args.other))}
        else:
            correlation = _numbers(estimate.correlation_interval(args.other, **options))
        result["correlation"] = {"other": args.other, **correlation}
    if args.group is not None:
        groups = estimate.group_means(args.group, **options)
        result["groups"] = [{"group": str(name), **_numbers(groups[name])} for name in groups]
    if schemes[column].reverse_mapping and (args.other, args.group) != (None, None):
        result["N"] = max(pool.N for pool in estimate.spreads().values())
    return to_json(result) if args.json else _table(result, args.group)


def _numbers(interval: Any) -> dict[str, float]:
    """An estimate with its interval, for JSON."""
    values = (interval.estimate, interval.standard_error, interval.low, interval.high)
    return dict(zip(PARTS, map(float, values), strict=True))


def _bandwidth(text: str | None) -> Any:
    from condmask import _checks
    from condmask.samples.bandwidth import RULES

    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        return _checks.choice(text, "bandwidth", tuple(RULES))
    return _checks.positive(number, "bandwidth")


def _points(values: list[float], name: str, *, probabilities: bool = False) -> list[float]:
    from condmask import _checks

    check = _checks.probabilities if probabilities else _checks.reals
    if values:
        check(values, name)
    return values


def _table(result: dict[str, Any], group: str | None) -> str:
    rows = [("mean", result["mean"]), ("s.d.", result["std"])]
    rows += [(f"quantile {row['q']:g}", row) for row in result["quantiles"]]
    rows += [(f"cdf at {row['t']:g}", row) for row in result.get("cdf", [])]
    if "correlation" in result:
        rows.append((f"correlation with {result['correlation']['other']}", result["correlation"]))
    rows += [(f"mean, {group} {row['group']}", row) for row in result.get("groups", [])]
    level = f"{100.0 * result['confidence_level']:g}%"
    table = [["", "estimate", "s.e.", f"{level} from", "to"]]
    table += [
        [name, *(_cell(row.get(part), row.get("standard_error")) for part in PARTS)] for name, row in rows
    ]
    first, *widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    where = "the population" if result["target"] == "population" else "the original file"
    how = f"{result['certainty']}," if "certainty" in result else "estimated"
    lines = [f"{result['column']} of {where}, {how} from {result['n']:,} masked values"]
    lines += ["  ".join([row[0].ljust(first), *map(str.rjust, row[1:], widths)]).rstrip() for row in table]
    lines += [f"{name}  {number(result[name])}" for name in ("bandwidth", "N") if result.get(name)]
    return "\n".join(lines)


def _cell(value: float | None, error: float | None) -> str:
    return "" if value is None else number(value, error)
