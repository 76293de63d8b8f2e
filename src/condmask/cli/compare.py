"""``condmask compare``: conditional masking and other methods on one file, at equal risk."""

import argparse
from pathlib import Path
from typing import Any

from condmask.cli.arguments import UsageError, add_running, add_source, command, typed, usage, workers
from condmask.cli.output import to_json
from condmask.cli.schemes import add_csv, add_scheme, csv_of, schemes_of
from condmask.cli.terms import in_terms_of_column
from condmask.errors import optional
from condmask.schemes.parameters import number, whole


def add(commands: Any) -> None:
    new = command(
        commands,
        "compare",
        run,
        "Compare the precision that conditional masking and other methods cost at the same risk.",
        "condmask compare people.parquet -c income --p 0.6 --sigma 500 --within 250 --replications 20",
    )
    add_source(new)
    add_scheme(new, several=False)
    study = new.add_argument_group("the comparison")
    study.add_argument(
        "--within", type=typed(number), required=True, metavar="D",
        help="a masked value closer than D to the true one counts as disclosed, in units of the data",
    )  # fmt: skip
    study.add_argument("--other", metavar="COLUMN", help="unmasked column, for correlations")
    study.add_argument(
        "--replications",
        type=typed(whole),
        default=200,
        metavar="S",
        help="number of times the file is masked (default 200)",
    )
    study.add_argument("--out", metavar="FOLDER", help="write the table as CSV and the figure as PNG")
    add_csv(new)
    add_running(new, workers=True)


def run(args: argparse.Namespace) -> str:
    from condmask import _checks

    with usage():
        schemes, csv = schemes_of(args), csv_of(args)
        threads = workers(args)
        within = _checks.positive(args.within, "--within")
        _checks.whole(args.replications, "replications", least=10)
        (column, scheme), *rest = schemes.items()
        if rest:
            raise UsageError(f"--column must be given once here, got {len(schemes)} columns")
        if args.other in schemes:
            raise UsageError(f"--other must name another column, got {args.other!r} twice")
        if scheme.strata is not None:
            raise UsageError("--strata must be left out: other methods have no donor pools")
    from condmask.files.read import read_column, read_numbers
    from condmask.studies.compare import compare

    if args.out is not None:  # before the work is done
        with optional("--out", "plot"):
            import matplotlib.figure  # noqa: F401

        Path(args.out).mkdir(parents=True, exist_ok=True)
    args.to_cli_terms = in_terms_of_column(args.to_cli_terms, column)
    comparison = compare(
        read_numbers(args.file, column, csv=csv), scheme, d=within,
        other=None if args.other is None else read_column(args.file, args.other, csv=csv),
        replications=args.replications, workers=threads, progress=True,
    )  # fmt: skip
    if args.out is not None:
        comparison.plot(Path(args.out, "compare.png"))
        comparison.write(Path(args.out, "compare.csv"))
    return to_json(comparison.to_dict()) if args.json else str(comparison)
