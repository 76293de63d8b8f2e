"""Commands on a page: they are run when the site is built, and what they print is shown.

Every line of ``.. shell::`` is a command; one that ends with a backslash goes on in the next. All commands
of one page run in one folder, which is empty at first. A command that fails where ``:fails:`` does not say
so is an error.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

from docutils import nodes
from docutils.parsers.rst import Directive, directives

WIDTH = 88  # of what is shown, in characters


class Shell(Directive):
    """``.. shell::`` with a command a line."""

    has_content = True
    option_spec = {"fails": directives.flag}  # noqa: RUF012 docutils wants it so

    def run(self):
        env = self.state.document.settings.env
        if env.app.builder.format != "html":
            return []
        shown = []
        for command in "\n".join(self.content).replace("\\\n", "\0").split("\n"):
            code, printed = run(command.replace("\0", ""), folder(env))
            if (code not in (0, 3)) != ("fails" in self.options):  # 3: done, with a warning
                raise self.error(f"{command!r} ended with code {code}: {printed}")
            shown.append("$ " + command.replace("\0", "\\\n"))
            shown += [folded(line) for line in printed.rstrip().splitlines()]
        text = "\n".join(shown)
        return [nodes.literal_block(text, text, language="console")]


def folded(line):
    """A line that is too long, such as a sentence, in several."""
    return textwrap.fill(line, WIDTH, subsequent_indent="    ") if len(line) > WIDTH else line


def run(command, where):
    """The exit code of a command and what it printed, errors too."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    state = str(
        Path(where, ".state")
    )  # where no page meets the releases of another one, or of the reader
    environment = os.environ | {"PATH": path, "COLUMNS": str(WIDTH), "XDG_DATA_HOME": state}
    done = subprocess.run(
        command, shell=True, cwd=where, env=environment, text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def folder(env):
    """Where the commands of the page run; it goes when the build ends."""
    if "shell" not in env.temp_data:
        env.temp_data["shell"] = TemporaryDirectory()
    return env.temp_data["shell"].name


def setup(app):
    """Called by Sphinx."""
    app.add_directive("shell", Shell)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
