"""The font of the formulas, for readers whose machine has none for mathematics: what is used of STIX Two.

It comes with ziamath, under the SIL Open Font License, which the font file states.
"""

from importlib.resources import as_file, files
from pathlib import Path

from fontTools import subset

CHARACTERS = (
    "20-7e,a0-ff,300-338,370-3ff,2010-2063,2100-214f,2190-22ff,2308-230b,23dc-23df,"  # text, Greek, signs
    "1d434-1d467,1d49c-1d4cf,1d6a4-1d6e1"  # letters in italics and script
)


def write(app, error):
    """Write the font beside the site's styles, which name it."""
    if error or app.builder.format != "html":
        return
    target = Path(app.outdir, "_static", "mathematics.woff")
    with as_file(files("ziamath.fonts") / "STIXTwoMath-Regular.ttf") as font:
        subset.main(
            [str(font), f"--unicodes={CHARACTERS}", "--layout-features=ssty", "--name-IDs=*", "--flavor=woff",
             f"--output-file={target}"]
        )  # fmt: skip


def setup(app):
    """Called by Sphinx."""
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
