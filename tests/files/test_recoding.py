"""Files in any encoding, packed or not, go out as they came in; oracle: the bytes that were written."""

import gzip

import numpy as np
import pandas as pd
import pytest
from csv_files import CENTS, INCOME, NOTES, expected, mask_bytes, written

import condmask as cm

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "latin-1", "cp1252", "utf-16-le", "utf-16-be", "utf-32-le", "mac-roman"]
)
def test_an_encoding_comes_back_with_all_other_bytes(tmp_path, encoding, marked):
    if marked and not encoding.startswith("utf"):
        pytest.skip("has no mark")
    text = ("\ufeff" if marked else "") + written(";", ",", "\r\n", head="Einkünfte")
    schemes = {"Einkünfte": CENTS}
    given = None if marked or encoding == "utf-8" else cm.CsvFormat(encoding=encoding)

    target = mask_bytes(tmp_path, text.encode(encoding), schemes=schemes, csv=given)

    z = CENTS.mask(pd.Series(INCOME, name="Einkünfte"), rng=1).to_numpy()
    masked = ("\ufeff" if marked else "") + written(";", ",", "\r\n", values=z, head="Einkünfte")
    assert target.read_bytes() == masked.encode(encoding)
    assert np.array_equal(cm.read_column(target, "Einkünfte"), z)
    notes = list(cm.read_column(target, "Bemerkung"))
    assert notes == [NOTES[k % len(NOTES)] for k in range(INCOME.size)]


def test_text_that_is_no_text_comes_back_too(tmp_path):
    """Lone halves of pairs, and bytes that stand for no character, are nobody's matter but a reader's."""

    def odd(encoding, **options):
        text = written(";", ",", **options).replace(
            "klein", "kl\ud800n" if encoding == "utf-16-le" else "kl\x81n"
        )
        if encoding == "utf-16-le":
            return text.encode(encoding, "surrogatepass")
        return text.replace("\x81", "§").encode(encoding).replace(b"\xa7", b"\x81")

    for encoding in ("utf-16-le", "cp1252"):
        target = mask_bytes(tmp_path, odd(encoding), csv=cm.CsvFormat(encoding=encoding))

        assert target.read_bytes() == odd(encoding, values=expected())
    with pytest.raises(ValueError, match=r"b\.csv must be written in cp1252, got other bytes in line 2; enc"):
        cm.read_column(tmp_path / "b.csv", "Bemerkung")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.tsv.gz", "a.txt.gz", "a.CSV.GZ"])
def test_packed_files_are_packed_again_without_a_name_or_a_time(tmp_path, name):
    delimiter = "\t" if "tsv" in name else ";"
    text = written(delimiter, ",")
    out = name.replace("a.", "b.")

    target = mask_bytes(tmp_path, gzip.compress(text.encode()), name=name, out=out)

    data = target.read_bytes()
    assert gzip.decompress(data).decode() == written(delimiter, ",", values=expected())
    assert data[:2] == b"\x1f\x8b"
    assert data[3:8] == bytes(5)  # no flags: no name; no time
    assert np.array_equal(cm.read_column(target, "income"), expected())


@pytest.mark.parametrize("kept", [1000, 30, 5, 0])
def test_a_damaged_archive_is_said_in_one_sentence_without_its_bytes(tmp_path, kept):
    source = tmp_path / "a.csv.gz"
    data = gzip.compress(written().encode())
    source.write_bytes(data[: min(kept, len(data) - 9)] or b"12345")

    with pytest.raises(
        cm.FileError, match=r"a\.csv\.gz: not readable: it is not a gzip file, or is damaged$"
    ):
        cm.mask_file(source, tmp_path / "b.csv.gz", {"income": CENTS})

    assert [path.name for path in tmp_path.iterdir()] == ["a.csv.gz"]


def test_half_a_character_is_said_without_its_bytes(tmp_path):
    with pytest.raises(cm.FileError, match=r"it contains bytes that are not text in utf-16-le$"):
        mask_bytes(tmp_path, written().encode("utf-16") + b"1")
