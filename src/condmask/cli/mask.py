"""``condmask mask``: the masked file and what is published with it."""

import argparse
import contextlib
import sys
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
    ledger = new.add_argument_group("earlier releases")
    ledger.add_argument(
        "--ledger", default=True, metavar="PATH",
        help="file that lists earlier releases (default: your own ledger)",
    )  # fmt: skip
    ledger.add_argument(
        "--no-ledger", dest="ledger", action="store_const", const=False,
        help="neither look up earlier releases nor enter this one",
    )  # fmt: skip
    add_again(ledger)
    add_csv(new)
    add_running(new, workers=True)


def run(args: argparse.Namespace) -> str:
    with usage():
        schemes = schemes_of(args)
        threads, csv = workers(args), csv_of(args)
    from condmask.releases.mask_file import audit_file, mask_file

    announce(args.source, schemes, csv, omitted=args.omit_missing)
    with progress() as report:
        release = mask_file(
            args.source, args.target, schemes,
            nan_policy="omit" if args.omit_missing else "raise", round=args.round,
            overwrite=args.force, workers=threads, progress=report,
            accept_visible_coins=args.accept_visible_coins, dry_run=args.dry_run, csv=csv,
            keep_metadata=args.keep_metadata,
            ledger=args.ledger, again=args.again,
        )  # fmt: skip
    if args.dry_run:
        audit = audit_file(args.source, schemes, csv=csv)
        if args.json:
            return to_json({"target": None, **_published(release), "audit": audit.to_dict()})
        commands = commands_of(args, audit, args.source, args.target)
        return "\n".join([args.to_cli_terms(str(audit)), *commands, "nothing was written"])
    if args.json:
        return to_json({"target": args.target, **_published(release)})
    lines = [*listing(release.schemes), *_dialect(args.target), *_left_out(args.source, args.keep_metadata)]
    return "\n".join([f"masked values in {args.target}", *lines])


def announce(source: str, schemes: "dict[str, Any]", csv: Any = None, *, omitted: bool) -> None:
    """Say how much disk space a large file takes, before it is read."""
    from condmask.files.read import open_table
    from condmask.files.room import MUCH, room_for
    from condmask.strata import names_of

    with contextlib.suppress(ImportError, OSError, ValueError):  # reported when the file is read
        strata = names_of(next(iter(schemes.values())).strata)
        room = room_for(open_table(Path(source), csv), schemes, strata, gaps=omitted)
        if max(room.temporary, room.release) > MUCH:
            print(room, file=sys.stderr)


def _published(release: "Release") -> dict[str, Any]:
    """What is published with the columns, for JSON."""
    shifts = {name: origin.shift for name, origin in release.origins.items() if origin.shift}
    return {"schemes": entries(release.schemes), **({"rounded": shifts} if shifts else {})}


def _left_out(path: str, kept: list[str]) -> list[str]:
    """The entries in the metadata of a file that were not released."""
    from condmask.files.formats import ROOMY, format_of
    from condmask.files.part_files import is_folder
    from condmask.files.read import open_table

    if not is_folder(Path(path)) and format_of(Path(path)) not in ROOMY:
        return []
    left = [name for name in open_table(Path(path)).notes() if name not in kept]
    return [f"metadata left out (--keep-metadata keeps it): {', '.join(left)}"] if left else []


def _dialect(path: str) -> list[str]:
    """How a CSV file was read and written, unless that is the usual way."""
    from condmask.files.read import open_table

    table = open_table(Path(path))
    dialect = getattr(getattr(table, "original", table), "dialect", None)
    return [] if dialect is None or dialect.is_plain else [f"read and written with {dialect}"]
