"""Commands on a page: they are run when the site is built, and what they print is shown.

Every line of ``.. shell::`` is a command; one that ends with a backslash goes on in the next. All commands
of one page run in one folder, which is empty at first but for the files of ``docs/examples``. A command that
fails where ``:fails:`` does not say so is an error. ``:offers: report.html`` links a file that
they wrote below them.
"""

import os
import shutil
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
    option_spec = {"fails": directives.flag, "offers": directives.unchanged}  # noqa: RUF012 docutils wants it so

    def run(self):
        app = self.state.document.settings.env.app
        if app.builder.format != "html":
            return []
        shown = []
        for command in "\n".join(self.content).replace("\\\n", "\0").split("\n"):
            code, printed = run(command.replace("\0", ""), folder(app, app.env.docname))
            if (code != 0) != ("fails" in self.options):
                raise self.error(f"{command!r} ended with code {code}: {printed}")
            shown.append("$ " + command.replace("\0", "\\\n"))
            shown += [folded(line) for line in printed.rstrip().splitlines()]
        text = "\n".join(shown)
        block = nodes.literal_block(text, text, language="console")
        return [block, *(offered(app, name) for name in self.options.get("offers", "").split())]


def offered(app, name):
    """A paragraph that links to a file that the commands of this page wrote; it comes along with the page."""
    page = app.env.docname
    target = Path(app.outdir, f"{page}-{name}")
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(folder(app, page), name), target)
    link = nodes.reference("", "", nodes.literal(name, name), refuri=target.name)
    return nodes.paragraph("", "", link, nodes.Text(", as these commands wrote it."))


def folded(line):
    """A line that is too long, such as a sentence, in several."""
    return textwrap.fill(line, WIDTH, subsequent_indent="    ") if len(line) > WIDTH else line


def run(command, where):
    """The exit code of a command and what it printed, errors too."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    state = str(Path(where, ".state"))  # where no page meets the releases of another one, or of the reader
    environment = os.environ | {"PATH": path, "COLUMNS": str(WIDTH), "XDG_DATA_HOME": state}
    done = subprocess.run(
        command, shell=True, cwd=where, env=environment, text=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, done.stdout


def folder(app, page):
    """Where the commands of a page run."""
    folders = app.__dict__.setdefault("_shell_folders", {})
    if page not in folders:
        folders[page] = TemporaryDirectory()
        shutil.copytree(Path(app.srcdir, "examples"), folders[page].name, dirs_exist_ok=True)
    return folders[page].name


def clean(app, error):
    """Remove the folders."""
    for each in app.__dict__.pop("_shell_folders", {}).values():
        each.cleanup()


def setup(app):
    """Called by Sphinx."""
    app.add_directive("shell", Shell)
    app.connect("build-finished", clean)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
