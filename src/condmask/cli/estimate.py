"""``condmask estimate``: what a masked file tells about the original."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from condmask.cli.arguments import UsageError, add_workers, command, usage, workers
from condmask.cli.output import number, to_json

if TYPE_CHECKING:
    from condmask.schemes.conditional import ConditionalMasking

DECILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
# Files beyond this many bytes are estimated from a summary, in one pass and little memory.
SUMMARISED = 1 << 30


def add(commands: Any) -> None:
    text = "Estimate mean, s.d., quantiles and more of the original from a masked file."
    read = command(commands, "estimate", run, text)
    read.add_argument("file", metavar="OUT", help="masked file")
    read.add_argument("-c", "--column", help="masked column; may be left out where there is one")
    read.add_argument("--quantiles", type=float, nargs="+", default=DECILES, metavar="Q", help="0 < Q < 1")
    read.add_argument(
        "--cdf", type=float, nargs="+", metavar="T", help="distribution function at these points"
    )
    read.add_argument(
        "--bandwidth", help="smooth: scott, silverman, undersmooth or a number in units of the data"
    )
    read.add_argument("--with", dest="other", metavar="COLUMN", help="correlation with this column")
    read.add_argument(
        "--one-pass", action="store_true",
        help="estimate from counts, in little memory, as from files of more than 1 GB",
    )  # fmt: skip
    add_workers(read)


def run(args: argparse.Namespace) -> str:
    with usage():
        bandwidth = _bandwidth(args.bandwidth)
        quantiles = _points(args.quantiles, "q", probabilities=True)
        points = _points(args.cdf or [], "t")
        threads = workers(args)
    from condmask.files.release import read_release, read_schemes, read_summary

    schemes = read_schemes(args.file)
    column = next(iter(schemes)) if args.column is None and len(schemes) == 1 else args.column
    if args.other is not None and args.other == column:
        raise UsageError(f"--with must name another column, got {column!r} twice")
    plain = args.other if args.other not in schemes else None
    summary: Any = None
    release: Any
    if args.one_pass or os.path.getsize(args.file) > SUMMARISED:
        summary = read_summary(args.file, column, other=plain)
        release = schemes[column].estimate(summary)
    else:
        release = read_release(args.file, column, workers=threads)
    result: dict[str, Any] = {
        "column": column,
        "n": release.n,
        "mean": release.mean(),
        "std": release.std(),
        "bandwidth": release.bandwidth(bandwidth) if isinstance(bandwidth, str) else bandwidth,
        "quantiles": _pairs("q", quantiles, release.quantile(quantiles, bandwidth=bandwidth)),
    }
    if points:
        result["cdf"] = _pairs("t", points, release.cdf(points, bandwidth=bandwidth))
    if summary is not None and summary.level:
        result["resolution"] = summary.resolution
    if args.other is not None:
        if plain is not None and summary is not None:
            value = release.correlation()
        else:
            exact = read_release(args.file, column, workers=threads)
            value = exact.correlation(_other(args.file, args.other, schemes, threads))
        result["correlation"] = {"with": args.other, "value": value}
    return to_json(result) if args.json else _table(result)


def _bandwidth(text: str | None) -> Any:
    from condmask import _checks
    from condmask.estimates.bandwidth import RULES

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


def _other(path: str, name: str, schemes: "dict[str, ConditionalMasking]", threads: Any) -> Any:
    from condmask.files.release import read_column, read_release

    return read_release(path, name, workers=threads) if name in schemes else read_column(path, name)


def _pairs(name: str, points: list[float], values: Any) -> list[dict[str, float]]:
    return [{name: x, "value": float(y)} for x, y in zip(points, values, strict=True)]


def _table(result: dict[str, Any]) -> str:
    rows = [("n", f"{result['n']:,}"), ("mean", number(result["mean"])), ("s.d.", number(result["std"]))]
    rows += [(f"quantile {pair['q']:g}", number(pair["value"])) for pair in result["quantiles"]]
    rows += [(f"cdf at {pair['t']:g}", number(pair["value"])) for pair in result.get("cdf", [])]
    if "correlation" in result:
        pair = result["correlation"]
        rows.append((f"correlation with {pair['with']}", number(pair["value"])))
    rows += [(name, number(result[name])) for name in ("bandwidth", "resolution") if result.get(name)]
    left, right = (max(len(row[side]) for row in rows) for side in (0, 1))
    return "\n".join(
        [f"original {result['column']}, estimated"] + [f"{a:{left}}  {b:>{right}}" for a, b in rows]
    )
