"""The share of coins guessed, against the sum over all points, against releases with known coins, and in
cases where it can be reckoned.

A released file of n records is attacked with a standard error of at most .5 / sqrt(n); five of them are
passed by chance in 6e-7 of seeds.
"""

import numpy as np
import pytest
from scipy.special import ndtr

import condmask as cm
from condmask._randomness import words
from condmask.disclosure import convolution, digit_classes, learned_density, swap_attack, swap_posterior
from condmask.disclosure.folds import count_by_fold, fold_of, folded_rows
from condmask.disclosure.swap_attack import BRIEF, FULL, FoldedRows
from condmask.grid import decimal_grid
from condmask.law import Law

N, P, SIGMA = 40_000, 0.6, 500.0
RNG = np.random.default_rng(1)
X = RNG.lognormal(8.0, 0.5, N)
U = RNG.random(N)
HEAPED = np.select(
    [U < 0.3, U < 0.75, U < 0.94],
    [np.rint(X / 500) * 500, np.rint(X / 100) * 100, np.rint(X / 10) * 10],
    np.rint(X),
)


def figures(x, scheme, strata=None, effort=FULL):
    """The audit of one column."""
    rows = folded_rows(x.size, effort.rows, effort.folds)
    own = None if strata is None else strata[rows.rows]
    column = swap_attack.prepare(x[rows.rows].astype(float), "float64", scheme.law, own, rows, effort)
    parts = column.outcomes(closely=True)
    every = swap_posterior.concatenate(parts)
    # the outcomes of swapped records weigh p, those of kept ones 1 - p
    assert every.swapped.sum() == pytest.approx(scheme.p, abs=1e-9)
    assert every.kept.sum() == pytest.approx(1.0 - scheme.p, abs=1e-9)
    return swap_attack.figures(column, parts, x.size, shared=scheme.shared_donors)


def released(x, scheme, seed):
    """Masked values and coins."""
    z = scheme.mask_rows(x[None] + 0.0, np.random.default_rng(seed), ())[0]
    return z, words(np.random.default_rng(seed), x.size) < np.uint64(scheme.p * 2.0**64)


def attacked(known, x, scheme, seeds):
    """The shares of coins guessed and of records certain, in releases of x, by who has seen other records."""
    fold = np.ones(known.size, dtype=np.int64)
    fold[::20] = 0  # those of fold 0 are not used
    rows = FoldedRows(np.arange(known.size), fold, 2)
    column = swap_attack.prepare(known.astype(float), "float64", scheme.law, None, rows, FULL)
    found = []
    for seed in seeds:
        z, swapped = released(x, scheme, seed)
        ratio = column.log_ratios(scheme.law.to_units(z), None, np.zeros(x.size, dtype=np.int64))
        chance = 1.0 / (1.0 + (1.0 - scheme.p) / scheme.p * np.exp(-ratio))
        sure = np.minimum(chance, 1.0 - chance) < 0.05
        found.append([np.mean((chance >= 0.5) == swapped), np.mean(sure)])
        # who says 95% is right in 95%: 2,000 certain records, five standard errors of .0049
        if sure.sum() > 2_000:
            assert np.mean((chance >= 0.5)[sure] == swapped[sure]) > 0.95 - 0.025
    return np.mean(found, axis=0)


# --- the records of which he is surest ------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.25, 1.0])
def test_the_surest_records_are_those_that_come_first_by_his_chance(share):
    random = np.random.default_rng(3)
    chance = random.random(200).round(1)  # with ties, which come in part
    swapped, kept = random.random((2, 200))

    sure, left, right = np.maximum(chance, 1.0 - chance), share * (swapped + kept).sum(), 0.0
    for level in sorted(set(sure), reverse=True):
        of_level = sure == level
        records = (swapped + kept)[of_level].sum()
        part = min(1.0, left / records)
        right += part * np.where(chance >= 0.5, swapped, kept)[of_level].sum()
        left -= part * records

    total = share * (swapped + kept).sum()
    assert swap_posterior.guessed_surest(swapped, kept, chance, share) == pytest.approx(right / total)
    if share == 1.0:
        everyone = swap_posterior.guessed(swapped, kept, chance) / (swapped + kept).sum()
        assert right / total == pytest.approx(everyone)


