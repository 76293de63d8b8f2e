"""Each guard rail from both sides, and each remedy passed back.

Oracle: thresholds as documented; the chance of a rare value by maps drawn in plain NumPy.
"""

import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import condmask as cm
from condmask.cli import main


def mapped(p=0.6, sigma=0.5, **options):
    return cm.ConditionalMasking(p, sigma, reverse_mapping=True, **options)


def texts(x, scheme, *, refuses=True, **options):
    return [str(f) for f in cm.audit(x, scheme, **options).findings if f.refuses == refuses]


def even(n):
    """As many values as asked for, close together, in no order: none is rare."""
    return np.random.default_rng(n).permutation(np.linspace(0.0, 1.0, n))


@pytest.mark.parametrize(("n", "p", "refused"), [
    (49, 0.5, True), (50, 0.5, False), (60, 0.7, True), (70, 0.7, False), (90, 0.1, True), (120, 0.1, False),
])  # fmt: skip
def test_small_pools(n, p, refused):
    assert bool(texts(even(n), mapped(p))) == refused


def test_the_smallest_stratum_counts():
    x, group = even(300), np.repeat([0, 1], [260, 40])

    text = texts(x, mapped(strata="g"), strata=group)[0]
    assert re.fullmatch("a donor pool has 40 records, .*; merge strata, or leave them out", text)
    gaps = {"x": x, "y": np.where(group == 1, np.nan, x)}  # which no strata part
    audit = cm.audit(gaps, dict.fromkeys(gaps, mapped()))
    assert audit.findings[0].remedy == "publish no values of so few records"


def test_small_pools_are_warned_of():
    assert "199 records" in texts(even(199), mapped(), refuses=False)[0]
    assert texts(even(200), mapped(), refuses=False) == []


@pytest.mark.parametrize("scheme", [mapped(), cm.ConditionalMasking(0.6, 0.5)])
@pytest.mark.parametrize("order", [np.sort, lambda x: -np.sort(-x)])
def test_rows_in_order_are_refused(order, scheme):
    assert "pass shuffle=True, or shuffle the rows first" in texts(order(even(1_000)), scheme)[0]


def lone(n, scheme, at):
    """How often a record at a value beyond others shows it, by maps in plain NumPy."""
    stream = np.random.default_rng(3)
    x = np.append(np.linspace(0.0, 1.0, n), at)
    own = 0
    for _ in range(4_000):
        coin, shown = stream.random(x.size) < scheme.p, x.copy()
        kept = np.flatnonzero(~coin)
        shown[kept[np.argsort(x[kept] + scheme.sigma * stream.normal(size=kept.size))]] = x[kept]
        shown[coin] = stream.permutation(x[coin])
        own += shown[n] == at
    return own / 4_000


@pytest.mark.parametrize("at", [1.2, 3.0, 8.0])
def test_a_rare_value_comes_back_as_often_as_drawn(at):
    scheme = mapped(sigma=1.0)
    told = texts(np.append(even(200), at), scheme)
    chance = lone(200, scheme, at)

    assert bool(told) == (chance > 0.3)
    if told:
        assert float(re.search(r"up to (\d\.\d\d)", told[0])[1]) == pytest.approx(chance, abs=0.06)


def test_the_remedy_against_rare_values_passes():
    x = np.random.default_rng(1).lognormal(8.0, 1.0, 2_000)
    (told,) = (text for text in texts(x, mapped(sigma=3_000.0)) if "rare value" in text)
    options = {name: float(value) for name, value in re.findall(r"(aggregate_ends|sigma|p)=([\d.]+)", told)}
    ends = int(options.pop("aggregate_ends", 0))
    tried = mapped(**{"sigma": 3_000.0} | options, aggregate_ends=ends)

    assert not any("rare value" in text for text in texts(x, tried))


def test_no_rare_value_is_kept_where_most_are_swapped():
    assert texts(np.append(even(300), 50.0), mapped(p=0.7)) == []


def test_what_means_at_the_ends_change_is_told():
    x = np.append(even(300), [5.0, 5.5, 9.0])

    (told,) = texts(x, mapped(p=0.7, aggregate_ends=3), refuses=False)

    assert "changes the standard deviation" in told


