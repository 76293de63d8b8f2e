"""Records out of shape are refused, and chunks do not show; oracle: the bytes that were written."""

import pytest
from csv_files import LINES, mask_lines

from condmask.files import csv_scan

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        # an unquoted thousands separator would mask_lines "1" and publish "234.56"
        ("12,1,234.56,z", "has too many fields in line 14"),
        ("12,234.56", "has too few fields in line 14"),
        # "7" would be masked and 654321 published
        ('12,"7"654321,z', "has text after a closing quote in line 14"),
    ],
)
def test_a_record_out_of_shape_is_refused(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        mask_lines(tmp_path, [*LINES, line])

    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_chunks_do_not_show(tmp_path, monkeypatch):
    lines = [f'{i},"{1000 + i}.123456","z\n,""{i}"""' for i in range(300)]
    whole = mask_lines(tmp_path, lines)
    monkeypatch.setattr(csv_scan, "CHUNK", 61)  # shorter than two records

    assert mask_lines(tmp_path, lines) == whole


def test_a_quote_left_open_does_not_read_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_scan, "CHUNK", 64)
    monkeypatch.setattr(csv_scan, "LONGEST", 256)

    with pytest.raises(ValueError, match="has a record of more than 0 MB, from line 14 on"):
        mask_lines(tmp_path, [*LINES, '12,"3,z', *LINES * 50])


def test_line_breaks_of_old_macs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="must have a header of one line that a line feed ends"):
        mask_lines(tmp_path, LINES, ending="\r")
