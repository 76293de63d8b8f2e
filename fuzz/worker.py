"""A process in which libFuzzer runs one target, until time is over or at the first new fault.

The parent gives a folder, in which ``known`` has the faults to pass over; ``inputs`` gets the number of
inputs, and a fault leaves ``fault`` and, from libFuzzer, the input.
"""

import json
import mmap
import os
import struct
import sys
import time
import traceback
from pathlib import Path

import atheris

import condmask
from fuzz.target import Watched, load, own_place, signature

HANGS = 10  # seconds without an answer
LARGEST = 1 << 16  # bytes of an input


class Reporting(Watched):
    """A watched function that counts where the parent sees it, says what went wrong, and ends in time."""

    def __init__(self, target, folder, calls, seconds):
        super().__init__(target)
        self.most, self.ends = calls, time.monotonic() + seconds
        self.known = {*(folder / "known").read_text().splitlines()}
        self.folder = folder
        with (folder / "inputs").open("r+b") as file:
            self.counter = mmap.mmap(file.fileno(), 8)

    def __call__(self, data):
        try:
            super().__call__(data)
        except Exception as error:
            if (fault := signature(error)) not in self.known and not of_engine(error):
                described = {"fault": fault, "text": "".join(traceback.format_exception(error))}
                (self.folder / "fault").write_text(json.dumps(described))
                raise
        finally:
            struct.pack_into("<Q", self.counter, 0, self.inputs)
        if self.calls == self.most or time.monotonic() >= self.ends:
            # libFuzzer's way out waits for threads of pyarrow with the lock of Python that they wait for
            os._exit(0)


def of_engine(error):
    """Whether Atheris is at fault: when its clock rings, it imports something from within what runs there."""
    chain = (error, error.__cause__, error.__context__)
    return any(isinstance(one, KeyError) and one.args == ("__import__",) for one in chain)


def main(name, folder, seed, inputs, seconds):
    """Run a target on so many inputs (-1: no limit), for so long once it is loaded."""
    folder = Path(folder).absolute()
    with own_place(), atheris.instrument_imports(include=["condmask"], exclude=compiled()):
        target = load(name)
        (folder / "seeds").mkdir(exist_ok=True)
        for number, data in enumerate([b"", *target.seeds()]):
            (folder / "seeds" / f"{number}").write_bytes(data)
        words = [b"\0\0\0\0", *target.tokens]  # libFuzzer wants one
        (folder / "tokens").write_text("".join(f'"{escaped(word)}"\n' for word in words))
        options = {
            "seed": seed,
            "timeout": HANGS,
            "rss_limit_mb": 4096,
            "max_len": LARGEST,
            "len_control": 0 if target.takes_arguments else 100,  # few bytes draw no arguments
            "dict": folder / "tokens",
            "artifact_prefix": f"{folder}/saved-",
        }
        told = [f"-{option}={value}" for option, value in options.items()]
        reporting = Reporting(target, folder, int(inputs), float(seconds))
        atheris.Setup([sys.argv[0], *told, str(folder / "seeds")], reporting)
        atheris.Fuzz()


def compiled():
    """Modules that Numba compiles, which cannot tell what lines it runs."""
    kernels = Path(condmask.__file__).parent / "kernels"
    return [f"condmask.kernels.{path.stem}" for path in kernels.glob("*.py")]


def escaped(token):
    """A word as a dictionary of libFuzzer has it."""
    return "".join(f"\\x{byte:02X}" for byte in token)


if __name__ == "__main__":
    main(*sys.argv[1:])
