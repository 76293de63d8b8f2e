"""Methods at equal risk. Oracles: measured risks, plain formulas, and what theory says of each method."""

import numpy as np
import pytest

import condmask as cm
from condmask.studies import compare, equal_risk
from condmask.studies.losses import losses

RNG = np.random.default_rng(8)
AGE = RNG.uniform(20.0, 65.0, 1500)
X = RNG.lognormal(6.5 + AGE / 100, 0.5)
SCHEME = cm.ConditionalMasking(0.6, 500.0)
D = 200.0


@pytest.fixture(scope="module")
def found():
    return cm.compare(X, SCHEME, d=D, other=AGE, replications=40, rng=1)


def of(found, method, estimator=None):
    (row, *_) = [
        row for row in found.rows if row["method"] == method and estimator in (None, row["estimator"])
    ]
    return row


def test_all_that_can_be_tuned_have_one_risk(found):
    free = {"data swapping", "data shuffling"}
    assert found.missing == {}
    for row in found.rows:
        # 40 maskings of 1500 records: standard error .0018 at most; the window of ranks is whole
        if row["method"] not in free:
            assert abs(row["risk"] - found.risk) < 0.008, row["method"]


@pytest.mark.parametrize("noise", ["normal", "laplace"])
@pytest.mark.parametrize("risk", [0.05, 0.4, 0.95])
def test_additive_noise_leaves_the_risk_exactly(noise, risk):
    assert equal_risk.additive(risk, D, noise).risk(X, D) == pytest.approx(risk, rel=1e-12)


def test_factors_leave_the_risk_exactly():
    assert equal_risk.multiplicative(X, 0.3, D).risk(X, D) == pytest.approx(0.3, rel=1e-8)
    assert equal_risk.multiplicative(np.zeros(20), 0.3, D) is None  # zero stays zero


def test_a_window_that_is_never_wide_enough_is_none():
    near = np.linspace(0.0, D, 50)  # everybody is within D of everybody
    assert equal_risk.rank_swapping(near, 0.3, D, 1) is None


def test_what_theory_says_of_each_method(found):
    # swapping keeps margins to the last digit and loses the correlation
    for method in ("rank swapping", "data swapping", "data shuffling"):
        assert (of(found, method)["mean"], of(found, method)["deciles"]) == (0.0, 0.0)
    correlation = np.corrcoef(X, AGE)[0, 1]
    assert of(found, "data swapping")["correlation"] == pytest.approx(correlation, abs=0.03)
    # the mean of additive noise: sigma / sqrt(n), 40 replicates have a relative error of 1 / sqrt(80)
    sigma = found.schemes["normal noise"].sigma
    assert of(found, "normal noise")["mean"] == pytest.approx(sigma / np.sqrt(X.size), rel=4 / np.sqrt(80))
    assert np.isnan(of(found, "normal noise")["deciles"])
    assert of(found, "conditional masking", "T_1")["deciles"] < of(found, "Laplace noise")["deciles"]


def test_losses_against_plain_loops():
    z = X + np.random.default_rng(122).normal(0.0, 300.0, X.size)
    table, masked = np.array([X, AGE, AGE**2]), np.array([z, AGE, AGE**2])
    plain = sum(abs(a - b) for a, b in zip(X, z, strict=True)) / X.size / (np.sqrt(2) * np.std(X, ddof=1))
    own, other = (sorted(np.linalg.eigvals(np.corrcoef(each)).real) for each in (table, masked))
    eigenvalues = sum(abs(a - b) for a, b in zip(own, other, strict=True)) / sum(own)
    pairs = [abs(np.corrcoef(X, w)[0, 1] - np.corrcoef(z, w)[0, 1]) for w in table[1:]]

    assert losses(X, z, table[1:]) == pytest.approx([plain, eigenvalues, np.mean(pairs)], rel=1e-10)
    assert losses(X, X, table[1:]).tolist() == [0.0, 0.0, 0.0]


def test_a_row_has_the_root_of_the_mean_square_over_the_deciles():
    # 1, 2, .. 9, whose squares have the sum 285; what is rounding beside the truth counts as no error
    keys = {"scheme": "m", "estimator": "e", "truth": 100.0}
    rows = [{**keys, "statistic": f"quantile {k / 10:g}", "rmse": float(k)} for k in range(1, 10)]
    rows += [
        {**keys, "statistic": "mean", "rmse": 1e-11}, {**keys, "statistic": "s.d.", "rmse": 2.0},
        {**keys, "statistic": "correlation", "rmse": 0.25},
        {"scheme": "m", "estimator": "Z_i", "statistic": "risk 5", "mean": 0.5},
    ]  # fmt: skip
    lost = {"m": np.array([0.1, 0.2, 0.3])}

    ((alone,), (paired,)) = (compare._rows(rows, lost, 5.0, paired=each) for each in (False, True))

    expected = {"method": "m", "estimator": "e", "risk": 0.5, "mean": 0.0, "s.d.": 2.0}
    assert alone == expected | {"deciles": pytest.approx((285 / 9) ** 0.5, rel=1e-14), "IL1s": 0.1}
    assert paired == alone | {"correlation": 0.25, "eigenvalues": 0.2, "correlations": 0.3}


