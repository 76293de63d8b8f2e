"""Counts, however values were cut and merged, and all other routes to a number, against the
estimate."""

import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheme_classes import conditional_or_mapped

import condmask as cm
from condmask.studies import curves

pytestmark = pytest.mark.usefixtures("unaudited")

RNG = np.random.default_rng(12)
MAPPED = cm.ReverseMapping(0.6, 1.3)


def scheme(p=0.6, sigma=1.3, **options):
    if "decimals" not in options:
        options.setdefault("step", 0.125)
    return cm.ConditionalMasking(p, sigma, **options)


def counted(one, *parts, **options):
    counts = cm.Counts(one, **options)
    for part in parts:
        counts.update(part)
    return counts


def gridded(values, step=0.125):
    return np.rint(np.asarray(values, dtype=float) / step) * step


def test_sixteen_threads_add_to_the_same_counts():
    one = scheme()
    together = Barrier(16)
    parts = [[gridded(RNG.normal(0.0, 3.0, 20)) for _ in range(30)] for _ in range(16)]
    shared = cm.Counts(one)
    values = np.concatenate([part for own in parts for part in own])

    def add(own):
        together.wait(60)
        for part in own:
            shared.update(part)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(add, parts))

    expected = counted(one, values)
    assert shared.n == values.size
    assert all(map(np.array_equal, shared.counted[:2], expected.counted[:2]))


def answers(one):
    """All that counts determine."""
    x = np.linspace(-40, 80, 37)
    q = np.linspace(0.03, 0.97, 21)
    yield from (one.n, one.mean(), one.variance(), one.moment(3), one.moment(4, central=True))
    for width in (None, 0.6, "scott", "undersmooth"):
        yield one.cdf(x, bandwidth=width)
        yield one.quantile(q, bandwidth=width)
        yield one.quantile(q[:3], bandwidth=width, crossing="rearranged")
        yield one.cdf(x[::9], bandwidth=width, monotone=True)
    yield one.pdf(x)


