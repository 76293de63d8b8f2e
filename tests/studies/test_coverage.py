"""Studies of intervals: what covers, how long it is, and where neither can be told."""

import json

import numpy as np
import pytest
from marks import rest_slow
from scipy.stats import laplace, norm

import condmask as cm
from condmask._randomness import seeded_key
from condmask.cli import main
from condmask.inference.intervals import Interval, UndefinedError
from condmask.studies import coverage, replicates
from condmask.studies import toml as study_files

SCHEME = cm.ConditionalMasking(0.6, 1.0, decimals=2)
PAIRS = cm.NormalCopula([norm(5.0, 2.0), laplace(0.0, 1.0)], 0.5)
QUANTILES, MOMENTS, POINTS, LEVELS = [0.2, 0.5], [2], [4.0, 6.0], [0.9, 0.5]
STATISTICS = ["quantile 0.2", "quantile 0.5", "mean", "s.d.", "moment 2", "correlation", "cdf(4)", "cdf(6)"]


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    """Blocks are computed as a whole: of 4 replications, not of 32."""
    monkeypatch.setattr(replicates, "ROWS", 4)


def run(replications=40, population=PAIRS, schemes=None, **options):
    given = {
        "n": 150, "rng": 7, "quantiles": QUANTILES, "moments": MOMENTS, "cdf_points": POINTS,
        "confidence_levels": LEVELS, **options,
    }  # fmt: skip
    return cm.simulate(population, schemes or {"CM": SCHEME}, replications=replications, **given)


def asked(levels=(), points=POINTS, population=PAIRS, scheme=SCHEME):
    return replicates.Design(
        population, {"CM": scheme}, 150, np.array(QUANTILES), tuple(MOMENTS), np.array(points), np.zeros(0),
        tuple(levels),
    )  # fmt: skip


class Told:
    """An estimate whose intervals are known: about the masked mean, each of another length."""

    def __init__(self, z):
        self.center = float(np.mean(z))

    def _about(self, length, options, shape=()):
        half = np.full(shape, 0.5 * length * options["confidence_level"])
        half = half * (2.0 if options["target"] == "population" else 1.0)
        low, high = self.center - half, self.center + half
        return Interval(low, high, half, self.center, options["confidence_level"], options["target"], "it")

    def quantile_interval(self, q, **options):
        return self._about(1.0 + np.arange(q.size), options, q.shape)

    def mean_interval(self, **options):
        return self._about(10.0, options)

    def std_interval(self, **options):
        raise UndefinedError("too few records")

    def moment_interval(self, order, **options):
        return self._about(100.0 * order, options)

    def correlation_interval(self, other, **options):
        return self._about(float(other[0]), options)

    def cdf_interval(self, t, **options):
        return Interval(
            np.full(t.shape, -np.inf), self.center + t, t, t, options["confidence_level"], "", "half a line"
        )


class Known:
    """A scheme with such estimates."""

    def estimate(self, z):
        return Told(z)


def test_columns_are_in_the_order_of_their_names():
    z, other = np.array([[0.0, 0.0], [3.0, 3.0]]), np.array([[7.0, 1.0], [9.0, 1.0]])
    # own values: what a sample has; the first sample's intervals are about 0, the second's about 3
    own = np.array([[0.1, 0.6, 6.0, 0.0, 0.0, 4.0, 4.0, 6.1], [3.3, 2.4, 3.0, 0.0, 99.0, 3.0, 7.1, 8.9]])
    truth = np.array([0.8, 0.8, np.nan, 1.0, 0.0, 6.5, 4.0, 6.0])
    found = coverage.rows(Known(), z, other, own, truth, asked(LEVELS), tuple(LEVELS))
    named = dict(zip(coverage.names(STATISTICS, tuple(LEVELS)), found.T, strict=True))

    assert len(named) == 2 * 2 * 2 * 8
    nan = np.nan
    # half lengths at 90% for the file: .45 .9 4.5 - 90 1/2 * .9 * other; for the population twice that
    expected = {
        ("0.9 interval, file", "coverage of"): [[1, 1, 0, nan, 1, 0, 1, 0], [1, 1, 1, nan, 0, 1, 0, 1]],
        ("0.9 interval, population", "coverage of"): [
            [1, 1, nan, nan, 1, 0, 1, 1], [0, 0, nan, nan, 1, 1, 1, 1],
        ],
        ("0.5 interval, file", "coverage of"): [[1, 0, 0, nan, 1, 0, 1, 0], [0, 0, 1, nan, 0, 1, 0, 1]],
        ("0.9 interval, file", "length of"): [
            [0.9, 1.8, 9, nan, 180, 6.3, nan, nan], [0.9, 1.8, 9, nan, 180, 8.1, nan, nan],
        ],
        ("0.5 interval, population", "length of"): [
            [1, 2, 10, nan, 200, 7, nan, nan], [1, 2, 10, nan, 200, 9, nan, nan],
        ],
    }  # fmt: skip
    for (interval, part), values in expected.items():
        shown = np.array([named[interval, f"{part} {statistic}"] for statistic in STATISTICS]).T
        np.testing.assert_allclose(shown, values, rtol=1e-14)