def test_the_worst_tenth_is_that_of_a_real_attack():
    """At the ends of a uniform law noise is all that lies outside; in between nothing tells."""
    x, other = np.random.default_rng(4).uniform(0.0, 1_000.0, (2, N)).round(2)
    scheme = cm.ConditionalMasking(P, 60.0, decimals=2)
    worst = []
    for seed in range(5):
        z, swapped = released(x, scheme, seed)
        # who knows the law: kept values are as dense as far as noise reaches, swapped ones within the ends
        kept = (1.0 - P) * (ndtr(z / 60.0) - ndtr((z - 1_000.0) / 60.0))
        chance = P * ((z >= 0.0) & (z <= 1_000.0))
        chance = chance / (chance + kept)
        order = np.argsort(-np.maximum(chance, 1.0 - chance), kind="stable")[: N // 10]
        worst.append(np.mean((chance >= 0.5)[order] == swapped[order]))

    found = figures(other, scheme)
    assert 0.65 < found.worst < 0.85
    assert found.worst > found.guessed + 0.05
    # five standard errors of 20,000 coins
    assert found.worst == pytest.approx(np.mean(worst), abs=5.0 * 0.5 / np.sqrt(20_000))


# --- the sum over all points ----------------------------------------------------------------------


def summed(task, look):
    """The definition: every fold, every point, every step of the noise."""
    p, sigma, total, sure = task.law.p, task.sigma, 0.0, 0.0
    low, high = int(task.values[0] - 12 * sigma), int(task.values[-1] + 12 * sigma)
    line = np.arange(low, high + 1)
    reach = int(8 * sigma)
    away = np.arange(-reach, reach + 1)
    noise = ndtr((away + 0.5) / sigma) - ndtr((away - 0.5) / sigma)
    for own in task.table:
        law = learned_density.learn(task, task.counts - own, look).density(line)
        share = np.zeros(line.size)
        share[task.values - low] = own / task.n
        noised, kept = (np.convolve(each, (1 - p) * noise)[reach:-reach] for each in (law, share))
        swapped = p * share
        chance = p * law / (p * law + noised)
        total += np.where(chance >= 0.5, swapped, kept).sum()
        sure += (swapped + kept)[(chance < 0.05) | (chance > 0.95)].sum()
    return total, sure


@pytest.mark.parametrize("p", [0.3, 0.5, 0.6])
@pytest.mark.parametrize("look", [digit_classes.ONE_CLASS, digit_classes.residues(4)])
def test_on_a_coarse_grid_it_is_the_sum_over_all_points(p, look):
    law = Law(p, "normal", 3.0, decimal_grid(0))
    at = np.rint(np.random.default_rng(3).normal(0, 4, 90)).astype(int) * 2
    task = count_by_fold(at, fold_of(90, 3), 3, law)

    found = swap_posterior.attack(task, look, 10**6, 3, closely=False)

    chance = swap_posterior.posterior(p, found.law, found.noised)
    total, sure = summed(task, look)
    # noise beyond 8 sigma has 1e-15, and that which comes from 8 to 12 sigma beyond all data
    assert swap_posterior.guessed(found.swapped, found.kept, chance) == pytest.approx(total, abs=1e-9)
    assert swap_posterior.certain(found.swapped, found.kept, chance, p) == pytest.approx(sure, abs=1e-9)


def test_on_a_fine_grid_it_is_the_sum_but_for_what_is_linear_between_cells():
    law = Law(P, "normal", 70.0, decimal_grid(0))  # cells of four steps
    at = np.random.default_rng(3).integers(0, 12, 150) * 24
    task = count_by_fold(at, fold_of(150, 2), 2, law)
    assert convolution.bits_of(task) == 2

    found = swap_posterior.attack(task, digit_classes.ONE_CLASS, 10**6, 2, closely=False)

    chance = swap_posterior.posterior(P, found.law, found.noised)
    total, _ = summed(task, digit_classes.ONE_CLASS)
    # between the middles of cells, a seventeenth of sigma apart, a density errs by (1/17)^2 / 8 = 4e-4; that
    # all values lie at the first point of theirs moves it by .02 sigma, near where either guess is as good
    assert swap_posterior.guessed(found.swapped, found.kept, chance) == pytest.approx(total, abs=2e-3)


@pytest.mark.parametrize(
    ("p", "doubt"), [(0.5, 0.05), (0.1, 0.05), (0.9, 0.05), (0.08, 0.04), (0.96, 0.02), (0.6, 0.05)]
)
def test_he_is_certain_to_one_in_twenty_and_to_half_of_a_blind_error(p, doubt):
    for chance, sure in ((doubt - 1e-6, True), (doubt + 1e-6, False)):
        for of_a_swap in (chance, 1.0 - chance):
            found = swap_posterior.certain(np.array([0.3]), np.array([0.2]), np.array([of_a_swap]), p)
            assert found == (0.5 if sure else 0.0)


# --- what nobody can tell -------------------------------------------------------------------------


ONE_OFF = X.round(2)
ONE_OFF[17] += 0.00123456
PRECISIONS = {
    "continuous": (X, {}),
    "15 significant digits": (np.array([float(f"{v:.15g}") for v in X.tolist()]), {}),
    "float32": (X.astype(np.float32).astype(float), {}),
    "cents": (X.round(2), {}),
    "cents on their own grid": (X.round(2), {"decimals": 2}),
    "k / 3": (np.rint(X * 30) / 3, {"sigma": 2600.0}),  # at steps of 2
    "one value off": (ONE_OFF, {}),
    "whole numbers on their own grid": (np.rint(X), {"decimals": 0}),
    "whole numbers at step 4": (np.rint(X), {"step": 4}),
    "whole numbers at step 8": (np.rint(X), {"step": 8}),
    "of two signs": (X * np.where(U < 0.5, 1, -1), {}),
    "one outlier": (np.append(X[1:], 1e12 * SIGMA), {}),
    "rows alternate": (np.where(np.arange(N) % 2 == 0, X, X + 1e5), {}),
    "sorted": (np.sort(X), {}),
}


@pytest.mark.parametrize("name", PRECISIONS)
@pytest.mark.parametrize("noise", ["normal", "laplace"])
def test_continuous_data_of_any_precision_tell_nothing(name, noise):
    x, grid = PRECISIONS[name]
    found = figures(x, cm.ConditionalMasking(**{"p": P, "sigma": 250.0, "noise": noise, **grid}))

    assert found.guessed < P + 0.01
    assert found.certain < 0.01


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.5, 0.9, 0.98])
@pytest.mark.parametrize("n", [100, 300, 3_000])
def test_few_continuous_records_tell_nothing_either(n, p):
    found = figures(X[:n], cm.ConditionalMasking(p, 300.0))

    # at p = 1/2 a law learned from 90 records errs to either side: .053 was the most of 60 files
    assert found.guessed < max(p, 1 - p) + (0.06 if n < 1_000 else 0.02)
    assert found.certain < 0.04


