"""``condmask estimate``: estimates for the original from a masked file."""

import argparse
import re
from typing import Any, NamedTuple

from condmask._digits import number
from condmask.cli.arguments import (
    UsageError,
    add_estimand,
    add_release,
    add_running,
    command,
    typed,
    usage,
    workers,
)
from condmask.cli.output import to_json
from condmask.errors import ArgumentError, warn
from condmask.schemes.parameters import number as read_number

DECILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
PARTS = ("value", "standard_error", "low", "high")


def add(commands: Any) -> None:
    text = "Estimate mean, standard deviation, quantiles and more of the original from a masked file."
    new = command(
        commands,
        "estimate",
        run,
        text,
        "condmask estimate masked.parquet -c income",
        "condmask estimate masked.parquet -c income --quantile .1 --quantile .9",
    )
    add_release(new)
    asked = new.add_argument_group("what is estimated")
    asked.add_argument(
        "-c",
        "--column",
        action="append",
        help="masked column (repeat for more; default: every masked column)",
    )
    asked.add_argument(
        "--quantile", type=typed(read_number), action="append", dest="quantiles", metavar="Q",
        help="quantile, 0 < Q < 1 (repeat for more; default: the deciles)",
    )  # fmt: skip
    asked.add_argument(
        "--cdf", type=typed(read_number), action="append", metavar="T",
        help="share of values up to T (repeat for more)",
    )  # fmt: skip
    asked.add_argument("--other", metavar="COLUMN", help="correlation with this column")
    asked.add_argument(
        "--group", action="append", metavar="COLUMN",
        help="mean within each group of this column (repeat to cross several), and the quantiles that are "
        "named if records swapped within the groups alone (--strata)",
    )  # fmt: skip
    asked.add_argument(
        "--weights",
        metavar="COLUMN",
        help="mean weighted by this column, also within groups if --group is given",
    )
    asked.add_argument(
        "--regress", action="append", metavar="COLUMN",
        help="regression on this column of numbers, of yes and no, or of categories (repeat for more)",
    )  # fmt: skip
    asked.add_argument(
        "--bandwidth",
        metavar="RULE",
        help="smooth quantiles and shares, which then have no intervals: scott, silverman, undersmooth or a "
        "number in units of the data",
    )
    intervals = new.add_argument_group("intervals")
    intervals.add_argument(
        "--level", type=typed(read_number), default=0.95, metavar="P", help="confidence level (default 0.95)"
    )
    add_estimand(
        intervals, "what they cover: the value of the population, or that of the original file itself"
    )
    add_running(new, workers=True)


def run(args: argparse.Namespace) -> str:
    with usage():
        from condmask import _checks

        bandwidth = _bandwidth(args.bandwidth)
        quantiles = _points(args.quantiles or DECILES, "--quantile", probabilities=True)
        points = _points(args.cdf or [], "--cdf")
        threads = workers(args)
        level, target = _checks.confidence_level(args.level, "level"), args.target
    from condmask.releases.release import masked_column, read_release

    release = read_release(args.file, workers=threads)
    columns = [masked_column(release.schemes, name) for name in args.column or release.schemes]
    _refuse_masked(
        release.schemes, group=args.group or [], weights=[args.weights], regress=args.regress or []
    )
    if args.regress is not None:
        said = args.to_cli_terms
        args.to_cli_terms = lambda text: re.sub(r"^W must", "--regress must", said(text))
    others = [name for name in columns if name == args.other]
    if others and (args.column is not None or len(columns) == 1):
        raise UsageError(f"--other must name another column, got {args.other!r} twice")
    asked = Asked(quantiles, points, bandwidth, level, target)
    results = [_of_column(args, release, name, asked) for name in columns if name not in others]
    if args.json:
        return to_json(results[0] if len(columns) == 1 else results)
    return "\n\n".join(_table(result, args.group) for result in results)


class Asked(NamedTuple):
    """What is estimated of each column, once it has been checked."""

    quantiles: list[float]
    points: list[float]
    bandwidth: Any
    level: float
    target: str


