"""The figures of a study are those of what users get from the same masked samples, one after the other."""

import numpy as np
import pytest

import condmask as cm

N, ROWS, LEVEL = 150, 12, 0.9
POPULATION = cm.NormalCopula(cm.paper_population().margins, -0.7)
Q, T, D = [0.5, 0.05, 0.8], [0.0, 900.0], 500.0
SCHEMES = {
    "rearranged": cm.ConditionalMasking(0.3, 600.0),
    "first": cm.ConditionalMasking(0.85, 600.0, donors="sample"),
    "no grid": cm.ConditionalMasking(0.4, 600.0, step=0.0),
    "coarse": cm.ConditionalMasking(0.6, 400.0, decimals=-2),
    "Laplace": cm.ConditionalMasking(0.5, 600.0, noise="laplace"),
    "mapped": cm.ConditionalMasking(0.5, 300.0, reverse_mapping=True),
    "noise": cm.AdditiveNoise(800.0),
    "normal noise": cm.AdditiveNoise(800.0, noise="normal"),
    "ranks": cm.RankSwapping(5.0),
}
pytestmark = pytest.mark.filterwarnings("ignore::condmask.EstimateWarning")


def studied(scheme, monkeypatch, population=POPULATION, **options):
    """A study, and the samples that it drew and masked."""
    seen, mask = [], type(scheme).mask_rows

    def kept(self, x, stream, others):
        z = mask(self, x, stream, others)
        seen.append((x, z, others[0]))
        return z

    monkeypatch.setattr(type(scheme), "mask_rows", kept)
    given = {"n": N, "replications": ROWS, "quantiles": Q, "cdf_points": T, "rng": 4}
    found = cm.simulate(population, {"it": scheme}, risk_distances=[D], **given | options)
    x, z, others = (np.concatenate(part)[:ROWS] for part in zip(*seen, strict=True))
    law = scheme.law
    return found, x if law is None or law.grid is None else law.from_units(law.to_units(x)), z, others


def known(call, size=1):
    """What users get, NaN where they are refused."""
    try:
        return np.ravel(call()).tolist()
    except ValueError:
        return [np.nan] * size


def names():
    return [*(f"quantile {q:g}" for q in Q), "mean", "s.d.", "correlation", *(f"cdf({t:g})" for t in T)]


def of_users(scheme, bandwidth, z, w, crossing=None):
    estimate = scheme.estimate(z)
    smooth = {} if bandwidth is None else {"bandwidth": bandwidth}
    return [
        *known(lambda: estimate.quantile(Q, crossing=crossing, **smooth), len(Q)),
        *known(estimate.mean), *known(estimate.std),
        *known(lambda: estimate.correlation(w)), *known(lambda: estimate.cdf(T, **smooth), len(T)),
    ]  # fmt: skip


@pytest.mark.parametrize("name", [name for name in SCHEMES if SCHEMES[name].estimators])
def test_they_are_of_estimates_as_users_get_them(name, monkeypatch):
    scheme = SCHEMES[name]
    found, _, z, others = studied(scheme, monkeypatch)

    for estimator, bandwidth in scheme.estimators.items():
        each = np.array([of_users(scheme, bandwidth, row, w) for row, w in zip(z, others, strict=True)])
        for statistic, values in zip(names(), each.T, strict=True):
            defined = np.isfinite(values)
            count = found.value("it", estimator, statistic, "defined")
            assert count == defined.sum()
            if count == 0:
                continue
            error = values[defined] - found.value("it", estimator, statistic, "truth")
            size = max(np.abs(values[defined]).max(), 1e-3)
            for figure, expected in (
                ("mean", values[defined].mean()), ("bias", error.mean()),
                ("rmse", np.sqrt(np.mean(error**2))), ("bias_se", error.std(ddof=1) / np.sqrt(count)),
                ("rmse_se", np.std(error**2, ddof=1) / np.sqrt(4.0 * count * np.mean(error**2))),
            ):  # fmt: skip
                assert found.value("it", estimator, statistic, figure) == pytest.approx(
                    expected, abs=1e-7 * size
                )


def test_rows_far_wider_than_the_noise_and_bandwidths_too_narrow_are_left_to_single_samples(monkeypatch):
    scheme = cm.ConditionalMasking(0.6, 1.0, decimals=0)

    def population(rng, rows, n):
        x = rng.normal(size=(rows, n)).round()  # too few steps for a bandwidth
        x[1::3] = rng.standard_cauchy((rows, n))[1::3] * 1e4
        x[2::3] *= 40.0
        return x, rng.normal(size=(rows, n))

    found, _, z, others = studied(scheme, monkeypatch, population)

    for estimator, bandwidth in scheme.estimators.items():
        each = np.array([of_users(scheme, bandwidth, row, w)[:3] for row, w in zip(z, others, strict=True)])
        mean = np.nanmean(each, axis=0)
        for k, q in enumerate(Q):
            own = found.value("it", estimator, f"quantile {q:g}", "mean")
            assert own == pytest.approx(mean[k], abs=1e-6 * np.nanmax(np.abs(each[:, k])))
            assert found.value("it", estimator, f"quantile {q:g}", "defined") == np.isfinite(each[:, k]).sum()
    assert found.value("it", "T_b", "quantile 0.5", "defined") == 8


