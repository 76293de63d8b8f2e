"""``condmask simulate``: a Monte Carlo study with options in TOML."""

import argparse
from typing import Any

from condmask.cli.arguments import add_files, add_running, command, usage, workers
from condmask.cli.output import to_json


def add(commands: Any) -> None:
    text = (
        "Run a Monte Carlo study: bias, RMSE and risk of masking schemes, whether or not an audit would "
        "accept them. To compare schemes of equal risk on a file, see condmask compare."
    )
    new = command(commands, "simulate", run, text, "condmask simulate study.toml --out study.npz")
    files = add_files(new)
    files.add_argument("study", metavar="IN", help="the study, a TOML file")
    files.add_argument("--checkpoint", metavar="FILE", help="save progress here, and resume from it")
    files.add_argument("--out", metavar="FILE", help="save the result")
    files.add_argument("--plot", metavar="FILE", help="draw bias and RMSE")
    add_running(new, workers=True)


def run(args: argparse.Namespace) -> str:
    from condmask import _checks

    with usage():  # a long study is not lost to a wrong path
        threads = workers(args)
        if args.out is not None:
            _checks.writable(args.out, "--out")
        if args.plot is not None:
            from condmask.plot.panels import check_format

            check_format(_checks.writable(args.plot, "--plot"), "--plot")
    from condmask.studies.simulate import simulate
    from condmask.studies.toml import read_study

    options = read_study(args.study)
    result = simulate(**options, workers=threads, progress=True, checkpoint=args.checkpoint)
    if args.out is not None:
        result.save(args.out)
    if args.plot is not None:
        result.plot(args.plot)
    if args.json:
        rows = result.rows()
        text = to_json({"replications": result.replications, "seed": result.seed, "rows": rows})
    else:
        text = str(result)
    if result.replications < options["replications"]:
        print(text, flush=True)
        raise KeyboardInterrupt
    return text