def _of_column(args: argparse.Namespace, release: Any, column: str, asked: Asked) -> dict[str, Any]:
    """The estimates for one column, in terms of JSON."""
    from condmask.variance.interval import UndefinedError

    bandwidth, level, target = asked.bandwidth, asked.level, asked.target
    schemes, estimate = release.schemes, release[column]
    options: dict[str, Any] = {"confidence_level": level, "target": target}
    try:
        summary, quantiles, shares = _distribution(estimate, asked)
    except UndefinedError as error:
        if args.quantiles is not None:
            raise
        summary, quantiles, shares = _distribution(estimate, asked._replace(quantiles=[]))
        warn(str(error), UserWarning)  # they were not asked for
    result: dict[str, Any] = {
        "column": column,
        "n": estimate.n,
        "confidence_level": level,
        "target": target,
        "mean": _numbers(summary["mean"]),
        "std": _numbers(summary["s.d."]),
        "bandwidth": estimate.bandwidth(bandwidth) if isinstance(bandwidth, str) else bandwidth,
        "quantiles": quantiles,
    }
    if target == "file" and schemes[column].reverse_mapping:
        result["certainty"] = summary.about.partition(", ")[2].partition(";")[0]
    if shares:
        result["cdf"] = shares
    if args.other is not None:
        if args.other in schemes and schemes[column].reverse_mapping:  # no interval is known
            correlation = {"value": float(estimate.correlation(args.other))}
        else:
            correlation = _numbers(estimate.correlation_interval(args.other, **options))
        result["correlation"] = {"other": args.other, **correlation}
    if args.group is not None:
        groups = estimate.group_means(args.group, weights=args.weights, **options)
        result["groups"] = [{"group": _label(name), **_numbers(groups[name])} for name in groups]
        if args.quantiles is not None:
            _add_quantiles(result["groups"], estimate, args.group, asked)
    if args.weights is not None:
        weighted = estimate.weighted_mean(args.weights, **options)
        result["weighted_mean"] = {"weights": args.weights, **_numbers(weighted)}
    if args.regress is not None:
        line = estimate.regress(args.regress, **options)
        result["regression"] = [{"term": name, **_numbers(line[name])} for name in line]
    with_others = any((args.other, args.group, args.weights, args.regress))
    if schemes[column].reverse_mapping and with_others:
        result["N"] = estimate.N
    return result


def _distribution(estimate: Any, asked: Asked) -> tuple[Any, list[dict[str, float]], list[dict[str, float]]]:
    """The summary, quantiles and shares; these without intervals if they are smoothed."""
    q, points, bandwidth, level, target = asked
    options: dict[str, Any] = {"confidence_level": level, "target": target}
    if bandwidth is None:
        found = estimate.summary(q, points=points, **options)
        quantiles = [{"q": each, **_numbers(found[f"quantile {each:g}"])} for each in q]
        return found, quantiles, [{"t": each, **_numbers(found[f"cdf at {each:g}"])} for each in points]
    quantiles = [{"q": each, "value": estimate.quantile(each, bandwidth=bandwidth)} for each in q]
    shares = [{"t": each, "value": estimate.cdf(each, bandwidth=bandwidth)} for each in points]
    return estimate.summary([], **options), quantiles, shares


def _add_quantiles(groups: list[dict[str, Any]], estimate: Any, columns: list[str], asked: Asked) -> None:
    """The quantiles of groups that are whole strata; a warning where they are not."""
    for group in groups:
        try:
            part = estimate.part(dict(_labels(group, columns)))
        except ArgumentError:
            warn(
                f"quantiles are not available by {' and '.join(columns)}, only for whole strata, within "
                "which the publisher let values swap (condmask mask --strata); means are",
                UserWarning,
            )
            return
        _, group["quantiles"], _ = _distribution(part, asked._replace(points=[]))


def _numbers(interval: Any) -> dict[str, float]:
    """An estimate with its interval, for JSON."""
    values = (interval.estimate, interval.standard_error, interval.low, interval.high)
    return dict(zip(PARTS, map(float, values), strict=True))


def _label(name: Any) -> str | list[str]:
    """The label of a group, or those of several columns, for JSON."""
    return [str(label) for label in name] if isinstance(name, tuple) else str(name)


def _labels(group: dict[str, Any], columns: list[str]) -> list[tuple[str, str]]:
    """The columns of a group, each with its label."""
    labels = group["group"] if isinstance(group["group"], list) else [group["group"]]
    return list(zip(columns, labels, strict=True))


def _refuse_masked(schemes: Any, **named: list[str | None]) -> None:
    """Refuse masked columns where others must be named, and columns that are named twice."""
    for option, columns in named.items():
        for name in columns:
            if name in schemes:
                raise UsageError(f"--{option} must name a column that was not masked, got {name!r}")
            if columns.count(name) > 1:
                raise UsageError(f"--{option} must name different columns, got {name!r} twice")


def _bandwidth(text: str | None) -> Any:
    from condmask import _checks
    from condmask.distribution.bandwidth import RULES

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


def _table(result: dict[str, Any], groups: list[str] | None) -> str:
    rows = [("mean", result["mean"]), ("s.d.", result["std"])]
    rows += [(f"quantile {row['q']:g}", row) for row in result["quantiles"]]
    rows += [(f"cdf at {row['t']:g}", row) for row in result.get("cdf", [])]
    if "correlation" in result:
        rows.append((f"correlation with {result['correlation']['other']}", result["correlation"]))
    if "weighted_mean" in result:
        rows.append((f"mean weighted by {result['weighted_mean']['weights']}", result["weighted_mean"]))
    mean = "weighted mean" if "weighted_mean" in result else "mean"
    for row in result.get("groups", []):
        where = ", ".join(f"{column} {label}" for column, label in _labels(row, groups or []))
        rows.append((f"{mean}, {where}", row))
        rows += [(f"quantile {one['q']:g}, {where}", one) for one in row.get("quantiles", [])]
    rows += [(f"regression, {row['term']}", row) for row in result.get("regression", [])]
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
