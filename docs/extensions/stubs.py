"""The pages that autosummary writes in docs/api: those of names that are listed no more are removed."""

import re
from pathlib import Path


def remove_old(app):
    """Remove the page of each name that no page lists."""
    files = app.config.autosummary_filename_map
    listed = set()
    for page in Path(app.srcdir).glob("*.rst"):
        names = re.findall(r"^   ~?(condmask\.[\w.]+)$", page.read_text("utf-8"), re.MULTILINE)
        listed |= {files.get(name, name) for name in names}
    for stub in Path(app.srcdir, "api").glob("*.rst"):
        if stub.stem not in listed:
            stub.unlink()


def setup(app):
    """Called by Sphinx."""
    app.connect("builder-inited", remove_old, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
