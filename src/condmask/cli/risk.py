"""``condmask risk``: what attackers would learn from a release, or do learn from an existing one."""

import argparse
from dataclasses import MISSING
from typing import Any

from condmask.cli.arguments import UsageError, add_running, add_source, command, typed, usage
from condmask.cli.output import to_json
from condmask.cli.schemes import add_csv, add_scheme, csv_of, given_parameters, schemes_of
from condmask.cli.terms import in_terms_of_column
from condmask.schemes.parameters import PARAMETERS, number, option_of, whole


def add(commands: Any) -> None:
    new = command(
        commands, "risk", run,
        "Measure how closely attackers can guess original values, before masking or after it.",
        "condmask risk people.parquet -c income --p 0.6 --sigma 500 --within 250",
    )  # fmt: skip
    add_source(new).add_argument(
        "--release", metavar="FILE", help="a release of IN: use its scheme, and show its own risk as well"
    )
    add_scheme(
        new,
        required=False,
        several=False,
        text="--p and --sigma are needed, unless --release has the scheme.",
    )
    risks = new.add_argument_group("the risk")
    risks.add_argument(
        "--within", type=typed(number), action="append", required=True, metavar="D",
        help="a guess closer than D to the true value counts, in units of the data (repeat for more); of "
        "multiples of 100 those with D=100 are equal",
    )  # fmt: skip
    risks.add_argument(
        "--other", action="append", dest="others", default=[], metavar="COLUMN",
        help="unmasked column that an attacker knows (repeat for more)",
    )  # fmt: skip
    risks.add_argument(
        "--thorough", action="store_true", help="also train an attacker on releases of half of the file"
    )
    risks.add_argument(
        "--exposed", type=typed(whole), metavar="K",
        help="with --release: list the K records that the best attacker is surest of, for your eyes only",
    )  # fmt: skip
    add_csv(new)
    add_running(new)


def run(args: argparse.Namespace) -> str:
    from condmask import _checks

    with usage():
        csv = csv_of(args)
        within = _checks.distances(args.within, "--within")
        if args.exposed is not None:
            _checks.whole(args.exposed, "--exposed", least=1)
            if args.release is None:
                raise UsageError("--exposed must go with --release")
        if args.release is None:
            (column, scheme), *rest = _schemes(args).items()
        else:
            for name in given_parameters(args):
                raise UsageError(f"{option_of(name)} must be left out: --release has the scheme")
            rest = args.column[1:]
        if rest:
            raise UsageError("--column must be given once here: attackers are tried column by column")
        if args.column[0] in args.others:
            raise UsageError(f"--other must name other columns, got {args.column[0]!r}")
    from condmask.disclosure.insider_risk import insider_risk
    from condmask.disclosure.record_risk import record_risk
    from condmask.disclosure.risk import release_risk, risk
    from condmask.files.read import read_column, read_labels, read_numbers
    from condmask.releases.release import masked_column, read_schemes
    from condmask.strata import names_of

    if args.release is not None:
        schemes = read_schemes(args.release)
        column = masked_column(schemes, args.column[0])
        scheme = schemes[column]
    args.to_cli_terms = in_terms_of_column(args.to_cli_terms, column)
    x = read_numbers(args.file, column, csv=csv)
    strata = {name: read_labels(args.file, name, csv=csv) for name in names_of(scheme.strata)}
    options: dict[str, Any] = {"strata": strata or None}
    others = {name: read_column(args.file, name, csv=csv) for name in args.others} or None
    expected = risk(x, scheme, d=within, others=others, thorough=args.thorough, **options)
    risks: dict[str, Any] = {"scheme": expected}
    exposed: dict[str, Any] = {}
    if args.release is not None:
        z = read_numbers(args.release, column)
        risks["release"] = release_risk(x, z, scheme, d=within, others=others, audit=False, **options)
        if args.exposed is not None:
            records = record_risk(x, z, scheme, d=float(within[0]), **options)
            exposed["exposed"] = [int(row) for row in records.exposed(args.exposed)]
    if scheme.reverse_mapping:
        risks["insiders"] = insider_risk(x, scheme, d=within, **options)
    if args.json:
        return to_json({name: result.to_dict() for name, result in risks.items()} | exposed)
    text = "\n\n".join(map(str, risks.values()))
    if exposed:
        rows = ", ".join(map(str, exposed["exposed"]))
        text += (
            f"\n\nrows, counted from 0, whose values the best attacker guesses right and is surest of: {rows}"
        )
    return str(args.to_cli_terms(text))


def _schemes(args: argparse.Namespace) -> dict[str, Any]:
    given = given_parameters(args)
    for name, parameter in PARAMETERS.items():
        if parameter.default is MISSING and name not in given:
            raise UsageError(f"{option_of(name)} must be given, or --release, which has the scheme")
    return schemes_of(args)
