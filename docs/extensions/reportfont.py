"""The font of the formulas in reports: ``python docs/extensions/reportfont.py`` writes it into the package.

It is that of the site (mathfont.py), with the letters and signs of src/condmask/reports/formulas.py alone.
"""

from importlib.resources import as_file, files
from pathlib import Path

from fontTools import subset

TARGET = Path(__file__).parents[2] / "src" / "condmask" / "reports" / "mathematics.woff"
LETTERS = "EFJKVXYZaehijnprtu"
OTHERS = "01()+-={^\N{NO-BREAK SPACE}\N{MINUS SIGN}\N{N-ARY SUMMATION}\N{GREATER-THAN OR EQUAL TO}"
SIGMA = "\N{GREEK SMALL LETTER SIGMA}\N{MATHEMATICAL ITALIC SMALL SIGMA}"


def italic(letter):
    """A letter as browsers show it in mathematics."""
    if letter == "h":
        return "\N{PLANCK CONSTANT}"
    return chr(0x1D434 + ord(letter) - ord("A") - (6 if letter.islower() else 0))


def write(target=TARGET):
    """Write the font."""
    characters = {*LETTERS, *map(italic, LETTERS), *OTHERS, *SIGMA, *"with probability"}
    codes = ",".join(f"{ord(each):x}" for each in sorted(characters))
    with as_file(files("ziamath.fonts") / "STIXTwoMath-Regular.ttf") as font:
        subset.main(
            [str(font), f"--unicodes={codes}", "--layout-features=", "--name-IDs=0,1,2,13,14",
             "--flavor=woff", f"--output-file={target}"]
        )  # fmt: skip


if __name__ == "__main__":
    write()
