"""``-`` in place of a file: standard input and standard output, for CSV.

Input is kept in a temporary file without a name, and read when it is needed. A release is complete, checked,
and entered in the ledger before its first byte goes to standard output.
"""

import argparse
import contextlib
import os
import select
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from condmask.cli.arguments import UsageError, usage
from condmask.errors import ArgumentError

IN = "the original data: a file, a folder or 'glob' of files, or - for CSV from standard input"
DATA = ("file", "source", "release")  # the arguments that name data to be read
BLOCK = 1 << 20
MAGIC = {b"PAR1": "Parquet", b"ARROW1": "Arrow"}


def add_files(parser: argparse.ArgumentParser) -> Any:
    """The first group: the files that are read and written."""
    return parser.add_argument_group("files")


def add_source(parser: argparse.ArgumentParser, name: str = "file") -> Any:
    """Add IN, the original data, as the first of the files; returns the group of these."""
    files = add_files(parser)
    files.add_argument(name, metavar="IN", help=IN)
    return files


def add_scheme_file(group: Any, text: str) -> None:
    """``--scheme``, the file that is published with the data and says how they were masked."""
    group.add_argument("--scheme", dest="scheme_file", metavar="FILE", help=text)


def add_release(
    parser: argparse.ArgumentParser, group: Any, name: str, text: str = "the masked file or folder"
) -> None:
    """Add a release that is read, IN or an option, and the place of its scheme."""
    metavar, place = ("FILE", name) if name.startswith("-") else ("IN", "IN")
    group.add_argument(name, metavar=metavar, help=f"{text}, or - for CSV from standard input")
    parser.set_defaults(released=name.lstrip("-"), release_place=place)
    add_scheme_file(
        group, f"the .condmask.json file published with {place}, if that is not beside it or {place} is -"
    )


def add_target(parser: argparse.ArgumentParser, group: Any) -> None:
    """Add OUT, where a release goes, and the file published with it."""
    group.add_argument(
        "target", metavar="OUT", help="the masked file to write, or - for uncompressed CSV to standard output"
    )
    parser.set_defaults(written="target")
    add_scheme_file(
        group, "if OUT is -: the file to write that says how the data were masked, to be published with them"
    )
    group.add_argument(
        "--force", action="store_true", help="replace OUT, or the file of --scheme, if it exists"
    )


@contextlib.contextmanager
def standard_streams(args: argparse.Namespace) -> Iterator[None]:
    """Let ``-`` among the arguments of a command stand for a stream."""
    from condmask.files.streams import INPUT, OPENED, OUTPUT, SCHEMES, Stream

    read = [name for name in DATA if getattr(args, name, None) == "-"]
    if len(read) > 1:
        raise UsageError("- must stand for one file to be read, got it twice")
    written = getattr(args, "written", None)
    writes = written is not None and args.target == "-"
    with usage():
        _check_scheme(args, writes=writes)
        if writes or (read and written):
            _check_places(args)
    with contextlib.ExitStack() as stack:
        stack.callback(OPENED.clear)
        stack.callback(SCHEMES.clear)
        if read:
            setattr(args, read[0], str(INPUT))
            OPENED[INPUT] = Stream(_standard_input)
            stack.callback(OPENED[INPUT].close)
        if writes:
            args.target = str(OUTPUT)
            OPENED[OUTPUT] = Stream()
            stack.callback(OPENED[OUTPUT].close)
        if getattr(args, "scheme_file", None) is not None:
            SCHEMES[Path(args.target if writes else getattr(args, args.released))] = Path(args.scheme_file)
        yield


def word(path: str) -> str:
    """A path as it is written on the command line."""
    from condmask.files.streams import OPENED

    return "-" if Path(path) in OPENED else path


def print_text(args: argparse.Namespace, text: str) -> None:
    """Print what a command says; on standard error if data went to standard output."""
    from condmask.files.streams import OPENED, OUTPUT

    print(text, flush=True, file=sys.stderr if OUTPUT in OPENED else sys.stdout)


