"""Files of SPSS and Stata: what pyreadstat reads of them is what it reads of the release.

Oracle: pyreadstat itself, on the source and on the release."""

import json
import struct
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import condmask as cm

pyreadstat = pytest.importorskip("pyreadstat")

N = 400
RANDOM = np.random.default_rng(5)
SCHEME = cm.ReverseMapping(0.6, 0.3, scale="log")
RAW = {"user_missing": True, "disable_datetime_conversion": True}
SPSS = {
    "file_label": "A survey",
    "column_labels": {"income": "Monthly income", "sex": "Sex"},
    "variable_value_labels": {
        "income": {9997.0: "refused", -8.0: "unknown"},
        "sex": {1.0: "male", 2.0: "female"},
    },
    "missing_ranges": {"income": [{"lo": 9990.0, "hi": float("inf")}, -8.0], "sex": [9.0]},
    "variable_display_width": {"income": 12},
    "variable_measure": {"sex": "nominal", "income": "scale"},
    "variable_format": {"income": "F9.2", "born": "DATE11", "sex": "F1.0"},
}
STATA = {
    "file_label": "A survey",
    "column_labels": {"income": "Monthly income"},
    "variable_value_labels": {"income": {"a": "refused"}, "sex": {1: "male", 2: "female"}},
    "missing_user_values": {"income": ["a", "c"], "other": ["b"], "age": ["z"]},
    "variable_format": {"income": "%12.2f", "born": "%td"},
}


def survey(**columns):
    frame = {
        "name": [f"n{k % 7}" for k in range(N)],
        "income": RANDOM.lognormal(7.0, 0.5, N).round(2),
        "weight": RANDOM.uniform(0.5, 2.0, N).round(3),
        "sex": 1.0 + np.arange(N) % 2,
        "born": 1.2e10 + 86_400.0 * RANDOM.integers(0, 9_000, N),
        "age": RANDOM.integers(18, 80, N).astype(float),
    }
    return pd.DataFrame({**frame, **columns})


def coded(values):
    return np.where(np.arange(N) % 20 == 0, 9997.0, np.where(np.arange(N) % 33 == 1, -8.0, values))


def write_sav(path, frame=None, **options):
    frame = survey() if frame is None else frame
    frame["income"] = coded(frame["income"])
    pyreadstat.write_sav(frame, str(path), **{**SPSS, **options})
    return path