@pytest.mark.parametrize(("share", "told"), [(0.01, False), (0.1, True)])
def test_zeros_on_the_log_scale_are_told_of(share, told):
    stream = np.random.default_rng(2)
    x = np.where(stream.random(2_000) < share, 0.0, stream.lognormal(8.0, 0.3, 2_000))

    assert any("are zero" in text for text in texts(x, mapped(p=0.7, scale="log"), refuses=False)) == told


def test_columns_that_may_name_persons_are_told_of():
    table = {"x": even(400), "name": np.array([f"a{7 * k % 400}" for k in range(400)])}
    said = cm.audit(table, {"x": mapped()}).findings

    assert any("name has a different value in every record" in f.text and not f.refuses for f in said)


def test_few_records_with_noise_are_masked_with_a_warning_and_not_written(tmp_path):
    with pytest.warns(cm.ReleaseWarning, match="99 records are too few"):
        release = cm.mask_table({"x": 10.0 + even(99)}, {"x": cm.ConditionalMasking(0.6, 0.5)})
    with pytest.raises(cm.ReleaseError, match="at least 100"):
        release.write(tmp_path / "x.parquet")
    for n, scheme in ((100, cm.ConditionalMasking(0.6, 0.5)), (99, cm.AdditiveNoise(0.5))):
        cm.mask_table({"x": 10.0 + even(n)}, {"x": scheme}).write(tmp_path / f"{n}.parquet")
    assert cm.audit(10.0 + even(100), cm.ConditionalMasking(0.6, 0.5)).findings == ()


def test_rows_in_order_are_released_in_a_new_one():
    x, beside = np.sort(even(1_000)), np.random.default_rng(4).integers(0, 9, 1_000)
    frame = {"x": x, "beside": beside}
    with pytest.raises(cm.ReleaseError, match="pass shuffle=True"):
        cm.mask_table(frame, {"x": mapped()})

    data = cm.mask_table(frame, {"x": mapped()}, shuffle=True).data

    z, moved = np.asarray(data["x"]), np.asarray(data["beside"])
    assert np.array_equal(np.sort(z), x)
    assert not np.array_equal(moved, beside)
    assert np.array_equal(np.sort(moved), np.sort(beside))
    assert abs(np.corrcoef(z, np.arange(1_000))[0, 1]) < 0.16  # 5 standard errors
    again = cm.mask_table(frame, {"x": mapped()}, shuffle=True).data  # which nobody could foresee
    assert not np.array_equal(np.asarray(again["beside"]), moved)


def test_files_are_shuffled_whole_or_not_at_all(tmp_path):
    row = np.arange(1_000)
    csv.write_csv(pa.table({"x": np.sort(even(1_000)).round(3), "row": row}), tmp_path / "in.csv")
    call = (tmp_path / "in.csv", tmp_path / "out.csv", {"x": mapped()})
    with pytest.raises(cm.CondmaskError, match="shuffle the rows first"):
        cm.mask_file(*call, shuffle=True, part_rows=500, log=False, accept_visible_coins=True)
    assert not (tmp_path / "out.csv").exists()

    cm.mask_file(*call, shuffle=True, log=False, accept_visible_coins=True)

    moved = csv.read_csv(tmp_path / "out.csv")["row"].to_numpy()
    assert sorted(moved) == row.tolist()
    assert np.count_nonzero(moved == row) < 20
    with pytest.raises(ValueError, match="rows of the release in order, got shuffle=True there"):
        cm.report(tmp_path / "out.csv", tmp_path / "page.html", original=tmp_path / "in.csv")
    assert main(["risk", str(call[0]), "--released", str(call[1])]) == 1
    (tmp_path / "of" / "year=1").mkdir(parents=True)  # where rows may not go from file to file
    (tmp_path / "in.csv").rename(tmp_path / "of" / "year=1" / "in.csv")
    with pytest.raises(cm.CondmaskError, match="shuffle the rows first"):
        cm.mask_file(tmp_path / "of", tmp_path / "out", call[2], shuffle=True, log=False)


def test_a_table_is_masked_under_limits_as_audited():
    table = {"x": even(2_000), "w": np.random.default_rng(5).normal(0.0, 1.0, 2_000)}

    with pytest.raises(cm.ReleaseError, match="too narrow"):
        cm.mask_table(table, {"x": mapped(sigma=0.1)}, max_risk={0.02: 0.06})
    assert cm.mask_table(table, {"x": mapped(sigma=0.1)}).schemes
