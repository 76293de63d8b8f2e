"""Targets: what is done with an input, and what counts as a fault.

A module of ``fuzz.targets`` is a target. Its ``one`` takes bytes, or is decorated with `arguments`, which
draws arguments from bytes. It may raise a refusal; anything else is a fault, an assertion above all.
``seeds()``, if it is there, gives bytes to start from, and ``TOKENS`` words that are worth inserting.
"""

import functools
import importlib
import os
import resource
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings

import condmask
from condmask.errors import CondmaskError

PLACE = "condmask-fuzz-"  # how the folders begin in which inputs may write
REFUSALS = (ValueError, TypeError, CondmaskError, ImportError, MemoryError)
PACKAGE = str(Path(condmask.__file__).parent)
OWN = (PACKAGE, str(Path(__file__).parent / "targets"))
CORPUS = Path(__file__).parent / "corpus"
MOST_BYTES = 512 << 20  # that one input may need
MOST_LEFT = 128 << 20  # that all inputs together may leave behind
SETTLED = 5_000  # inputs until caches are full
SETTINGS = settings(
    max_examples=50, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


class GrowthError(Exception):
    """An input that needs too much memory, or the first after which too much was left behind."""


@dataclass(frozen=True)
class Target:
    """A function of bytes, bytes to begin with, and words that are worth inserting."""

    name: str
    module: Any

    @property
    def takes_arguments(self) -> bool:
        """Whether Hypothesis draws its arguments from the bytes."""
        return hasattr(self.module.one, "hypothesis")

    def run(self, data: bytes) -> bool:
        """Run an input; False where its bytes are too few for arguments, and nothing ran."""
        if self.takes_arguments:
            return self.module.one.hypothesis.fuzz_one_input(data) is not None
        allowing_refusals(self.module.one)(data)
        return True

    def seeds(self) -> list[bytes]:
        """What to begin with: what the target offers, or bytes for many arguments, and what once failed."""
        random = np.random.default_rng(1)
        drawn = [random.bytes(size) for size in (64, 256, 1024, 4096) * 4] if self.takes_arguments else []
        return [*drawn, *getattr(self.module, "seeds", list)(), *self.failures().values()]

    def failures(self) -> dict[str, bytes]:
        """Inputs that were faults once, by file."""
        return {path.name: path.read_bytes() for path in sorted((CORPUS / self.name).glob("*"))}

    @property
    def tokens(self) -> list[bytes]:
        """Words that mean something to what reads the input."""
        return list(getattr(self.module, "TOKENS", []))


def names() -> list[str]:
    """The names of all targets."""
    return sorted(path.stem for path in (Path(__file__).parent / "targets").glob("[a-z]*.py"))


def load(name: str) -> Target:
    """The target of a name; one with points is a module anywhere."""
    return Target(name, importlib.import_module(name if "." in name else f"fuzz.targets.{name}"))


def allowing_refusals(function: Callable[..., None]) -> Callable[..., None]:
    """The function, in which a refusal in one line is no fault."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> None:
        try:
            function(*args, **kwargs)
        except REFUSALS as error:
            if not last_own_frame(error).filename.startswith(PACKAGE):
                raise AssertionError("the target itself is at fault") from error
            refusal = str(error)
            if isinstance(error, CondmaskError):
                assert len(refusal.splitlines()) == 1, f"refused in other than one line: {refusal!r}"

    return call


def arguments(**strategies: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Draw the arguments of a target from these strategies."""

    def target(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def call(**drawn: Any) -> None:
            try:
                allowing_refusals(function)(**drawn)
            except Exception as error:
                error.add_note(f"arguments: {drawn!r}"[:5000])
                raise

        return SETTINGS(given(**strategies)(call))

    return target


@contextmanager
def own_place() -> Iterator[Path]:
    """A folder in which inputs may write, the user's ledger among it.

    Warnings are off: a warning is no fault, and each new text of one would stay in memory.
    """
    before = os.environ.get("XDG_STATE_HOME")
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix=PLACE) as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["XDG_STATE_HOME"] = folder + "/state"
        (Path(folder) / "work").mkdir()
        os.chdir(Path(folder) / "work")
        try:
            yield Path(folder) / "work"
        finally:
            os.chdir(here)
            os.environ.pop("XDG_STATE_HOME")
            os.environ.update({} if before is None else {"XDG_STATE_HOME": before})


class Watched:
    """A target that also raises where memory grows, and counts its inputs."""

    def __init__(self, target: Target) -> None:
        self.target, self.inputs, self.calls = target, 0, 0
        self.before, self.settled = peak(), 0

    def __call__(self, data: bytes) -> None:
        self.calls += 1
        self.inputs += self.target.run(data)
        if peak() - self.before > MOST_BYTES:
            raise GrowthError(f"an input needs more than {MOST_BYTES >> 20} MB")
        if self.calls % SETTLED == 0:
            now = resident()
            self.settled = self.settled or now
            if now - self.settled > MOST_LEFT:
                raise GrowthError(f"{self.calls:,} inputs left more than {MOST_LEFT >> 20} MB")


def peak() -> int:
    """The most bytes that this process ever had in memory.

    What `resource.getrusage` says may be that of the parent, which a new process takes over from it.
    """
    (line,) = (
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")
    )
    return int(line.split()[1]) << 10


def resident() -> int:
    """The bytes that this process has in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def last_own_frame(error: BaseException) -> traceback.FrameSummary:
    """The last place in the package or in a target that an error came through."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [one for one in frames if any(part in one[0].f_code.co_filename for part in OWN)]
    frame, line = (own or frames)[-1]
    return traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name, lookup_line=False)


def signature(error: BaseException) -> str:
    """What tells a fault from others: its type, and the last line of the package or the target."""
    frame = last_own_frame(error.__cause__ or error)
    return f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}"