# --- what can be reckoned -------------------------------------------------------------------------


SHOWN = {
    # kept values are on the data's grid by chance, a share 1/m, and then taken for swapped ones
    "whole numbers at 1/4": (np.rint(X), {"step": 0.25}, 0.6 + 0.4 * 3 / 4),
    "whole numbers at 1/100": (np.rint(X), {"decimals": 2}, 0.6 + 0.4 * 99 / 100),
    "hundreds at 1": (np.rint(X / 100) * 100, {"decimals": 0}, 0.6 + 0.4 * 99 / 100),
    "twentieths at 1/100": (np.rint(X * 20) / 20, {"decimals": 2}, 0.6 + 0.4 * 4 / 5),
    "dozens at 1": (np.rint(X / 12) * 12, {"decimals": 0}, 0.6 + 0.4 * 11 / 12),
    "thirds at 1/4": (np.rint(X * 3) / 3, {"step": 0.25}, 0.6 + 0.4 / 4),
    "tenths at 1/16": (X.round(1), {"step": 0.0625}, 0.6 + 0.4 * 3 / 8),  # five of eight points
    "one value off at 1e-4": (ONE_OFF.round(4), {"decimals": 4}, 0.6 + 0.4 * 99 / 100),
    "98.7% whole": (np.where(U < 0.987, np.rint(X), X.round(3)), {"decimals": 3}, 0.6 * 0.987 + 0.4),
    "prices that end in 99": (np.rint(X / 10) - 0.01, {"decimals": 2}, 0.6 + 0.4 * 99 / 100),
    "a third end in 99": (
        np.where(U < 1 / 3, np.rint(X / 10) - 0.01, (X / 10).round(2)),
        {"decimals": 2},
        0.6,
    ),
}


