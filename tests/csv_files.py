"""CSV files made by hand or by Python's csv module, and masked."""

import csv
import io
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd

import condmask as cm

UNITS = cm.ConditionalMasking(0.6, 500.0)
LINES = [f"{i},{1000 + i}.123456,z" for i in range(12)]
CENTS = cm.ConditionalMasking(0.6, 300.0, decimals=2)
INCOME = np.random.default_rng(4).lognormal(7.0, 0.5, 60).round(2)
NOTES = ["Größe; klein", 'sagt "nein"', "Zeile\numbrochen", "", "schlicht", "a,b", "tab\there"]


def written(
    delimiter=",",
    decimal=".",
    ending="\n",
    quoting=csv.QUOTE_MINIMAL,
    blank=False,
    values=INCOME,
    head="income",
):
    """A file as text, by Python's csv module."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=ending, quoting=quoting)
    writer.writerow(["Jahr", head, "Bemerkung"])
    for k, v in enumerate(values):
        number = v if isinstance(v, str) else f"{v:.2f}"
        writer.writerow([2000 + k, number.replace(".", decimal), NOTES[k % len(NOTES)]])
    return file.getvalue()


def mask_lines(folder, lines, *, head="id,income,note", ending="\n", schemes=None, **options):
    """Mask a file of these lines; what was written."""
    source, target = folder / "a.csv", folder / "b.csv"
    source.write_bytes((ending.join([head, *lines]) + ending).encode())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.ReleaseWarning)
        cm.mask_file(source, target, schemes or {"income": UNITS}, rng=1, force=True, **options)
    return target.read_bytes().decode()


def mask_bytes(folder, data, *, name="a.csv", out="b.csv", schemes=None, **options):
    """Mask a file of these bytes; where it went."""
    source, target = folder / name, folder / out
    source.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cm.ReleaseWarning)
        cm.mask_file(source, target, schemes or {"income": CENTS}, rng=1, force=True, **options)
    return target


def expected(values=INCOME, scheme=CENTS):
    return scheme.mask(pd.Series(values, name="income"), rng=1).to_numpy()


def shortest(value):
    """The shortest text that Python reads back as this number, without an exponent, and zero without a sign;
    beyond 2^53 no whole number."""
    return f"{value:.1f}" if abs(value) > 2**53 else f"{Decimal(repr(value + 0.0)):f}".removesuffix(".0")
