"""``condmask plan``: choose p, sigma and noise for a file."""

import argparse
import re
from typing import Any

from condmask.cli.arguments import add_estimand, add_running, add_source, command, typed, usage
from condmask.cli.output import to_json
from condmask.cli.schemes import add_csv, add_parameter, csv_of, mask_command
from condmask.cli.terms import in_terms_of_column
from condmask.errors import ArgumentError
from condmask.schemes.parameters import choices_of, number, number_or_fraction, whole

COMMON = ("strata", "small_strata", "missing", "missing_as")  # parameters of all schemes that are tried


def add(commands: Any) -> None:
    new = command(
        commands, "plan", run, "Compare what values of p and sigma would protect and cost, and suggest some.",
        "condmask plan people.parquet -c income", "condmask plan people.parquet -c income --max-risk 250=.45",
    )  # fmt: skip
    add_source(new)
    data = new.add_argument_group("the column")
    data.add_argument("-c", "--column", required=True, help="column to mask")
    for name in COMMON:
        add_parameter(data, name)
    data.add_argument("--decimals", type=typed(whole), metavar="N", help="decimal places of the data")
    data.add_argument(
        "--step",
        type=typed(number_or_fraction),
        metavar="STEP",
        help="what the data are multiples of (0.05, 1/3)",
    )
    limits = new.add_argument_group("limits", "Each may be repeated.")
    for option, metavar, text in (
        (
            "--max-risk", "D=RISK",
            "largest share of records whose value an attacker may guess closer than D (250=.45)",
        ),
        (
            "--max-record-risk", "D=RISK",
            "largest chance that any single record is released with a value within D of its own",
        ),
        (
            "--max-error", "NAME=ERROR",
            "largest standard error of mean, std, median, 'quantile 0.1', correlation, slope or difference",
        ),
    ):  # fmt: skip
        limits.add_argument(
            option, action="append", type=typed(_pair), default=[], metavar=metavar, help=text
        )
    limits.add_argument(
        "--within",
        type=typed(number),
        action="append",
        metavar="D",
        help="further distance at which risks are shown (default without limits: a quarter of the s.d.)",
    )
    limits.add_argument(
        "--other", metavar="COLUMN",
        help="show errors of the correlation with this column, the slope on it, and the difference of two "
        "groups by it",
    )  # fmt: skip
    add_estimand(limits, "what is estimated: the population, or the original values themselves")
    tried = new.add_argument_group("schemes to try", "Each may be repeated.")
    tried.add_argument(
        "--p", type=typed(number), action="append", help="swap probability (default: nine values)"
    )
    tried.add_argument(
        "--sigma",
        type=typed(number),
        action="append",
        help="standard deviation of the noise (default: nine values)",
    )
    for name, text in (
        ("noise", "distribution of the noise"), ("scale", "scale of the noise of reverse mapping"),
        ("donors", "whose values swapped records get"),
    ):  # fmt: skip
        choices = choices_of(name)
        default = "linear, for skewed amounts both" if name == "scale" else choices[0]
        tried.add_argument(f"--{name}", action="append", choices=choices, help=f"{text} (default {default})")
    tried.add_argument(
        "--reverse-mapping", action=argparse.BooleanOptionalAction,
        help="only schemes with reverse mapping, or only those without (default: both)",
    )  # fmt: skip
    result = new.add_argument_group("the result")
    result.add_argument(
        "--check", type=typed(whole), metavar="S",
        help="compare the predicted errors of the best scheme with those of S simulated releases, say 400",
    )  # fmt: skip
    result.add_argument("--plot", metavar="FILE", help="draw risk against loss of precision")
    result.add_argument(
        "--all", action="store_true", help="print every scheme that no other beats in both risk and loss"
    )
    add_csv(new)
    add_running(new)