@pytest.mark.parametrize("name", SHOWN)
def test_digits_show_as_many_coins_as_can_be_reckoned(name):
    x, grid, expected = SHOWN[name]
    scheme = cm.ConditionalMasking(P, 20.0 if "99" in name else SIGMA, **grid)

    found = figures(x, scheme)

    # half of 40,000 records are attacked by who has seen 20,000, each half in turn
    assert found.guessed == pytest.approx(expected, abs=0.012)


def test_last_digits_that_are_rare_without_a_swap_tell_of_one():
    # at p = .3 a tenth of all values are such swapped prices, and .7 / 100 end in 99 by chance: 94%
    x, _, _ = SHOWN["a third end in 99"]
    found = figures(x, cm.ConditionalMasking(0.3, 20.0, decimals=2))

    assert found.guessed == pytest.approx(0.3 / 3 + 0.7 * 0.99, abs=0.012)
    assert found.certain < 0.01


def test_a_constant_column_shows_all_but_what_is_unchanged():
    found = figures(np.full(1_000, 7.0), cm.ConditionalMasking(P, 2.0, decimals=0))
    unchanged = ndtr(0.25) - ndtr(-0.25)

    assert found.guessed == pytest.approx(1.0 - 0.4 * unchanged, abs=1e-6)
    assert found.unchanged == pytest.approx(unchanged, rel=1e-12)


def test_strata_are_attacked_apart_where_they_differ():
    stratum = np.arange(N) % 2
    x = np.where(stratum == 0, np.rint(X / 100) * 100, np.rint(X))
    scheme = cm.ConditionalMasking(P, SIGMA, decimals=0)

    # in the first all is seen, .996; in the second, where hundreds are rare, nothing
    assert figures(x, scheme, stratum).guessed == pytest.approx(0.5 * 0.996 + 0.5 * 0.6, abs=0.012)
    # without strata half of the values are hundreds; others are swapped ones sooner than kept ones
    assert figures(x, scheme).guessed == pytest.approx(0.6 * 0.505 + 0.4 * 0.99, abs=0.012)


def test_wide_data_are_attacked_at_some_records(monkeypatch):
    x = np.where(np.arange(N) % 4 == 0, np.rint(X) * 1e6, np.rint(X / 100) * 100)
    scheme = cm.ConditionalMasking(P, SIGMA, decimals=0)
    assert figures(x, scheme).guessed == pytest.approx(0.996, abs=0.01)

    monkeypatch.setattr(swap_posterior, "MOST_CELLS", 1 << 17)
    found = figures(x, scheme)
    # the cells of 260 records: five standard errors of .07 / sqrt(260)
    assert found.guessed == pytest.approx(0.996, abs=0.022)
    assert found.certain > 0.97


def test_records_of_wide_data_are_attacked_in_proportion(monkeypatch):
    rng = np.random.default_rng(7)
    x = np.where(U < 0.5, 0.0, np.rint(np.exp(rng.normal(0, 2, N)) * 1e7))
    scheme = cm.ConditionalMasking(P, SIGMA, decimals=0)
    for most in (1 << 19, 1 << 17):
        monkeypatch.setattr(swap_posterior, "MOST_CELLS", most)
        # all coins of zeros, and the blind guess elsewhere; half the records are 0. A record has 503 cells
        assert figures(x, scheme).guessed == pytest.approx(0.8, abs=5 * 0.4 / np.sqrt(most / 503))


# --- releases with known coins --------------------------------------------------------------------


