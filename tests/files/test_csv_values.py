"""Cells of CSV come out as they are written under reverse mapping, and each once.

Oracle: the cells of the source, and means by fractions of what they say."""

import csv
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import condmask as cm

N = 300
RANDOM = np.random.default_rng(11)
WHOLE = RANDOM.integers(100, 90_000, N).tolist()
CENTS = RANDOM.integers(0, 100, N).tolist()
COLUMNS = {
    "thousands": [f"{a:,}.{b:02}" for a, b in zip(WHOLE, CENTS, strict=True)],
    "18 digits": [f"{10**15 + a}.{b:02}" for a, b in zip(WHOLE, CENTS, strict=True)],
    "any places": [f"{a}.{b:02}" if b % 3 else f"{a}" for a, b in zip(WHOLE, CENTS, strict=True)],
    "exponents": [
        f"{a}e-3" if b % 2 else f" +{a / 1000}" for a, b in zip(WHOLE, CENTS, strict=True)
    ],
    "gaps": [
        "NA" if b % 9 == 0 else "" if b % 9 == 1 else f"{a}.0"
        for a, b in zip(WHOLE, CENTS, strict=True)
    ],
}


def masked(folder, cells, *, decimal=".", part_rows=None, **options):
    """The cells of a release of one column beside another, and the release."""
    with (folder / "a.csv").open("w", newline="") as file:
        writer = csv.writer(file, delimiter="," if decimal == "." else ";")
        writer.writerow(["id", "x"])
        writer.writerows([f"{k:03}", cell] for k, cell in enumerate(cells))
    scheme = cm.ReverseMapping(0.6, 500.0, **options)
    release = cm.mask_file(
        folder / "a.csv",
        folder / "b.csv",
        {"x": scheme},
        rng=1,
        accept="all",
        nan_policy="omit",
        part_rows=part_rows,
    )
    with (folder / "b.csv").open(newline="") as file:
        rows = list(csv.reader(file, delimiter="," if decimal == "." else ";"))[1:]
    assert [row[0] for row in rows] == [f"{k:03}" for k in range(len(cells))]
    return [row[1] for row in rows], release


@pytest.mark.parametrize("name", COLUMNS)
def test_each_cell_comes_once_as_it_is_written(tmp_path, name):
    cells = COLUMNS[name]

    found, release = masked(tmp_path, cells)

    assert Counter(found) == Counter(cells)
    assert np.mean([a != b for a, b in zip(found, cells, strict=True)]) > 0.3
    gaps = [cell in ("NA", "") for cell in cells]
    assert [cell in ("NA", "") for cell in found] == gaps
    values = [Fraction(cell.replace(",", "").strip()) for cell in cells if cell not in ("NA", "")]
    assert release["x"].mean() == pytest.approx(float(sum(values) / len(values)), rel=1e-12)


def test_points_between_thousands_are_read_beside_decimal_commas(tmp_path):
    swapped = str.maketrans(",.", ".,")
    cells = [cell.translate(swapped) for cell in COLUMNS["thousands"]]

    found, release = masked(tmp_path, cells, decimal=",")

    assert Counter(found) == Counter(cells)
    assert release["x"].mean() == pytest.approx(np.mean(WHOLE) + np.mean(CENTS) / 100.0, rel=1e-12)


@pytest.mark.parametrize("name", ["thousands", "18 digits", "any places"])
def test_ends_are_means_with_the_most_decimals_of_a_cell(tmp_path, name):
    cells = COLUMNS[name]

    found, _ = masked(tmp_path, cells, aggregate_ends=3)

    exact = sorted(Fraction(cell.replace(",", "")) for cell in cells)
    expected = []
    for end in (exact[:3], exact[-3:]):
        cents = round(sum(end) / 3 * 100)
        digits = f"{cents // 100:,}" if name == "thousands" else f"{cents // 100}"
        expected += [f"{digits}.{cents % 100:02}"] * 3
    assert sorted((Counter(found) - Counter(cells)).elements()) == sorted(expected)


def test_parts_of_a_long_file_keep_their_cells_and_are_recognised(tmp_path):
    cells = COLUMNS["thousands"]

    found, release = masked(tmp_path, cells, part_rows=100)

    for first in (0, 100, 200):
        part = slice(first, first + 100)
        assert Counter(found[part]) == Counter(cells[part])
    assert release.parts == (100, 100, 100)
    release.source.column("x")  # sums of parts are those that were published


def test_one_mark_alone_may_be_a_decimal_mark_and_is_refused(tmp_path):
    cells = [f"{value % 9 + 1},{200 + value % 700}" for value in WHOLE]
    with pytest.raises(
        ValueError, match=r"must hold numbers with the decimal mark '\.', got another"
    ):
        masked(tmp_path, cells)


def test_noise_refuses_what_float64_does_not_hold_and_marks_between_thousands(tmp_path):
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=2)
    for name in ("thousands", "18 digits"):
        place = tmp_path / "a.csv"
        place.write_text("x\n" + "\n".join(f'"{cell}"' for cell in COLUMNS[name]) + "\n")
        if name == "18 digits":
            place.write_text("x\n" + "\n".join(f"9{cell}" for cell in COLUMNS[name]) + "\n")
        with pytest.raises(ValueError, match="must hold numbers of at most 2\\^53"):
            cm.mask_file(place, tmp_path / "b.csv", {"x": scheme}, rng=1, accept="all")
