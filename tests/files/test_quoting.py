"""Quotes and blanks around numbers stay where all have them; oracle: the bytes that were written."""

import numpy as np
import pytest
from csv_files import mask_lines

import condmask as cm
from condmask.files import csv_scan

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize(
    ("head", "small", "large"),
    [
        ("id,income,note", "{}", '"{}"'),
        ("id, income, note", "{}", " {}"),
        ("id, income, note", " {}", ' "{}"'),
        ("id, income, note", '"{}"', ' "{}"'),
    ],
)
@pytest.mark.parametrize("chunk", [200, 1 << 23])
def test_what_only_some_numbers_have_around_them_goes(tmp_path, monkeypatch, head, small, large, chunk):
    monkeypatch.setattr(csv_scan, "CHUNK", chunk)
    values = np.random.default_rng(1).integers(400, 1_600, 300).tolist()
    cells = [(large if value > 999 else small).format(value) for value in values]
    lines = [f'{i},{cell},"z,{i}"' for i, cell in enumerate(cells)]
    lines[7], lines[9] = '7,"",z', "9,,z"
    scheme = cm.ConditionalMasking(0.6, 300.0, decimals=0)

    found = mask_lines(tmp_path, lines, head=head, schemes={"income": scheme}, nan_policy="omit").splitlines()
    assert found[0] == head
    assert (found[8], found[10]) == (lines[7], lines[9])
    for i, line in enumerate(found[1:]):
        before, cell, after = line.split(",", 2)
        assert (before, after) == (str(i), "z" if i in (7, 9) else f'"z,{i}"')
        assert i in (7, 9) or str(int(cell)) == cell
    assert len(cm.read_release(tmp_path / "b.csv")) == 1


def test_what_all_numbers_have_around_them_stays(tmp_path):
    lines = [f'{i}, "{900 + i}", z' for i in range(300)]
    scheme = cm.ConditionalMasking(0.6, 100.0, decimals=0)

    found = mask_lines(tmp_path, lines, head="id, income, note", schemes={"income": scheme}).splitlines()
    assert all(line.split(",")[1].startswith(' "') and line.split(",")[1].endswith('"') for line in found[1:])