RELEASES = {
    "continuous": (X, 500.0, {}),
    "noise as wide as the data": (X, 3_000.0, {}),
    "heaped": (HEAPED, 500.0, {"decimals": 0}),
    "heaped, p = .3": (HEAPED, 500.0, {"decimals": 0, "p": 0.3}),
    "heaped, p = .8, Laplace": (HEAPED, 500.0, {"decimals": 0, "p": 0.8, "noise": "laplace"}),
    "heaped, coarse": (HEAPED, 500.0, {"step": 100}),
    "thirds": (np.rint(X * 3) / 3, 500.0, {"step": 0.25}),
    "zeros": (np.where(U < 0.3, 0.0, np.rint(X)), 2_000.0, {"decimals": 0}),
    "prices": (np.rint(X / 100) - 0.01, 10.0, {"decimals": 2}),
    "three values": (np.floor(3 * U), 2.0, {"decimals": 0}),
    "Cauchy": (np.random.default_rng(6).standard_cauchy(N) * 1_000, 100.0, {}),
}


@pytest.mark.parametrize("name", RELEASES)
def test_the_audit_is_the_success_of_the_attack(name):
    x, sigma, options = RELEASES[name]
    scheme = cm.ConditionalMasking(**{"p": P, "sigma": sigma, **options})

    found = figures(x, scheme)
    success, sure = attacked(x[::2], x[1::2], scheme, (1, 2))

    # five standard errors of the attack on 40,000 records, .0025, and .002 of the law's own
    assert found.guessed == pytest.approx(max(success, found.blind), abs=0.0145)
    assert found.certain == pytest.approx(sure, abs=0.0145)


@pytest.mark.parametrize("options", [{"decimals": 0}, {"step": 250}])
def test_unchanged_records_are_counted(options):
    x = np.rint(X / 1_000) * 1_000
    scheme = cm.ConditionalMasking(**{"p": P, "sigma": 300.0, **options})
    z, swapped = released(x, scheme, 3)
    kept = ~swapped & (x != 0.0)

    same = scheme.law.to_units(z[kept]) == scheme.law.to_units(x[kept])

    # 16,000 kept records: five standard errors of .004
    assert figures(x, scheme).unchanged == pytest.approx(np.mean(same), abs=0.02)


# --- odd files ------------------------------------------------------------------------------------


KINDS = {
    "constant": lambda n, rng: np.full(n, 7.25),
    "two": lambda n, rng: np.floor(2 * rng.random(n)),
    "zeros": lambda n, rng: np.append(np.zeros(n - 1), 5.0),
    "normal": lambda n, rng: rng.normal(0, 1_000, n),
    "Cauchy": lambda n, rng: 1_000 * rng.standard_cauchy(n),
    "wide": lambda n, rng: np.exp(rng.normal(0, 8, n)),
    "outlier": lambda n, rng: np.append(rng.normal(0, 1e3, n - 1), 5e10),
    "whole": lambda n, rng: np.floor(1_000 * rng.random(n)),
    "gaps": lambda n, rng: np.where(rng.random(n) < 0.5, np.nan, rng.normal(0, 1e3, n)),
}
OPTIONS = [
    {"sigma": 500.0}, {"sigma": 0.01}, {"sigma": 500.0, "decimals": 0}, {"sigma": 500.0, "step": 200.0},
    {"sigma": 500.0, "noise": "laplace", "donors": "sample"}, {"sigma": 0.01, "donors": "sample"},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_odd_files_have_figures(kind, options):
    seed = len(OPTIONS) * [*KINDS].index(kind) + OPTIONS.index(options)
    n, p = [2, 3, 10, 99, 250][seed % 5], [0.02, 0.5, 0.6, 0.97][seed % 4]
    x, scheme = KINDS[kind](n, np.random.default_rng(seed)), cm.ConditionalMasking(p=p, **options)
    # what lies beyond is refused before anybody looks at its figures
    assert np.nanmax(np.abs(x), initial=0.0) < 2.0**53 * scheme.law.grid.step

    found = figures(x, scheme, effort=FULL if seed % 3 else BRIEF)

    assert found.blind <= found.guessed <= 1.0 + 1e-9
    assert 0.0 <= found.certain <= 1.0 + 1e-9
    assert found.blind <= found.by_value <= found.guessed
    assert found.ties == 0.0 or scheme.shared_donors
    assert 0.0 <= found.unchanged <= 1.0