def test_an_error_that_is_no_matter_of_the_records_ends_the_study(monkeypatch):
    def broken(self, order, **options):
        raise ValueError("a mistake of ours")

    monkeypatch.setattr(Told, "moment_interval", broken)
    z = np.zeros((1, 2))

    with pytest.raises(ValueError, match=r"^a mistake of ours$"):
        coverage.rows(Known(), z, z, np.zeros((1, 8)), np.zeros(8), asked(LEVELS), tuple(LEVELS))


def test_levels_that_are_nearly_the_same_have_names_of_their_own():
    levels = (0.95, 0.95001, 0.9500100001)
    assert len(set(coverage.names(["mean"], levels))) == 3 * 2 * 2
    assert coverage.names(["mean"], (0.95,))[0] == ("0.95 interval, population", "coverage of mean")


def test_a_level_given_twice_counts_once():
    once, twice = run(2, confidence_levels=[0.9, 0.5]), run(2, confidence_levels=[0.9, 0.5, 0.9])
    assert once.columns == twice.columns


def directly(scheme, population, levels, blocks=3, points=POINTS):
    """Coverage and length of every interval by one call after the other, on the samples of a study."""
    truth = {
        "mean": population.mean(), "s.d.": population.std(), "moment 2": population.moment(2),
        "correlation": population.correlation(), **dict(zip(
            ("quantile 0.2", "quantile 0.5"), population.quantile(np.array(QUANTILES)), strict=True
        )), **{f"cdf({t:g})": population.cdf(np.array(t)) for t in points},
    }  # fmt: skip
    design, found = asked(points=points), {}
    for block in range(blocks):
        x, (w,) = replicates.samples(design, 7, block)
        size = (150).to_bytes(8, "little"), block.to_bytes(8, "little")
        stream = seeded_key(7, b"study").derive(*size).derive(b"scheme", b"CM").stream(0, 0)
        z = scheme.mask_rows(x, stream, (w,))
        x = np.round(x, 2)
        for row in range(len(x)):
            estimate, ordered = scheme.estimate(z[row]), np.sort(x[row])
            own = {
                "quantile 0.2": ordered[29], "quantile 0.5": ordered[74], "mean": x[row].mean(),
                "s.d.": x[row].std(ddof=1), "moment 2": (x[row] ** 2).mean(),
                "correlation": np.corrcoef(x[row], w[row])[0, 1],
                **{f"cdf({t:g})": (x[row] <= t).mean() for t in points},
            }  # fmt: skip
            for level in levels:
                for target, aims in (("population", truth), ("file", own)):
                    options = {"confidence_level": level, "target": target}
                    intervals = {
                        **{f"quantile {q:g}": estimate.quantile_interval(q, **options) for q in QUANTILES},
                        "mean": estimate.mean_interval(**options), "s.d.": estimate.std_interval(**options),
                        "moment 2": estimate.moment_interval(2, **options),
                        "correlation": estimate.correlation_interval(w[row], **options),
                        **{f"cdf({t:g})": estimate.cdf_interval(t, **options) for t in points},
                    }  # fmt: skip
                    for statistic, interval in intervals.items():
                        place = found.setdefault((f"{level:g} interval, {target}", statistic), [])
                        covers = interval.low <= aims[statistic] <= interval.high
                        place.append((float(covers), float(interval.high - interval.low)))
    return {name: np.array(pairs) for name, pairs in found.items()}


@pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")
@pytest.mark.parametrize(
    "scheme",
    rest_slow([SCHEME, cm.ConditionalMasking(0.4, 1.0, decimals=2, noise="laplace", donors="permutation")]),
    ids=["normal", "laplace"],
)
def test_coverage_is_that_of_one_interval_after_the_other(scheme):
    result = run(12, schemes={"CM": scheme})
    expected = directly(scheme, PAIRS, LEVELS)

    assert len(expected) == 2 * 2 * 8
    for (interval, statistic), pairs in expected.items():
        for part, values in zip(("coverage", "length"), pairs.T, strict=True):
            entry = next(
                row
                for row in result.rows()
                if (row["estimator"], row["statistic"]) == (interval, f"{part} of {statistic}")
            )
            assert entry["mean"] == pytest.approx(values.mean(), rel=1e-9), (interval, part, statistic)
            spread = values.std(ddof=1) / np.sqrt(12)
            assert entry["mean_se"] == pytest.approx(spread, rel=1e-6, abs=1e-9)