def write_out(args: argparse.Namespace) -> None:
    """Write a release made for standard output there; if that fails, take it back."""
    from condmask.files.atomic import FileError, fingerprint
    from condmask.files.streams import OPENED

    stream = OPENED.get(Path(args.target))
    if stream is None or stream.kept is None:  # a file, or a dry run
        return
    scheme = Path(args.scheme_file)
    published = fingerprint(scheme)
    try:
        try:
            with stream.open() as data:
                shutil.copyfileobj(data, sys.stdout.buffer, BLOCK)
            sys.stdout.buffer.flush()
            status = _status(sys.stdout)
            if status is not None:  # the disk may be full only now
                os.fsync(sys.stdout.fileno())
        except BaseException:
            give_up_output()
            if fingerprint(scheme) == published:
                scheme.unlink()
            raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        entered = (
            "" if args.ledger is False else
            ". The release stays in the ledger, since others may have a part of it; if nobody has, remove it "
            "with condmask ledger --forget"
        )  # fmt: skip
        raise FileError(
            f"standard output: {why} before the whole release was written; {scheme} was removed{entered}"
        ) from error


def give_up_output() -> None:
    """Write nothing more to standard output, not even what is buffered."""
    with contextlib.suppress(OSError, ValueError):  # it may be no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_scheme(args: argparse.Namespace, *, writes: bool) -> None:
    """Refuse ``--scheme`` if it is of no use, and its absence if it is needed."""
    scheme, released = getattr(args, "scheme_file", None), getattr(args, "released", None)
    data = getattr(args, released) if released else None
    if scheme is None:
        if writes:
            raise UsageError("--scheme must name the file that is published with OUT, if OUT is -")
        if data == "-":
            raise UsageError(
                f"--scheme must name the file published with {args.release_place}, if "
                f"{args.release_place} is -"
            )
        return
    if released is None and not writes:
        raise UsageError(f"--scheme must be left out unless OUT is -, got {args.target}, which has its own")
    if released and data is None:
        raise UsageError("--scheme must be given together with --release")
    if scheme == "-":
        raise UsageError("--scheme must name a file, got -")
    if not writes:
        _check_text(data)
        return
    from condmask import _checks

    _checks.writable(scheme, "--scheme")
    if Path(scheme).is_symlink() or (Path(scheme).exists() and not Path(scheme).is_file()):
        raise UsageError(f"--scheme must be an ordinary file, got {scheme}")
    if sys.stdout is None:
        raise UsageError("standard output must be open where OUT is -, but it is closed")


def _check_text(data: Any) -> None:
    """Refuse data that contain their scheme."""
    from condmask.files.formats import ROOMY, format_of

    if data != "-" and (not Path(data).is_file() or format_of(Path(data)) in ROOMY):
        raise UsageError(f"--scheme must be given only with - or a text file, got {data}")


def _check_places(args: argparse.Namespace) -> None:
    """Refuse a release that would overwrite its source or its scheme."""
    places = {
        "IN": _status(sys.stdin if args.source == "-" else args.source),
        "--scheme": _status(args.scheme_file),
        "OUT": _status(sys.stdout if args.target == "-" else args.target),
    }
    names = list(places)
    for k, first in enumerate(names):
        for second in names[k + 1 :]:
            a, b = places[first], places[second]
            if a is not None and b is not None and os.path.samestat(a, b):
                raise UsageError(f"{second} must be a different file from {first}")


def _status(file: Any) -> os.stat_result | None:
    """The status of an ordinary file, open or by its path; None of anything else."""
    try:
        status = os.stat(file if isinstance(file, str) else file.fileno())
    except (OSError, ValueError, AttributeError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _standard_input() -> IO[bytes]:
    """All of standard input, in a temporary file without a name."""
    from condmask.files.atomic import temporary

    if sys.stdin is None:
        raise ArgumentError("standard input is closed: pipe a CSV file into it, or name the file")
    if sys.stdin.isatty():
        raise ArgumentError("standard input is a terminal: pipe a CSV file into it, or name the file")
    with contextlib.ExitStack() as stack:
        kept = temporary()
        stack.callback(kept.close)
        while (data := sys.stdin.buffer.read(BLOCK)) != b"":
            if data is None:  # a non-blocking pipe, still empty
                select.select([sys.stdin], [], [])
            else:
                kept.write(data)
        kept.seek(0)
        start = kept.read(8)
        for magic, kind in MAGIC.items():
            if start.startswith(magic):
                raise ArgumentError(
                    f"standard input must be CSV, plain or gzipped, got {kind}: name the file instead"
                )
        stack.pop_all()
    return kept
