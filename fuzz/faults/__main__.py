"""``python -m fuzz.faults``: put in the faults of rooms, and count those that the tests notice."""

import argparse
import sys
import tempfile
from pathlib import Path

from fuzz.faults.copy import Copy
from fuzz.faults.listed import AgedError, listed, rooms
from fuzz.faults.runner import SECONDS, run, wrongly
from fuzz.faults.table import table


def main():
    """Run what the command line asks for; the exit code is 1 if a fault survived that nobody explains."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz.faults", description="Put in the faults of rooms; without any, of all."
    )
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(rooms()))
    parser.add_argument("--workers", type=int, default=1, help="faults at once (default: 1)")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help=f"of a processor for each (default: {SECONDS})"
    )
    parser.add_argument("--again", action="store_true", help="try those again that survived before")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table there")
    args = parser.parse_args()
    if unknown := {*args.rooms} - {*rooms()}:
        parser.error(f"rooms must be among {', '.join(rooms())}, got {', '.join(sorted(unknown))}")
    faults = [fault for room in args.rooms or rooms() for fault in listed(room)]
    try:
        results = run(faults, args.workers, args.seconds, again=args.again)
    except AgedError as error:
        parser.error(str(error))
    with tempfile.TemporaryDirectory(prefix="condmask-faults-") as folder:
        if wrong := wrongly(results, Copy(folder), 3600):
            parser.error(f"{wrong} fails without any fault")
    if args.write:
        args.write.write_text(table(faults, results))
    pairs = list(zip(faults, results, strict=True))
    left = [fault for fault, result in pairs if not result.by]
    for fault in left:
        print(f"survived: {fault.file}: {fault.was!r} -> {fault.now!r}: {fault.explained or fault.why}")
    spent = sum(result.seconds for result in results) / len(results)
    print(f"{len(faults)} faults, {len(faults) - len(left)} noticed, {spent:.0f} s of a processor for each")
    return int(not all(fault.explained for fault in left))


if __name__ == "__main__":
    sys.exit(main())
