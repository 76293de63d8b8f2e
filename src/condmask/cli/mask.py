"""``condmask mask``: the masked file and what is published with it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condmask.cli.arguments import add_again, add_running, add_source, command, usage, workers
from condmask.cli.output import entries, listing, progress, to_json
from condmask.cli.schemes import add_csv, add_scheme, commands_of, csv_of, schemes_of

if TYPE_CHECKING:
    from condmask.releases.release import Release


def add(commands: Any) -> None:
    new = command(
        commands, "mask", run, "Mask columns of a file. How they were masked is stored with the masked data.",
        "condmask mask people.parquet masked.parquet -c income --p 0.6 --sigma 0.3 --scale log "
        "--reverse-mapping",
    )  # fmt: skip
    files = add_source(new, "source")
    files.add_argument("target", metavar="OUT", help="the masked file to write")
    files.add_argument("--force", action="store_true", help="replace OUT if it exists")
    add_scheme(new)
    release = new.add_argument_group("the release")
    release.add_argument(
        "--omit-missing", action="store_true", help="leave missing values missing, rather than refuse them"
    )
    release.add_argument(
        "--round", action="store_true",
        help="first round the data to multiples of the step (ties up), and report what that changes",
    )  # fmt: skip
    release.add_argument(
        "--accept-visible-coins", action="store_true",
        help="release without an audit, even if the release shows which records were swapped",
    )  # fmt: skip
    release.add_argument(
        "--keep-metadata", action="append", default=[], metavar="NAME",
        help="entry in the metadata of a Parquet or Arrow file to release unchanged (repeat for more)",
    )  # fmt: skip
    release.add_argument(
        "--dry-run", action="store_true", help="check and audit everything, but write nothing: try this first"
    )
    log = new.add_argument_group("earlier releases")
    log.add_argument(
        "--log", default=True, metavar="PATH",
        help="file that lists earlier releases (default: your own log)",
    )  # fmt: skip
    log.add_argument(
        "--no-log", dest="log", action="store_const", const=False,
        help="neither look up earlier releases nor enter this one",
    )  # fmt: skip
    add_again(log)
    add_csv(new)
    add_running(new, workers=True)


def run(args: argparse.Namespace) -> str:
    with usage():
        schemes = schemes_of(args)
        threads, csv = workers(args), csv_of(args)
    from condmask.releases.mask_file import audit_file, mask_file

    with progress() as report:
        release = mask_file(
            args.source, args.target, schemes,
            nan_policy="omit" if args.omit_missing else "raise", round=args.round,
            force=args.force, workers=threads, progress=report,
            accept_visible_coins=args.accept_visible_coins, dry_run=args.dry_run, csv=csv,
            keep_metadata=args.keep_metadata,
            log=args.log, again=args.again,
        )  # fmt: skip
    if args.dry_run:
        audit = audit_file(args.source, schemes, csv=csv)
        if args.json:
            return to_json({"target": None, **_published(release), "audit": audit.to_dict()})
        commands = commands_of(args, audit, args.source, args.target)
        return "\n".join([args.to_cli_terms(str(audit)), *commands, "nothing was written"])
    if args.json:
        return to_json({"target": args.target, **_published(release)})
    lines = [*listing(release.schemes), *_layout(args.target)]
    return "\n".join([f"masked values in {args.target}", *lines])


def _published(release: "Release") -> dict[str, Any]:
    """What is published with the columns, for JSON."""
    shifts = {name: origin.shift for name, origin in release.origins.items() if origin.shift}
    return {"schemes": entries(release.schemes), **({"rounded": shifts} if shifts else {})}


def _layout(path: str) -> list[str]:
    """How a CSV file was read and written."""
    from condmask.files.about import published
    from condmask.files.read import opened

    release = published(Path(path))
    layout = opened(path, None if release is None else release.form).layout
    return [] if layout is None else [f"read and written with {layout.form}"]