@pytest.mark.slow
def test_intervals_cover_about_as_often_as_they_say():
    result = run(192, n=1_000)

    # 32 shares of 192, each within 5 binomial standard errors and .02 of the normal approximation; they over-
    # cover at most where T wiggles, below p = 1/2. False alarm below 32 * 6e-7
    for level in LEVELS:
        for target in ("population", "file"):
            for statistic in STATISTICS:
                share = result.value(
                    "CM", f"{level:g} interval, {target}", f"coverage of {statistic}", "mean"
                )
                assert abs(share - level) < 5 * np.sqrt(level * (1 - level) / 192) + 0.02


def test_splits_and_workers_leave_no_trace(tmp_path):
    whole, file = run(8), tmp_path / "state.npz"

    assert run(8, workers=2) == whole
    assert run(3, checkpoint=file) == run(3)  # within a block
    assert run(8, checkpoint=file) == whole
    assert cm.StudyResult.load(file) == whole
    for other in ([0.9], [0.5, 0.9], [], [0.9, 0.51]):
        with pytest.raises(ValueError, match=r"^checkpoint must be of the same study"):
            run(50, checkpoint=file, confidence_levels=other)
    assert cm.StudyResult.load(file) == whole


def test_a_population_without_a_truth_has_no_coverage():
    result = run(
        population=lambda rng, replications, n: rng.normal(5.0, 2.0, (replications, n)),
        schemes={"CM": SCHEME},
    )
    found = {(row["estimator"], row["statistic"]): row["mean"] for row in result.rows()}
    for statistic in STATISTICS:
        if statistic == "correlation":  # there is no second column
            continue
        assert np.isnan(found["0.9 interval, population", f"coverage of {statistic}"])
        assert 0.7 < found["0.9 interval, file", f"coverage of {statistic}"] <= 1.0
        assert found["0.9 interval, population", f"length of {statistic}"] > 0.0
    assert ("0.9 interval, file", "coverage of correlation") not in found


def test_an_infinite_interval_covers_and_has_no_length():
    # at n = 40, z^2/n exceeds .05: the lower end of the quantile .05 is infinite in every sample
    result = run(n=40, quantiles=[0.05], confidence_levels=[0.95], cdf_points=(), moments=(), replications=32)

    assert result.value("CM", "0.95 interval, population", "coverage of quantile 0.05", "mean") > 0.7
    assert np.isnan(result.value("CM", "0.95 interval, population", "length of quantile 0.05", "mean"))
    assert result.value("CM", "0.95 interval, file", "length of quantile 0.05", "mean") > 0.0


def test_schemes_without_intervals_have_no_such_columns():
    schemes = {"CM": SCHEME, "ranks": cm.RankSwapping(5.0)}
    named = {row["scheme"] for row in run(2, schemes=schemes).rows() if "interval" in row["estimator"]}

    assert named == {"CM"}


def test_additive_noise_has_no_intervals_for_quantiles():
    result = run(schemes={"ANM": cm.AdditiveNoise(1.0)}, replications=4)

    assert np.isnan(result.value("ANM", "0.9 interval, file", "coverage of quantile 0.2", "mean"))


def test_no_levels_leave_a_study_as_it_was():
    plain, tried = run(4, confidence_levels=()), run(4)
    levels = json.loads(tried.identity).pop("levels")

    assert levels == LEVELS
    assert {**json.loads(plain.identity), "levels": levels} == json.loads(tried.identity)
    assert "levels" not in json.loads(plain.identity)
    own = [k for k, column in enumerate(tried.columns) if "interval" not in column.estimator]
    assert plain.columns == tuple(tried.columns[k] for k in own)
    assert np.array_equal(plain.sums, tried.sums[:, own], equal_nan=True)
    assert plain == cm.simulate(
        PAIRS, {"CM": SCHEME}, n=150, rng=7, replications=4, quantiles=QUANTILES, moments=MOMENTS,
        cdf_points=POINTS,
    )  # fmt: skip


@pytest.mark.parametrize("level", [0.0, 1.0, 95, float("nan"), "95%"])
def test_a_wrong_level_gets_one_sentence(level):
    with pytest.raises((TypeError, ValueError), match=r"^confidence_levels must "):
        run(confidence_levels=[0.9, level] if not isinstance(level, str) else level)


def test_levels_in_a_file(tmp_path, capsys):
    file = tmp_path / "study.toml"
    file.write_text(
        "n = 100\nreplications = 4\nquantiles = [0.5]\nconfidence_levels = [0.95, 0.9]\nrng = 3\n"
        '[population]\nkind = "copula"\nmargins = [{name = "norm"}]\n'
        '[[schemes]]\nname = "masked"\np = 0.6\nsigma = 0.7\n'
    )

    assert study_files.read_study(file)["confidence_levels"] == [0.95, 0.9]
    assert main(["simulate", str(file)]) == 0
    shown = capsys.readouterr().out
    for level in ("0.95", "0.9"):
        for target in ("population", "file"):
            assert f"{level} interval, {target} coverage of mean" in shown