def lettered(values, letters):
    """Values with letters, and a few gaps, among them."""
    return [
        None if k % 50 == 7 else letters[k // 20 % len(letters)] if k % 20 == 0 else value
        for k, value in enumerate(values)
    ]


def write_dta(path, **options):
    frame = survey(born=np.arange(N) + 9_000.0)
    frame["income"] = lettered(frame["income"].tolist(), "ac")
    frame["other"] = lettered(np.arange(N, dtype=float).tolist(), "b")
    frame["age"] = ["z" if k % 9 == 0 else int(value) for k, value in enumerate(frame["age"])]
    pyreadstat.write_dta(frame, str(path), **{**STATA, **options})
    return path


def read(path):
    reader = pyreadstat.read_dta if path.suffix == ".dta" else pyreadstat.read_sav
    return reader(str(path), **RAW)


def mask(source, target, columns=("income",), scheme=SCHEME, **options):
    options = {"rng": 1, "accept": "all", **options}
    return cm.mask_file(source, target, dict.fromkeys(columns, scheme), **options)


def entries(about):
    """All that pyreadstat tells of a file but when it was written, by whom, and in how many bytes."""
    apart = {"creation_time", "modification_time", "notes", "original_variable_types"}
    apart |= {"variable_storage_width", "value_labels", "variable_to_label"}
    names = {name for name in dir(about) if not name.startswith("_")} - apart
    return {name: getattr(about, name) for name in names}


@pytest.mark.parametrize("suffix", [".sav", ".zsav"])
def test_all_that_spss_knows_of_a_file_is_in_its_release(tmp_path, suffix):
    source = write_sav(tmp_path / f"a{suffix}", compress=suffix == ".zsav", note="by Ann")

    release = mask(source, tmp_path / f"b{suffix}")

    before, about_before = read(source)
    after, about_after = read(release.path)
    masked = after.pop("income")
    original = before.pop("income")
    assert after.equals(before)
    is_code = (original >= 9990.0) | (original == -8.0)
    assert masked[is_code].equals(original[is_code])
    assert Counter(masked) == Counter(original)
    assert (masked != original).mean() > 0.3
    assert entries(about_after) == entries(about_before)
    formats = [
        {name: form for name, form in about.original_variable_types.items() if name != "name"}
        for about in (about_before, about_after)
    ]
    assert formats[0] == formats[1]
    assert about_before.notes
    assert not about_after.notes
    assert "documents, notes and custom attributes are left out" in release.notes[1]
    assert source.read_bytes()[:4] == release.path.read_bytes()[:4]


def test_declared_codes_are_those_of_the_scheme_and_of_its_estimates(tmp_path):
    source = write_sav(tmp_path / "a.sav")

    release = mask(source, tmp_path / "b.sav")

    income = read(source)[0]["income"]
    values = income[(income < 9990.0) & (income != -8.0)]
    assert release.schemes["income"].missing == ((9990.0, None), -8.0)
    assert release.notes[0].startswith("income: 9990 or more and -8 from the file")
    sidecar = json.loads((tmp_path / "b.sav.condmask.json").read_text())
    assert list(sidecar["columns"]) == ["income"]
    estimate = cm.read_release(release.path, "income")
    assert estimate.n == len(values)
    assert estimate.mean() == pytest.approx(values.mean(), rel=1e-12)
    assert abs(estimate.correlation("age")) < 0.5


@pytest.mark.parametrize("given", [9997.0, (-8.0, 9995.0), (77.0, None), None])
def test_codes_of_the_call_come_beside_those_of_the_file(tmp_path, given):
    source = write_sav(tmp_path / "a.sav")
    scheme = cm.ReverseMapping(0.6, 0.3, scale="log", missing=given)

    missing = mask(source, tmp_path / "b.sav", scheme=scheme).schemes["income"].missing

    others = (77.0,) if given == (77.0, None) else ()
    end = (None,) if given is None or None in np.atleast_1d(given) else ()
    assert missing == (*others, (9990.0, None), -8.0, *end)


def test_columns_that_are_named_alone_get_the_codes_too(tmp_path):
    frame = survey(age=np.arange(N) % 60 + 18.0)
    source = write_sav(tmp_path / "a.sav", pd.concat([frame] * 5, ignore_index=True)[:N])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = cm.mask_file(source, tmp_path / "b.sav", ["income"], rng=1, accept="all")
    assert release.schemes["income"].missing == ((9990.0, None), -8.0)
    assert "9990" in str(release.chosen["income"])


def test_nulls_in_place_of_codes_are_declared_no_more(tmp_path):
    source = write_sav(tmp_path / "a.sav")
    scheme = cm.ReverseMapping(0.6, 0.3, scale="log", missing_as="null")

    after, about = read(mask(source, tmp_path / "b.sav", scheme=scheme).path)

    income = read(source)[0]["income"]
    is_code = (income >= 9990.0) | (income == -8.0)
    assert after["income"].isna().equals(is_code)
    assert "income" not in about.missing_ranges
    assert "sex" in about.missing_ranges


def test_the_weight_variable_is_marked_as_such(tmp_path):
    source = write_sav(tmp_path / "a.sav")
    content = bytearray(source.read_bytes())
    assert content[76:80] == struct.pack("<i", 0)
    content[76:80] = struct.pack("<i", 3)  # name takes one place, income the second
    source.write_bytes(content)

    release = mask(source, tmp_path / "b.sav")

    assert release.path.read_bytes()[76:80] == struct.pack("<i", 3)


def test_a_long_text_before_the_weight_variable_moves_its_place(tmp_path):
    frame = survey(name=["x" * (1 + k % 300) for k in range(N)])
    source = write_sav(tmp_path / "a.sav", frame)
    release = mask(source, tmp_path / "b.sav")
    from condmask.files import stat

    assert stat.weight_of(release.path, read(release.path)[1]) is None
    schema = stat.read(release.path).table.schema
    assert stat.set_weight(release.path, schema, "weight")
    assert stat.read(release.path).weight == "weight"


def test_all_that_stata_knows_of_a_file_is_in_its_release(tmp_path):
    source = write_dta(tmp_path / "a.dta")

    release = mask(source, tmp_path / "b.dta", nan_policy="omit")

    before, about_before = read(source)
    after, about_after = read(release.path)
    original = before.pop("income")
    masked = after.pop("income")
    assert after.equals(before)
    assert entries(about_after) == entries(about_before)
    assert about_after.original_variable_types == about_before.original_variable_types

    def kept(column):
        return [v if v is None or isinstance(v, str) or v != v else 0 for v in column]

    assert [str(v) for v in kept(masked)] == [str(v) for v in kept(original)]
    assert Counter(map(str, masked)) == Counter(map(str, original))
    assert release.notes[0] == "income: .a and .c from the file, which declares missing values"


def test_letters_are_no_numbers_for_anybody(tmp_path):
    source = write_dta(tmp_path / "a.dta")
    release = mask(source, tmp_path / "b.dta", nan_policy="omit")
    frame = read(source)[0]
    other = pd.to_numeric(frame["other"], errors="coerce")
    income = pd.to_numeric(frame["income"], errors="coerce")

    assert release["income"].n == income.notna().sum()
    assert release["income"].mean() == pytest.approx(income.mean(), rel=1e-12)
    assert abs(release["income"].correlation("other")) < 1.5
    assert np.nanmax(np.abs(cm.read_column(release.path, "other"))) == other.abs().max()


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".sav"])
def test_another_format_is_written_without_letters_and_says_so(tmp_path, suffix):
    source = write_dta(tmp_path / "a.dta")
    release = mask(source, tmp_path / f"b{suffix}", nan_policy="omit")

    income = pd.to_numeric(read(source)[0]["income"], errors="coerce").dropna()
    found = cm.read_column(release.path, "income")
    assert sorted(found[~np.isnan(found)]) == sorted(income)
    assert "are left out of a file of" in release.notes[1]