def assert_same_answers(one, other):
    for a, b in zip(answers(one), answers(other), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("one", [scheme(0.2), scheme(0.6, noise="laplace"), MAPPED], ids=str)
def test_counts_give_the_bits_of_their_values(one):
    z = gridded(np.random.default_rng(108).laplace(40, 5, 4_000))

    assert_same_answers(one.estimate(counted(one, pa.array(z))), one.estimate(z))


PUBLISHED = {"p": 0.6, "sigma": 1.0}
MAPS = {"reverse_mapping": True}
DIFFERENT = [
    ({}, {"p": 0.7}),
    ({}, {"sigma": 2.0}),
    ({}, {"noise": "laplace"}),
    ({}, {"step": 0.5}),
    ({}, {"strata": ("region", "sex")}),
    ({}, {"missing": (-8.0,)}),
    ({}, {"donors": "sample"}),
    ({}, MAPS),
    (MAPS, {"scale": "log"}),
    (MAPS, {"aggregate_ends": 3}),
    (MAPS, {"noise": "laplace"}),
]


@pytest.mark.parametrize(("common", "own"), DIFFERENT, ids=str)
def test_counts_of_schemes_that_differ_in_one_thing_are_not_added(common, own):
    # where -8 is a code it is no value, so that one file has other counts with and without it
    one, other = (
        conditional_or_mapped(
            **PUBLISHED | ({} if MAPS.items() <= given.items() else {"step": 1.0}) | given
        )
        for given in (common, common | own)
    )
    first = counted(one, [1.0, 1.0])
    second = counted(other, [1.0, 1.0])

    for a, b in ((first, second), (second, first)):
        with pytest.raises(ValueError, match=r"^other must be Counts of the same scheme "):
            a + b
    with pytest.raises(ValueError, match=r"^z must be Counts of the scheme "):
        one.estimate(second)
    assert (second + second).n == second.n + 2 == 4


# --- reverse mapping: counts by value ---

VALUES = st.one_of(
    st.integers(-20, 20).map(lambda k: 100.0 * k),  # heaps
    st.floats(-1e6, 1e6),
    st.sampled_from([-0.0, 0.0, 5e-324, -5e-324, 1e300, -1e300, 2.0**53, 2.0**53 + 2.0]),
)


@settings(max_examples=60)
@given(
    values=st.lists(VALUES, min_size=2, max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_counts_by_value_depend_on_the_records_alone(values, cuts, order):
    whole = counted(MAPPED, np.array(values))
    shuffled = np.array(order.sample(values, len(values)))
    parts = [
        counted(MAPPED, part)
        for part in np.split(shuffled, np.sort(np.minimum(cuts, len(values))))
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total + pickle.loads(pickle.dumps(part)) if len(values) % 2 else part + total

    assert all(map(np.array_equal, total.counted[:2], whole.counted[:2]))
    assert whole.n == len(values)
    distinct, records = (each.tolist() for each in whole.counted[:2])
    assert dict(zip(distinct, records, strict=True)) == Counter(values)


def test_counts_after_reverse_mapping_leave_codes_and_gaps_out():
    one = cm.ReverseMapping(0.6, 1.3, missing=(-8.0,))
    counts = counted(one, [-8.0, np.nan, 3.0, 3.0, 7.5])

    assert (counts.n, counts.counted.values.tolist()) == (3, [3.0, 7.5])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: scheme().estimate(cm.Counts(scheme())), r"z must have at least 2 values, got 0"),
        (
            lambda: cm.Counts(scheme(sigma=1e3, step=0)),
            r"scheme must have a grid for Counts, got step=0; .*",
        ),
        (
            lambda: counted(scheme(), [1.0, 1.3, np.nan, 0.2]),
            r"z must lie on the grid of its scheme, multiples of 0\.125, got 1\.3 \(2 such .*",
        ),
        (
            lambda: scheme().estimate(counted(scheme(), [1.0, 2.0])).covariance([1.0, 2.0]),
            r"z must be masked values for .* of several columns, got Counts, which keep no records",
        ),
    ],
)
def test_bad_input_gets_one_sentence(call, sentence):
    with pytest.raises(ValueError, match="^" + sentence + "$"):
        call()


@pytest.mark.parametrize(
    "other", [cm.DataSwapping(), cm.AdditiveNoise(10.0), cm.MultiplicativeNoise(0.1), "scheme"]
)
def test_schemes_without_t_1_are_refused(other):
    with pytest.raises(
        TypeError, match=r"^scheme must be ConditionalMasking or ReverseMapping, got "
    ):
        cm.Counts(other)


def test_a_refused_update_adds_nothing():
    counts = counted(scheme(), [1.0, 2.0])
    before = counts.counted

    with pytest.raises(ValueError, match="z must lie on the grid"):
        counts.update([3.0, 0.3])

    assert counts.counted is before


def test_single_precision_may_miss_decimal_points_by_its_own_rounding():
    one = cm.ConditionalMasking(0.6, 1.0, decimals=2)
    z = np.arange(-500, 500) / 100

    found = counted(one, z.astype(np.float32))

    assert found.counted.values.tolist() == list(range(-500, 500))
    assert_same_answers(one.estimate(found), one.estimate(z))


def test_missing_values_and_empty_parts_are_left_out():
    counts = cm.Counts(scheme())
    counts.update([])
    counts.update([np.nan, 1.0, np.nan])

    assert counts.n == 1
    assert "n=1, points=1" in repr(counts)


TOL = 1e-10
ROWS = 1e-7  # of T, by which rows of a study may be off
STEPS = {"generic": 2.0**-10, "ties": 2.0**-6, "coarse": 0.75}  # of sigma


def sample(kind, n, p):
    """Masked values: a skewed sample, half of it at one point for ties."""
    rng = np.random.default_rng([n, round(100 * p)])
    step = STEPS[kind]
    units = np.rint(rng.gamma(2.0, 2.0, n) / step)
    if kind == "ties":
        units[: n // 2] = np.rint(1.5 / step)
    noisy = units + np.rint(rng.normal(0.0, 1.0 / step, n))
    return np.where(rng.random(n) < p, rng.permutation(units), noisy) * step


def requests(z, step):
    """What is asked, where, and with which bandwidth."""
    x = np.concatenate([np.linspace(z.min() - 2, z.max() + 2, 23), z[:5], z[:3] + 0.3 * step])
    q = np.array([0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98])
    width = max(0.3, 1.6 * step)
    yield from ((kind, x, None) for kind in ("cdf", "monotone"))
    yield from ((kind, q, each) for kind in ("first", "rearranged") for each in (None, width))
    yield from ((kind, x, width) for kind in ("cdf", "pdf"))
    yield "monotone", x[::5], width


def asked(one, kind, at, width, **options):
    """The answer of an estimate."""
    if kind == "pdf":
        return one.pdf(at, bandwidth=width)
    if kind in ("cdf", "monotone"):
        return one.cdf(at, bandwidth=width, monotone=kind == "monotone", **options)
    return one.quantile(at, bandwidth=width, crossing=kind)


def by_counts(scheme, z):
    """The estimate of parts in another order that were counted one by one."""
    rng = np.random.default_rng(z.size)
    total = cm.Counts(scheme)
    for part in np.array_split(rng.permutation(z), rng.integers(1, 9)):
        piece = cm.Counts(scheme)
        piece.update(part)
        total = piece + total
    return scheme.estimate(total)


def in_rows(scheme, z, kind, at, width):
    """As the samples of a study; None where these do not serve the law, or data so wide."""
    width = None if width is None else np.array([width])
    if kind in ("pdf", "monotone") or not curves.serves(scheme.law, smoothed=width is not None):
        return None
    none = np.empty(0)
    rearranged = kind == "rearranged"
    shares, points = (none, at) if kind == "cdf" else (at, none)
    found = curves.of_rows(
        np.sort(z)[None, :], scheme.law, width, shares, points, rearranged=rearranged
    )[0]
    return None if np.isnan(found).any() else found  # data too wide for it


def between(one, kind, at, width, tol):
    """T that is off by so much crosses between the crossings of probabilities so much lower and
    higher."""
    rounding = 0.0 if width is None else 1e-11  # a smooth crossing is known to 1e-13 of T / slope
    low, high = (asked(one, kind, at + shift, width) for shift in (-tol, tol + TOL))
    return low - rounding, high + rounding


@pytest.mark.parametrize(
    ("p", "n", "kind", "noise"),
    [
        (0.1, 20, "ties", "laplace"),
        (0.1, 300, "coarse", "normal"),
        (0.3, 300, "generic", "normal"),
        (0.6, 300, "ties", "normal"),
        (0.6, 5_000, "generic", "normal"),
        (0.6, 300, "coarse", "laplace"),
        (0.9, 20, "generic", "laplace"),
    ],
)
def test_all_routes_lead_to_the_same_number(p, n, kind, noise):
    scheme = cm.ConditionalMasking(p, 1.0, noise=noise, step=STEPS[kind])
    served = 0
    z = sample(kind, n, p)
    one = scheme.estimate(z)
    counted = by_counts(scheme, z)
    batch = scheme.estimate(np.stack([z[::-1], z, z + 3 * scheme.step]))
    for request in requests(z, scheme.step):
        found = {TOL: asked(one, *request), ROWS: in_rows(scheme, z, *request)}
        assert np.array_equal(asked(counted, *request), found[TOL]), request
        assert np.array_equal(asked(batch, *request)[1], found[TOL]), request
        if request[0] == "cdf" and kind == "generic" and noise == "normal" and p > 0.45:
            assert asked(one, *request, method="series") == pytest.approx(
                found[TOL], rel=0, abs=2 * TOL
            )
        if found[ROWS] is None:
            continue
        served += 1
        if request[0] == "cdf":
            assert found[ROWS] == pytest.approx(found[TOL], rel=0, abs=ROWS + TOL)
        else:
            low, high = between(one, *request, ROWS + TOL)
            assert ((low <= found[ROWS]) & (found[ROWS] <= high)).all(), request
            assert ((low <= found[TOL]) & (found[TOL] <= high)).all(), request
    assert served > 0 or noise == "laplace"
