"""A survey that PSPP wrote, masked, and read by PSPP again: what is the same, and what is not.

PSPP is an independent reader of files of SPSS. Run by hand where `pspp` is installed (Debian has
it): ``python benchmarks/versus/pspp.py``. It prints what SYSFILE INFO says of both files and differs,
and weighted DESCRIPTIVES of both, and ends with 1 where the weights or the codes are lost.
"""

import difflib
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import condmask as cm

RECORDS = 2_000
SYNTAX = """
DATA LIST FREE / id (F8.0) name (A12) income (F9.2) weight (F8.3) sex (F1.0) born (DATE11).
BEGIN DATA
{rows}
END DATA.
VARIABLE LABELS income 'Monthly income' weight 'Sampling weight'.
VALUE LABELS sex 1 'male' 2 'female' /income 9997 'refused' -8 'unknown'.
MISSING VALUES income (9990 THRU HIGHEST, -8).
VARIABLE LEVEL sex (NOMINAL) income (SCALE).
VARIABLE WIDTH income (12).
FILE LABEL 'A survey'.
DOCUMENT By Ann.
WEIGHT BY weight.
SAVE OUTFILE='{path}'.
"""
READ = "GET FILE='{path}'.\nSYSFILE INFO '{path}'.\nDESCRIPTIVES income sex.\n"


def rows():
    """The records of the survey as PSPP reads them."""
    random = np.random.default_rng(1)
    income = random.lognormal(7.0, 0.5, RECORDS).round(2)
    income[::20] = 9997.0
    income[5::40] = -8.0
    weight = random.uniform(0.5, 2.0, RECORDS).round(3)
    return "\n".join(
        f"{k} name{k % 7} {income[k]} {weight[k]} {1 + k % 2} {1 + k % 28:02}-JAN-1990"
        for k in range(RECORDS)
    )


def pspp(syntax, folder):
    """What PSPP prints for a program."""
    program = folder / "program.sps"
    program.write_text(syntax)
    command = ["pspp", "-O", "format=txt", program.name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=True)
    return done.stdout


def shown(path):
    """What PSPP says of a file, in lines, and its table of descriptives."""
    text = pspp(READ.format(path=path.name), path.parent)
    info, _, table = text.partition("Descriptive Statistics")
    return [line for line in info.splitlines() if "Created" not in line], table


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        source = folder / "survey.sav"
        target = folder / "public.sav"
        pspp(SYNTAX.format(rows=rows(), path=source.name), folder)
        scheme = cm.ReverseMapping(0.6, 0.3, scale="log")
        release = cm.mask_file(source, target, {"income": scheme}, log=False, accept="all")
        (before, table_before), (after, table_after) = shown(source), shown(target)
        print("\n".join(release.notes))
        print("\n".join(difflib.unified_diff(before, after, lineterm="", n=0)))
        print("before", table_before, "after", table_after, sep="\n")
        text = "\n".join(after)
    return 0 if "weight" in text.partition("Weight")[2][:40].lower() and "9990" in text else 1


if __name__ == "__main__":
    sys.exit(main())
