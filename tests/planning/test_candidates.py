"""What is expected of one scheme: the best of all attackers, and what intervals cost on the average."""

import numpy as np
import pytest
from scipy.stats import norm

import condmask as cm
from condmask.disclosure import value_attack
from condmask.planning import candidates as module
from condmask.planning import predicted_quantiles
from condmask.planning.candidates import column_of, evaluate

D = np.array([1.0, 2.0, 3.5, 30.0])
X = np.rint(np.random.default_rng(1).gamma(2.0, 10.0, 60))


def masked_value_is_near(scheme, d):
    """P(|Z - X| < d) over all donors and steps of the noise, one by one."""
    pairs = [abs(a - b) < d for i, a in enumerate(X) for j, b in enumerate(X) if i != j]
    steps = np.array([y for y in range(-40, 41) if abs(y) < d])
    kept = np.sum(norm.cdf((steps + 0.5) / scheme.sigma) - norm.cdf((steps - 0.5) / scheme.sigma))
    return scheme.p * np.mean(pairs) + (1.0 - scheme.p) * kept


def constant_is_near(d):
    """The most records that any number is nearer than d to."""
    numbers = np.arange(X.min() - 1, X.max() + 1, 0.25)
    return max(float(np.mean(np.abs(X - number) < d)) for number in numbers)


@pytest.mark.parametrize("from_posterior", [np.nan, 0.0, 0.47, 1.0])
def test_the_best_attacker_is_the_best_of_posterior_constant_and_masked_value(monkeypatch, from_posterior):
    """Nothing may be known by the first (NaN), or little; noise below d makes the last one good."""
    monkeypatch.setattr(value_attack, "by_posterior", lambda *_: np.full(D.size, from_posterior))
    column = column_of(X, "float64", None)
    winners = set()
    for scheme in (cm.ConditionalMasking(0.2, 0.8, step=1), cm.ConditionalMasking(0.9, 30.0, step=1)):
        found = evaluate(column, scheme, D)

        constant = [constant_is_near(d) for d in D]
        masked = [masked_value_is_near(scheme, d) for d in D]
        every = np.array([np.full(D.size, np.nan_to_num(from_posterior)), constant, masked])
        assert found.risk == pytest.approx(every.max(axis=0), rel=1e-9)
        winners |= set(every.argmax(axis=0).tolist())
    assert winners == {0.47: {0, 1, 2}, 1.0: {0}}.get(from_posterior, {1, 2})


def standard_errors_without_masking(x, w):
    """sqrt(n) times these, from influence functions: of a mean x, of a s.d. (u^2 - 1) s / 2, of a correlation
    u v - r (u^2 + v^2) / 2 with u and v standardised, of a slope of x on w v (u - r v) times the ratio of the
    s.d.; of a difference of groups the root of their variances over shares."""
    u, v = ((each - each.mean()) / each.std() for each in (x, w))
    r, above = np.mean(u * v), w > np.median(w)
    return {
        "mean": x.std(),
        "std": x.std() * np.std(u**2 - 1.0) / 2.0,
        "correlation": np.std(u * v - r * (u**2 + v**2) / 2.0),
        "slope": np.std(v * (u - r * v)) * x.std() / w.std(),
        "difference": np.sqrt(sum(x[rows].var() / rows.mean() for rows in (above, ~above))),
    }


def test_what_is_lost_is_the_mean_ratio_of_intervals_to_those_without_masking():
    """Averaged over what concerns the column alone, and over what relates it to another."""
    scheme = cm.ConditionalMasking(0.6, 15.0)
    w = X + np.random.default_rng(2).normal(0.0, 20.0, X.size)
    column = column_of(X, "float64", w)
    found = evaluate(column, scheme, D)

    ((_, file),) = column.file(scheme).pools
    ordered = predicted_quantiles.Ordered(file.values, file.units)
    _, longer = predicted_quantiles.errors(
        ordered, [(1.0, ordered)], file.law, np.arange(1, 10) / 10, X.size,
        shared_donors=scheme.shared_donors,
    )  # fmt: skip
    unmasked = standard_errors_without_masking(X, w)
    ratios = [found.population[name] * np.sqrt(X.size) / error for name, error in unmasked.items()]
    # X on steps of sigma / 1000
    expected = 0.5 * np.mean([*longer, *ratios[:2]]) + 0.5 * np.mean(ratios[2:])
    assert found.loss == pytest.approx(expected, rel=1e-4)


