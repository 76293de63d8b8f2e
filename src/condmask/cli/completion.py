"""``condmask completion``: what lets a shell complete commands, options, their choices and files.

The script is made of the grammar when it is asked for, by shtab, which writes that of each shell; what is
completed later starts no Python. It is installed with the extra ``cli``.
"""

import argparse
from typing import Any

from condmask.cli.arguments import add_running, command

SHELLS = ("bash", "zsh", "fish")
FILES = ("IN", "OUT", "FILE", "PATH")
FOLDERS = ("FOLDER",)


def add(commands: Any) -> None:
    new = command(
        commands, "completion", run, "Print a script that completes commands and options in a shell.",
        'eval "$(condmask completion bash)"   # in ~/.bashrc',
    )  # fmt: skip
    new.add_argument_group("the shell").add_argument(
        "shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS)
    )
    add_running(new, json=False)


def run(args: argparse.Namespace) -> str:
    import shtab

    for each in parsers(args.grammar):
        for action in each._actions:
            if action.metavar in (*FILES, *FOLDERS):
                action.complete = shtab.FILE if action.metavar in FILES else shtab.DIRECTORY  # type: ignore[attr-defined]
    return shtab.complete(args.grammar, shell=args.shell)


def parsers(top: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """A parser, and those of its commands."""
    commands = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    return [top, *(each for action in commands for each in action.choices.values())]
