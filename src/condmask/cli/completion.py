"""``condmask completion``: a script with which a shell completes commands, options and file names.

shtab, of the extra ``cli``, makes it from the grammar, for each shell. Completing later starts no Python.
"""

import argparse
from typing import Any

from condmask._optional import optional
from condmask.cli.arguments import add_running, command

SHELLS = ("bash", "zsh", "fish")
FILES = ("IN", "OUT", "FILE", "PATH")
FOLDERS = ("FOLDER",)


def add(commands: Any) -> None:
    new = command(
        commands, "completion", run, "Print a script with which a shell completes commands and options.",
        'eval "$(condmask completion bash)"   # in ~/.bashrc',
    )  # fmt: skip
    new.add_argument_group("the shell").add_argument(
        "shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS[:-1]) + f" or {SHELLS[-1]}"
    )
    add_running(new, json=False)


def run(args: argparse.Namespace) -> str:
    with optional("completion", "cli"):
        import shtab

    for each in parsers(args.grammar):
        for action in each._actions:
            if action.metavar in (*FILES, *FOLDERS):
                action.complete = shtab.FILE if action.metavar in FILES else shtab.DIRECTORY  # type: ignore[attr-defined]
    return shtab.complete(args.grammar, shell=args.shell)


def parsers(top: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """A parser and those of its commands."""
    commands = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    return [top, *(each for action in commands for each in action.choices.values())]