def run(args: argparse.Namespace) -> str:
    from condmask import _checks
    from condmask.strata import not_masked

    said = in_terms_of_column(args.to_cli_terms, args.column)
    # an option of `condmask mask` alone
    args.to_cli_terms = lambda text: re.sub(
        r"\baggregate_ends=(\d+)(?=[;.]| and|$)", r"--aggregate-ends \1", said(text)
    )
    with usage():
        csv = csv_of(args)
        risks, record_risks = (
            {_distance(name, option): value for name, value in caps}
            for caps, option in (
                (args.max_risk, "--max-risk"), (args.max_record_risk, "--max-record-risk")
            )
        )  # fmt: skip
        errors = dict(args.max_error)
        if args.check is not None:
            _checks.whole(args.check, "--check", least=10)
        if args.plot is not None:
            from condmask.plot.panels import check_format

            check_format(_checks.writable(args.plot, "--plot"), "--plot")
        common = {name: getattr(args, name) for name in COMMON if getattr(args, name) is not None}
        strata = not_masked(common.pop("strata", None), [args.column])
    from condmask.files.read import read_column, read_labels, read_numbers
    from condmask.planning.plan import plan

    result = plan(
        read_numbers(args.file, args.column, csv=csv),
        strata={name: read_labels(args.file, name, csv=csv) for name in strata} or None, **common,
        max_risk=risks or None, max_record_risk=record_risks or None, max_error=errors or None, d=args.within,
        other=None if args.other is None else read_column(args.file, args.other, csv=csv),
        p=args.p, sigma=args.sigma, noise=args.noise or "normal", reverse_mapping=args.reverse_mapping,
        scale=args.scale, donors=args.donors or "permutation", decimals=args.decimals,
        step=args.step, target=args.target,
    )  # fmt: skip
    checks = [] if args.check is None else [
        result.check(replications=args.check, target=target) for target in ("population", "file")
    ]  # fmt: skip
    if args.plot is not None:
        result.plot(args.plot)
    if args.json:
        return to_json(
            result.to_dict() | ({"check": [check.to_dict() for check in checks]} if checks else {})
        )
    parts = [
        args.to_cli_terms(str(result)), *_commands(args, result), *(_frontier(result) if args.all else []),
        *map(str, checks),
    ]  # fmt: skip
    return "\n\n".join(parts)


def _commands(args: argparse.Namespace, plan: Any) -> list[str]:
    """The command that masks by each suggestion."""
    gaps = ["--omit-missing"] if plan.gaps else []
    commands = [
        f"{suggestion.name}:\n" + mask_command(args, {args.column: suggestion.scheme}, args.file, "OUT", gaps)
        for suggestion in plan.suggestions
    ]
    if plan.caps or plan.record_caps or not commands:
        return commands
    return [
        "No risk was capped, so the most useful scheme protects least. --max-risk and --max-record-risk say "
        "what an attacker may learn. From the safest on:",
        *reversed(commands),
    ]


def _frontier(plan: Any) -> list[str]:
    """The schemes that no other beats, one per line."""
    rows = [row for row in plan.rows() if row["frontier"]]
    rows.sort(key=lambda row: row["loss"])
    risks = [name for name in rows[0] if "risk " in name]
    errors = [name for name in rows[0] if name in ("error of mean", "error of correlation")]
    head = ["p", "sigma", "noise", "reverse_mapping", "scale", "donors", *risks, *errors, "allowed", "audit"]
    table = [head, *([_cell(row[name]) for name in head] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["\n".join("  ".join(map(str.rjust, row, widths)) for row in table)]


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


def _pair(text: str) -> tuple[str, float]:
    """A name and a number."""
    name, between, value = text.rpartition("=")
    try:
        if between:
            return name.strip(), number(value)
    except ArgumentError:
        pass
    raise ArgumentError(f"must be of the form NAME=NUMBER, got {text!r}")


def _distance(text: str, option: str) -> float:
    try:
        return number(text)
    except ArgumentError:
        raise ArgumentError(f"{option} must be of the form DISTANCE=RISK, got {text!r}") from None
