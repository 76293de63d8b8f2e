"""What commands write: text and JSON to standard output, one-line warnings and a bar to standard error."""

import contextlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from condmask._digits import finite
from condmask.errors import optional

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
    """Schemes by column, one per line."""
    width = max(map(len, schemes), default=0)
    return [f"{name:{width}}  {scheme!r}" for name, scheme in schemes.items()]


def say(line: str) -> None:
    """Write a line on standard error, above a bar if there is one."""
    bars = sys.modules.get("tqdm")
    write = print if bars is None else bars.tqdm.write
    write(line, file=sys.stderr)


@contextlib.contextmanager
def one_line_warnings(to_cli_terms: Callable[[str], str]) -> Iterator[None]:
    """Show each warning to users once, on one line; hide those to programmers."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        line = to_cli_terms(" ".join(str(message).split()))
        if line not in shown:
            shown.add(line)
            say(f"warning: {line}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def progress() -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar on standard error, if that is a terminal: of rows that are read, and then written."""
    if not sys.stderr.isatty():
        yield None
        return
    with optional("a bar on the terminal", "files"):
        from tqdm import tqdm

    with tqdm(leave=False, file=sys.stderr, desc="reading", unit=" rows", unit_scale=True) as bar:

        def show(done: int, total: int | None) -> None:
            if total is not None and bar.total is None:
                bar.set_description("writing", refresh=False)
                bar.reset(total)
            bar.update(done - bar.n)

        yield show