def test_without_another_column_an_unrelated_one_counts():
    found = evaluate(column_of(X, "float64", None), cm.ConditionalMasking(0.6, 15.0), D)
    w = np.tile([-1.0, 1.0], X.size // 2)  # of equal squares: no record weighs more than another
    beside = evaluate(column_of(X, "float64", w), cm.ConditionalMasking(0.6, 15.0), D)

    slope = beside.file["slope"] * np.sqrt(X.size)  # whose weights these are, over their sum of squares
    own_part = 2.0 * beside.loss - np.mean(
        [
            beside.population[name] * np.sqrt(X.size) / error
            for name, error in standard_errors_without_masking(X, w).items()
            if name in ("correlation", "slope", "difference")
        ]
    )
    assert 2.0 * found.loss - own_part == pytest.approx(np.sqrt(1.0 + slope**2 / X.var()), rel=1e-4)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_by_reverse_mapping_the_column_itself_costs_nothing(scale):
    x = np.random.default_rng(1).lognormal(3.0, 0.5, 600)
    w = x + np.random.default_rng(2).normal(0.0, 20.0, x.size)
    sigma = {"linear": 10.0, "log": 0.4}[scale]
    scheme = cm.ConditionalMasking(0.5, sigma, scale=scale, reverse_mapping=True)
    found = evaluate(column_of(x, "float64", w), scheme, D)

    unmasked = {
        name: error / np.sqrt(x.size) for name, error in standard_errors_without_masking(x, w).items()
    }
    for name in ("mean", "std", "quantile 0.3"):
        assert found.file[name] == 0.0
    for name in ("mean", "std"):
        assert found.population[name] == pytest.approx(unmasked[name], rel=1e-9)
    related = ("correlation", "slope", "difference")
    for name in related:
        together = np.hypot(found.file[name], unmasked[name])
        assert found.population[name] == pytest.approx(together, rel=1e-9)
    ratios = [found.population[name] / unmasked[name] for name in related]
    assert found.loss == pytest.approx(0.5 + 0.5 * np.mean(ratios), rel=1e-9)


def test_the_worst_record_of_added_noise_is_the_one_with_most_neighbours():
    scheme = cm.ConditionalMasking(0.3, 5.0, step=1)
    found = evaluate(column_of(X, "float64", None), scheme, D)

    steps = np.arange(-40, 41)
    noise = norm.cdf((steps + 0.5) / 5.0) - norm.cdf((steps - 0.5) / 5.0)
    for d, worst in zip(D, found.record_risk, strict=True):
        near = max(np.sum(np.abs(X - x) < d) - 1 for x in X) / (X.size - 1)
        assert worst == pytest.approx(0.3 * near + 0.7 * noise[np.abs(steps) < d].sum(), rel=1e-9)


@pytest.mark.parametrize("n", [999, 1_000, 1_001, 5_000])
def test_errors_of_quantiles_are_predicted_from_some_records_as_from_all(monkeypatch, n):
    x = np.sort(np.random.default_rng(3).normal(0.0, 100.0, n))
    scheme = cm.ConditionalMasking(0.6, 100.0)
    column = column_of(x, "float64", None)
    exact = evaluate(column, scheme, D)

    monkeypatch.setattr(module, "ROWS", 1_000)
    found = evaluate(column, scheme, D)

    names = [f"quantile {q:g}" for q in (0.1, 0.3, 0.5, 0.7, 0.9)]
    for target in ("file", "population"):
        some, every = (np.array([getattr(each, target)[name] for name in names]) for each in (found, exact))
        if n <= 1_000:
            assert np.array_equal(some, every)
        else:
            # of ascending records evenly many are taken: their quantiles are 1 / 1000 off at most
            assert not np.array_equal(some, every)
            assert some == pytest.approx(every, rel=0.03)


def test_the_worst_record_of_reverse_mapping_is_that_of_the_risks():
    """It stands alone with two others 10 apart, which d = 10 does not reach."""
    x = np.append(np.random.default_rng(8).normal(100.0, 15.0, 400).round(), [5_000.0, 5_010.0, 5_020.0])
    scheme = cm.ConditionalMasking(0.4, 3.0, reverse_mapping=True)
    d = np.array([10.0, 10.5, 40.0])

    found = evaluate(column_of(x, "float64", None), scheme, d)

    assert found.record_risk == pytest.approx(cm.risk(x, scheme, d=d).most_exposed, rel=1e-9)


def test_means_at_the_ends_move_the_standard_deviation_by_what_they_take_from_it():
    x = np.random.default_rng(3).lognormal(3.0, 1.0, 400)
    d = np.array([1.0])
    plain, ends = (
        evaluate(column_of(x, "float64", None), cm.ConditionalMasking(
            0.6, 5.0, reverse_mapping=True, aggregate_ends=count), d)
        for count in (0, 10)
    )  # fmt: skip
    ordered = np.sort(x)
    ordered[:10], ordered[-10:] = ordered[:10].mean(), ordered[-10:].mean()
    moved = abs(ordered.std() - x.std())

    assert plain.file["std"] == 0.0
    assert ends.file["std"] == pytest.approx(moved, rel=1e-6)
    assert ends.population["std"] == pytest.approx(np.hypot(moved, plain.population["std"]), rel=1e-6)
    assert ends.population["mean"] == plain.population["mean"]


@pytest.mark.parametrize("donors", ["permutation", "sample"])
def test_means_of_strata_are_off_by_noise_and_by_the_donors_that_are_drawn_again(donors):
    """A column in clear that tells the strata leaves their means alone. A permutation keeps the sum of the
    swapped; of donors drawn again a record has the variance x.var() less its square of 1 - p."""
    x = np.sort(np.random.default_rng(4).normal(0.0, 50.0, 60))
    code = (np.arange(60) % 3 == 0).astype(np.int64)
    scheme = cm.ConditionalMasking(0.4, 20.0, donors=donors)

    found = evaluate(column_of(x, "float64", code.astype(float), code), scheme, np.array([1.0]))

    drawn = {"permutation": 0.0, "sample": 1.0 - 0.6**2}[donors]
    of_means = [
        (0.6 * scheme.law.variance + drawn * own.var()) / own.size for own in (x[code == 0], x[code == 1])
    ]
    assert found.file["difference"] == pytest.approx(np.sqrt(sum(of_means)), rel=1e-3)


def test_moments_of_a_coarse_grid_are_not_those_of_a_fine_one():
    column = column_of(X, "float64", None)
    fine, coarse = (cm.ConditionalMasking(0.6, sigma) for sigma in (1.0, 40_000.0))
    assert coarse.step > X.std()

    evaluate(column, fine, D)
    found = evaluate(column, coarse, D)

    assert found.file == evaluate(column_of(X, "float64", None), coarse, D).file
