"""What commands write: text and JSON for standard output, one-line warnings and a bar for standard error."""

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from condmask._digits import finite

if TYPE_CHECKING:
    from condmask.schemes.conditional import ConditionalMasking


def to_json(value: Any) -> str:
    """JSON has no NaN and no infinity: null."""
    return json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return finite(value)


def entries(schemes: "dict[str, ConditionalMasking]") -> dict[str, Any]:
    """Schemes by column, for JSON."""
    return {name: scheme.to_dict() for name, scheme in schemes.items()}


def listing(schemes: "dict[str, ConditionalMasking]") -> list[str]:
    """Schemes by column, a line each."""
    width = max(map(len, schemes), default=0)
    return [f"{name:{width}}  {scheme!r}" for name, scheme in schemes.items()]


@contextlib.contextmanager
def one_line_warnings(to_cli_terms: Callable[[str], str]) -> Iterator[None]:
    """Each warning to a user once, on one line; those to programmers not at all."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        line = to_cli_terms(" ".join(str(message).split()))
        if line not in shown:
            shown.add(line)
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
def progress() -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(unit=" rows", unit_scale=True, leave=False, file=sys.stderr, desc="reading") as bar:

        def report(done: int, total: int | None) -> None:
            if total is not None and bar.total is None:  # a second time through the rows
                bar.set_description("writing", refresh=False)
                bar.reset(total)
            bar.update(done - bar.n)

        yield report