def test_single_precision_of_stata_is_seen(tmp_path):
    values = np.float32(RANDOM.normal(50.0, 10.0, N).round(1))
    frame = pd.DataFrame({"x": values.astype(float)})
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"))
    scheme = cm.ConditionalMasking(0.6, 5.0, decimals=1)

    release = mask(tmp_path / "a.dta", tmp_path / "b.dta", ["x"], scheme)

    released = read(release.path)[0]["x"].to_numpy()
    assert np.array_equal(released.astype(np.float32), released)
    assert abs(cm.read_release(release.path, "x").mean() - values.mean()) < 3.0


def test_labels_on_ordinary_values_are_warned_of(tmp_path):
    labels = {"income": {9997.0: "refused", 1_000.0: "top"}}
    source = write_sav(tmp_path / "a.sav", variable_value_labels=labels)
    with pytest.warns(cm.ReleaseWarning, match="income has labels on 1 values"):
        mask(source, tmp_path / "b.sav")


def test_integers_that_are_missing_beside_letters_are_nulls(tmp_path):
    ages = pd.Series(["z", 30, None, 41, *range(50, 90)], dtype=object)
    options = {"missing_user_values": {"age": ["z"]}}
    pyreadstat.write_dta(pd.DataFrame({"age": ages}), str(tmp_path / "a.dta"), **options)

    found = cm.read_column(tmp_path / "a.dta", "age")

    assert np.array_equal(found, [np.nan, 30, np.nan, 41, *range(50, 90)], equal_nan=True)


# --- what is refused ---


@pytest.mark.parametrize("name", ["a.sav", "a.zsav", "a.dta"])
def test_a_damaged_file_is_refused_by_name(tmp_path, name):
    (tmp_path / name).write_bytes(b"$FL2" + b"\0" * 400)
    with pytest.raises(OSError, match=f"{name} cannot be read: it is damaged"):
        mask(tmp_path / name, tmp_path / f"b{name}")
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_does_not_fit_into_memory_is_refused_with_its_size(tmp_path, monkeypatch):
    source = write_sav(tmp_path / "a.sav")
    monkeypatch.setattr("os.sysconf", lambda name: 8)
    with pytest.raises(OSError, match="needs 0 GiB of memory"):
        mask(source, tmp_path / "b.sav")


@pytest.mark.parametrize("suffix", [".por", ".xpt", ".xlsx", ".sas7bdat"])
def test_other_formats_are_refused_with_the_line_that_converts_them(tmp_path, suffix):
    with pytest.raises(ValueError, match=r"convert it, which loses .*: import .*to_parquet"):
        mask(tmp_path / f"a{suffix}", tmp_path / "b.parquet")


def test_text_is_refused_as_a_column_to_be_masked(tmp_path):
    source = write_sav(tmp_path / "a.sav")
    with pytest.raises(TypeError, match="name must be numeric"):
        mask(source, tmp_path / "b.sav", ["name"])


def test_a_folder_of_such_files_is_refused(tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()
    write_sav(folder / "a.sav")
    with pytest.raises(ValueError, match="must be one file of SPSS"):
        mask(folder, tmp_path / "out")
