"""``condmask estimate``: what a masked file tells about the original."""

import argparse
from typing import Any

from condmask._digits import number
from condmask._warn import warn
from condmask.cli.arguments import UsageError, add_workers, command, usage, workers
from condmask.cli.output import to_json
from condmask.cli.streams import add_release

DECILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
PARTS = ("value", "standard_error", "low", "high")


def add(commands: Any) -> None:
    text = "Estimate mean, s.d., quantiles and more of the original from a masked file."
    new = command(commands, "estimate", run, text)
    add_release(new, "file")
    new.add_argument("-c", "--column", help="masked column; may be left out where there is one")
    new.add_argument(
        "--quantiles", type=float, nargs="+", metavar="Q", help="0 < Q < 1 (default the deciles)"
    )
    new.add_argument(
        "--cdf", type=float, nargs="+", metavar="T", help="distribution function at these points"
    )
    new.add_argument(
        "--bandwidth", help="smooth: scott, silverman, undersmooth or a number in units of the data"
    )
    new.add_argument("--other", metavar="COLUMN", help="correlation with this column")
    new.add_argument("--level", type=float, default=0.95, help="confidence level of the intervals (.95)")
    new.add_argument(
        "--target", default="population",
        help="what they cover: population (default), or file, the values of the original file itself",
    )  # fmt: skip
    new.add_argument("--group", metavar="COLUMN", help="means by the groups of this column")
    add_workers(new)


def run(args: argparse.Namespace) -> str:
    with usage():
        from condmask import _checks
        from condmask.inference.intervals import UndefinedError, check_target

        bandwidth = _bandwidth(args.bandwidth)
        quantiles = _points(args.quantiles or DECILES, "--quantiles", probabilities=True)
        points = _points(args.cdf or [], "--cdf")
        threads = workers(args)
        level, target = _checks.probability(args.level, "level"), check_target(args.target)
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