def test_the_result_is_shown_kept_and_repeated(found, tmp_path):
    again = cm.compare(X, SCHEME, d=D, other=AGE, replications=40, rng=1, workers=2)
    assert str(again) == str(found)
    assert "rank swapping" in str(found)
    assert found.to_frame().shape == (len(found.rows), len(found.rows[0]))
    assert set(found.to_dict()["schemes"]) == set(found.schemes)
    found.write(tmp_path / "a.csv")
    assert len((tmp_path / "a.csv").read_text().splitlines()) == len(found.rows) + 1
    assert len(found.plot(tmp_path / "a.png").axes) == 4


def test_the_error_of_deciles_is_the_root_of_the_mean_of_their_squares():
    def row(statistic, **known):
        return {"scheme": "one", "estimator": "T", "statistic": statistic} | known

    deciles = [row(f"quantile {k / 10:g}", rmse=float(k), truth=5.0) for k in range(1, 10)]
    # what is rounding alone, below 1e-12 of the truth, is no error
    others = [
        row("mean", rmse=0.9e-12, truth=-1.0),
        row("s.d.", rmse=1.1e-12, truth=1.0),
        row("correlation", rmse=0.25, truth=0.5),
    ]
    risk = {"scheme": "one", "estimator": "Z_i", "statistic": "risk 2", "mean": 0.3}
    lost = {"one": np.array([1.0, 2.0, 3.0])}

    (paired,) = compare._rows([*deciles, *others, risk], lost, 2.0, paired=True)
    (alone,) = compare._rows([*deciles, *others, risk], lost, 2.0, paired=False)

    assert paired == {
        "method": "one", "estimator": "T", "risk": 0.3, "mean": 0.0, "s.d.": 1.1e-12,
        "deciles": pytest.approx((285 / 9) ** 0.5, rel=1e-15), "correlation": 0.25,
        "IL1s": 1.0, "eigenvalues": 2.0, "correlations": 3.0,
    }  # fmt: skip
    assert alone == {key: paired[key] for key in list(paired)[:6]} | {"IL1s": 1.0}


@pytest.mark.parametrize("records", [99, 100, 101, 1500])
def test_of_a_long_file_some_records_are_drawn_whole(monkeypatch, records):
    class BegunError(Exception):
        pass

    def begin(population, schemes, **options):
        raise BegunError(population, options["n"])

    monkeypatch.setattr(compare, "MOST", 100)
    monkeypatch.setattr(compare, "simulate", begin)
    known = dict(zip(X.tolist(), AGE.tolist(), strict=True))

    with pytest.raises(BegunError) as begun:
        cm.compare(X[:records], cm.ConditionalMasking(0.6, 500.0, step=0), d=D, other=AGE[:records], rng=1)

    fixed, n = begun.value.args
    assert n == fixed.x.size == min(records, 100)
    rows = [X.tolist().index(value) for value in fixed.x.tolist()]
    assert rows == sorted(set(rows))  # in the order of the file, none twice
    assert max(rows) < records
    assert fixed.other.tolist() == [known[value] for value in fixed.x.tolist()]
    # 100 of 101 rows are the first ones in one of 101 keys, and not in this one
    assert (rows == list(range(n))) == (records <= 100)


def test_gaps_are_left_out_and_shuffling_needs_another_column():
    gaps = np.where(np.arange(X.size) % 7 == 0, np.nan, X)
    found = cm.compare(gaps, SCHEME, d=D, replications=10, rng=1)

    assert found.records == np.sum(~np.isnan(gaps))
    assert found.missing == {"data shuffling": "it needs another column"}
    assert "correlation" not in found.rows[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d": 0.0}, "d must be positive and finite, got 0.0"),
        ({"d": 1e9}, r"d must leave a risk between 0 and 1, got 1e\+09, which leaves 1"),
        ({"d": 1.0, "other": AGE[:9]}, "other must be as long as x, 1500 values, got 9"),
        ({"d": 1.0, "replications": 2}, "replications must be a whole number of at least 10"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        cm.compare(X, SCHEME, **options)