@pytest.mark.parametrize("name", ["rearranged", "coarse", "mapped", "ranks"])
def test_samples_truths_and_risks_are_counted_plainly(name, monkeypatch):
    scheme = SCHEMES[name]
    found, x, z, others = studied(scheme, monkeypatch)
    estimator = next(iter(scheme.estimators), "masked")

    def value(statistic, figure, of=estimator):
        return found.value("it", of, statistic, figure)

    assert value("quantile 0.05", "truth") == pytest.approx(POPULATION.quantile(np.array(0.05)))
    assert value("correlation", "truth") == pytest.approx(-0.68645, abs=1e-5)
    if not scheme.estimators:  # the masked sample as it is
        plain = np.quantile(z, 0.8, axis=1, method="inverted_cdf")
        assert value("quantile 0.8", "mean") == pytest.approx(plain.mean())
        own = [np.corrcoef(row, w)[0, 1] for row, w in zip(z, others, strict=True)]
        assert value("correlation", "mean") == pytest.approx(np.mean(own))
    error = np.round(z - x, 9)
    near = np.mean(np.abs(error) < D, axis=1)
    assert value("risk 500", "mean", "Z_i") == pytest.approx(near.mean())
    assert value("risk 500", "mean_se", "Z_i") == pytest.approx(near.std(ddof=1) / np.sqrt(ROWS))
    assert value("MSE", "mean", "Z_i") == pytest.approx(np.mean(error**2))
    apart = np.abs(z.mean(axis=1)[:, None] - x)
    assert value("risk 500", "mean", "mean of Z") == pytest.approx(np.mean(apart < D))


def test_without_a_known_truth_it_is_that_of_the_samples(monkeypatch):
    found, x, z, _ = studied(
        SCHEMES["first"],
        monkeypatch,
        lambda rng, rows, n: (rng.normal(0.0, 900.0, (rows, n)), rng.normal(size=(rows, n))),
    )

    truth = np.mean(np.quantile(x, 0.8, axis=1, method="inverted_cdf"))
    row = next(r for r in found.rows() if (r["estimator"], r["statistic"]) == ("T_1", "quantile 0.8"))
    assert row["truth_of"] == "sample"
    assert row["truth"] == pytest.approx(truth, abs=1.0)  # rounded to a thousandth of sigma
    assert row["bias"] == pytest.approx(row["mean"] - row["truth"])
    mean = next(r for r in found.rows() if (r["estimator"], r["statistic"]) == ("T_1", "mean"))
    off = SCHEMES["first"].estimate(z).mean() - x.mean(axis=1)
    assert mean["bias_se"] == pytest.approx(off.std(ddof=1) / np.sqrt(off.size), rel=1e-3)


@pytest.mark.parametrize("name", ["rearranged", "coarse", "mapped", "no grid"])
def test_coverage_is_that_of_the_intervals_users_get(name, monkeypatch):
    scheme = SCHEMES[name]
    found, x, z, others = studied(scheme, monkeypatch, confidence_levels=[LEVEL])

    for target in ("population", "file"):
        options, each = {"confidence_level": LEVEL, "target": target}, []
        for row, w in zip(z, others, strict=True):
            one = scheme.estimate(row)
            intervals = [
                one.quantile_interval(Q, **options), one.mean_interval(**options),
                one.std_interval(**options), one.correlation_interval(w, **options),
                one.cdf_interval(T, **options),
            ]  # fmt: skip
            each.append(np.hstack([np.reshape(interval[:2], (2, -1)) for interval in intervals]))
        low, high = np.moveaxis(each, 1, 0)
        own = [
            [
                *np.quantile(r, Q, method="inverted_cdf"), r.mean(), r.std(ddof=1),
                np.corrcoef(r, w)[0, 1], *(np.mean(r <= t) for t in T),
            ]
            for r, w in zip(x, others, strict=True)
        ]  # fmt: skip
        estimator = next(iter(scheme.estimators))
        aims = np.array(own)
        if target == "population":
            aims[:] = [found.value("it", estimator, statistic, "truth") for statistic in names()]
        for k, statistic in enumerate(names()):
            row = f"{LEVEL} interval, {target}"
            length, aim = high[:, k] - low[:, k], aims[:, k]
            mean = np.mean(length[np.isfinite(length)])
            # quantiles of rows and of single samples differ by a hundredth of an interval
            assert found.value("it", row, f"length of {statistic}", "mean") == pytest.approx(mean, rel=0.01)
            slight = 0.01 * length + 1e-9 * np.abs(aim)
            share = found.value("it", row, f"coverage of {statistic}", "mean")
            inside, outside = (
                np.mean((low[:, k] - sign * slight <= aim) & (aim <= high[:, k] + sign * slight))
                for sign in (-1, 1)
            )
            assert inside - 1e-12 <= share <= outside + 1e-12
