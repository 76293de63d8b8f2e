"""Kernels that count, sum, sort, mask and draw studies, against loops over the records and exact
numbers."""

from fractions import Fraction
from itertools import product

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from condmask.kernels import counting_sort, cycle, masking, moments, nodes, replication, windows
from condmask.kernels.counting import RECORDS_AT_ONCE, count_window
from condmask.kernels.rearrange import rearranged

SLACK = 4 * 2.0**-52


def counted(z, first, points, per_step=1.0, start=0, stop=None, there=0):
    z = np.asarray(z, dtype=float)
    stop = z.size if stop is None else stop
    counts = np.append(np.full(points, there), 0)
    outside = np.full(stop - start + 1, -99.0)
    with np.errstate(invalid="ignore"):  # without compilation, NumPy warns of infinities
        left = count_window(z, per_step, SLACK, first, start, stop, counts, outside)
    assert counts[-1] == left
    return counts[:-1].tolist(), outside[:left].tolist()


@given(
    z=st.lists(
        st.one_of(st.integers(-9, 9), st.sampled_from([0.5, 1e300, -np.inf, np.inf, np.nan])),
        max_size=60,
    ),
    first=st.integers(-12, 12),
    points=st.integers(1, 20),
    ends=st.tuples(st.integers(0, 60), st.integers(0, 60)),
)
def test_rows_asked_for_are_added_to_the_counts_and_others_handed_back_in_order(
    z, first, points, ends
):
    start, stop = sorted(min(end, len(z)) for end in ends)

    found, outside = counted(z, float(first), points, start=start, stop=stop, there=5)

    rows = z[start:stop]
    inside = [v for v in rows if first <= v < first + points and v == np.rint(v)]
    assert found == [5 + inside.count(first + k) for k in range(points)]
    others = [v for v in rows if not (first <= v < first + points and v == np.rint(v))]
    assert np.array_equal(outside, others, equal_nan=True)


@pytest.mark.parametrize(
    "size", [1, RECORDS_AT_ONCE - 1, RECORDS_AT_ONCE, RECORDS_AT_ONCE + 1, 3 * RECORDS_AT_ONCE + 5]
)
def test_every_chunk_is_counted(size):
    z = np.arange(size) % 7.0

    found, outside = counted(z, 1.0, 5)

    assert found == [np.count_nonzero(z == k) for k in range(1, 6)]
    assert outside == z[(z == 0) | (z == 6)].tolist()


def test_steps_may_be_fractions_and_values_miss_their_point_by_rounding():
    near = np.array([0.1 * 3, 0.3, np.nextafter(0.3, 1), 0.3 + 1e-12])

    assert counted(near, 0.0, 5, per_step=10.0) == ([0, 0, 0, 3, 0], [0.3 + 1e-12])


def test_a_user_may_call_the_kernel_in_compiled_code():
    @numba.njit
    def mode(z):
        counts = np.zeros(10, dtype=np.int64)
        outside = np.empty(z.size + 1)
        count_window(z, 1.0, 0.0, 0.0, 0, z.size, counts, outside)
        return np.argmax(counts)

    assert mode(np.array([3.0, 4.0, 4.0])) == 4


@given(st.lists(st.integers(-1, 5), max_size=40))
def test_rows_are_sorted_by_their_number(numbers):
    number = np.array(numbers, dtype=np.int32)
    counts = np.array([numbers.count(own) for own in range(6)])
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    ends = first.copy()
    order = np.empty(counts.sum(), dtype=np.int32)
    counting_sort.sort(number, ends, order)

    stable = np.argsort(number, kind="stable")
    assert np.array_equal(order, stable[number[stable] >= 0])
    assert np.array_equal(ends, first + counts)


@pytest.mark.parametrize("width", [0.01, 0.7, 5.0])
def test_no_interval_holds_more(width):
    cells = np.array([0, 30, 31, 60])
    drawn = np.random.default_rng(1).normal(size=60).round(1)
    values = np.concatenate([np.sort(own) for own in np.split(drawn, cells[1:-1])])
    first = np.empty(3)

    windows.fullest(cells, values, width, first)

    for begin, own in zip(first, np.split(values, cells[1:-1]), strict=True):
        held = [np.count_nonzero((own >= a) & (own < a + width)) for a in (begin, *own)]
        assert held[0] == max(held)


PARTS = st.lists(
    st.floats(-1, 1) | st.sampled_from([0.0, 1.0, -1.0, 2.0**-60, 5e-324]),
    min_size=1,
    max_size=1_100,
).map(np.array)


@given(u=PARTS, bits=st.sampled_from([20, 40]))
def test_whole_sums_are_exact_and_counts_give_the_same_ones(u, bits):
    records = np.zeros((3, 2), dtype=np.int64)
    counted = np.zeros((3, 2), dtype=np.int64)
    values, counts = np.unique(u, return_counts=True)

    moments.add_whole_powers(u, np.empty(0, dtype=np.int64), 0.0, 1.0, bits, records)
    moments.add_whole_powers(values, counts, 0.0, 1.0, bits, counted)

    assert np.array_equal(records, counted)
    powers = [u, u * u, u * u * u]
    for power, (high, low) in zip(powers, records.tolist(), strict=True):
        # halves to even, as NumPy does
        parts = [round(Fraction(value) * 2**bits) for value in power.tolist()]
        rests = [
            round((Fraction(value) - Fraction(part, 2**bits)) * 4**bits)
            for value, part in zip(power.tolist(), parts, strict=True)
        ]
        assert (high, low) == (sum(parts), sum(rests))


MESH = 20_000  # points of a piece


def reaching(places, values, level):
    """Where T* first reaches levels, an array of them; its ends where it does not."""
    k = np.clip(np.searchsorted(values, level), 1, values.size - 1)
    before = values[k - 1]
    rise = values[k] - values[k - 1]
    along = np.clip((level - before) / np.where(rise > 0.0, rise, np.inf), 0.0, 1.0)
    return np.where(
        level > values[-1], places[-1], places[k - 1] + along * (places[k] - places[k - 1])
    )


@pytest.mark.parametrize("flat", [0, 4])
def test_t_star_is_below_levels_on_as_long_a_stretch_as_t(flat):
    rng = np.random.default_rng(1)
    x, right, left = np.sort(rng.uniform(0.0, 10.0, 40)), *rng.normal(size=(2, 40))
    right[5 : 5 + flat] = left[6 : 6 + flat] = 0.3
    places, values = rearranged(x, right, left)
    assert np.all(np.diff(places) >= 0.0)
    assert np.all(np.diff(values) >= 0.0)
    np.testing.assert_allclose(places[[0, -1]], x[[0, -1]])

    along = (np.arange(MESH) + 0.5) / MESH
    t = right[:-1, None] + (left[1:] - right[:-1])[:, None] * along
    level = np.append(np.linspace(-2.0, 2.0, 37), [0.3, 0.3 + 1e-7, -99.0, 99.0])
    shorter = [(t < each).mean(axis=1) @ np.diff(x) for each in level]
    np.testing.assert_allclose(reaching(places, values, level), x[0] + shorter, atol=1e-3)


RNG = np.random.default_rng(3)


@pytest.mark.parametrize("ties", [False, True])
def test_pairs_strictly_nearer_than_a_distance_are_counted(ties):
    rows = np.sort(
        RNG.integers(0, 40, (3, 60)) * 0.25 if ties else RNG.normal(size=(3, 60)), axis=1
    )
    d = np.array([0.0, 0.25, 1.0, 100.0])
    within = np.empty((3, 4))

    replication.pairs_within(rows, d, within)

    apart = np.abs(rows[:, :, None] - rows[:, None, :])
    assert within.tolist() == [
        [(each < one).sum() - 60 * (one > 0) for one in d] for each in apart
    ]


@pytest.mark.parametrize("whole", [True, False])
def test_quantiles_are_those_of_the_function_looked_at_everywhere(whole):
    # steps of 1 at the values, and a part that falls between them and returns to 0 at both ends
    values = np.sort(RNG.integers(20, 60, (2, 9)).astype(float), axis=1)
    width = 2.5
    origin = np.array([-10.0, -8.0])
    place = origin[:, None] + width * np.arange(48)
    smooth = 2.0 * np.sin(0.15 * place) * np.exp(-(((place - 40.0) / 14.0) ** 2))
    rule = width, 1.0, np.abs(np.diff(smooth, 2)).max() / 9, whole  # 9 records bend it
    targets = np.array([0.5, 2.5, 4.0, 8.5])
    x = np.arange(5.0, 90.0, 1.0 if whole else 1e-3)

    for rearrange in (False, True):
        found = np.empty((2, 4))
        replication.quantiles_of_rows(values, smooth, origin, *rule, targets, rearrange, found)

        for row in range(2):
            function = np.zeros(x.size)
            nodes.read((x - origin[row]) / width, smooth[row], function)
            function += np.searchsorted(values[row], x, side="right")
            if rearrange:
                expected = [x[np.searchsorted(np.sort(function), target)] for target in targets]
            else:
                expected = [x[np.argmax(function >= target)] for target in targets]
            assert found[row] == pytest.approx(expected, abs=1e-9 if whole else 5e-3)


WORDS = st.integers(0, 2**64 - 1)
# where a half of a word is empty or full
EDGES = (0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**63, 2**64 - 1)


def as_words(values):
    return np.array(values, dtype=np.uint64)


def test_high_product_carries_at_the_edges():
    for a, b in product(EDGES, EDGES):
        assert int(masking.high_product(np.uint64(a), np.uint64(b))) == a * b >> 64


@pytest.mark.parametrize("threshold", [1, 2**63, 2**64 - 2**11])
def test_toss_splits_the_rows_at_the_threshold(threshold):
    coins = [threshold - 1, threshold, 0, 2**64 - 1, threshold + 1, threshold // 2]
    swapped, kept = np.empty((2, len(coins) + 1), dtype=np.int64)

    s, k = masking.toss(as_words(coins), np.uint64(threshold), swapped, kept)

    assert swapped[:s].tolist() == [i for i, coin in enumerate(coins) if coin < threshold]
    assert kept[:k].tolist() == [i for i, coin in enumerate(coins) if coin >= threshold]


def all_donors(words, rows, start, n):
    donors = np.empty(len(rows), dtype=np.int64)
    masking.choose_donors(as_words(words), np.array(rows), start, n, donors)
    return donors.tolist()


@given(
    words=st.lists(WORDS, min_size=4, max_size=4),
    n=st.one_of(
        st.integers(2, 50), st.integers(2**16 - 2, 2**16 + 2), st.integers(2**31 - 2, 2**40)
    ),
    data=st.data(),
)
def test_donors_are_exact_at_any_size_of_the_file(words, n, data):
    rows = data.draw(st.lists(st.integers(0, n - 1), min_size=4, max_size=4))
    start = min(rows)

    expected = [word * (n - 1) >> 64 for word in words]
    expected = [donor + (donor >= row) for donor, row in zip(expected, rows, strict=True)]

    assert all_donors(words, [row - start for row in rows], start, n) == expected


def test_pool_donors_are_the_others_of_the_pool():
    members = {0: [0, 3, 4], 1: [1, 6, 7, 9], -1: [2, 5, 8]}
    pool = np.empty(10, dtype=np.int64)
    for number, rows in members.items():
        pool[rows] = number
    order = np.array(members[0] + members[1])
    first = np.array([0, 3])
    size = np.array([3, 4])
    words = np.random.default_rng(12).integers(0, 2**64, size=10, dtype=np.uint64)
    start = 2
    swapped = np.arange(8)  # rows 2 .. 9
    donors = np.empty(8, dtype=np.int64)

    masking.choose_pool_donors(words[:8], swapped, start, pool, first, size, order, donors)

    for k, row in enumerate(range(2, 10)):
        others = [other for other in members[int(pool[row])] if other != row]
        expected = others[int(words[k]) * len(others) >> 64] if pool[row] >= 0 else -1
        assert donors[k] == expected


def test_place_puts_each_value_in_its_row():
    x = np.array([10.0, 11.0, 12.0, 13.0, 14.0, 15.0])
    z = np.full(4, 99.0)

    # the block holds rows 2 .. 5; rows 2 and 4 are swapped, row 4 has no donor
    masking.place(
        x, np.array([0, 2]), np.array([0, -1]), np.array([1, 3]), np.array([0.25, -0.5]), 2, z
    )

    assert np.array_equal(z, [10.0, 13.25, np.nan, 14.5], equal_nan=True)
    assert x.tolist() == [10.0, 11.0, 12.0, 13.0, 14.0, 15.0]


# rank swapping, against a plain loop over the records that are free


def plainly(x, order, window, chance):
    z = x.copy()
    free = set(range(x.size))
    for i in range(x.size):
        if i not in free:
            continue
        partners = [j for j in range(i + 1, min(i + window, x.size - 1) + 1) if j in free]
        if partners:
            j = partners[int(chance[i] * len(partners))]
            z[order[i]] = x[order[j]]
            z[order[j]] = x[order[i]]
            free -= {i, j}
    return z


@pytest.mark.parametrize("n", [2, 3, 7, 64, 65, 200])
@pytest.mark.parametrize("window", [1, 2, 10, 500])
def test_partners_are_those_of_a_plain_loop(n, window):
    stream = np.random.default_rng([n, window])
    for x in (stream.normal(size=n), np.rint(stream.normal(size=n))):
        order = np.argsort(x, kind="stable")
        chance = stream.random(n)
        z = np.empty(n)
        masking.swap_ranks(x, order, window, chance, z)
        assert z.tolist() == plainly(x, order, window, chance).tolist()


ALL = np.iinfo(np.uint64).max


def ordered(words):
    order = np.zeros_like(words)
    return cycle.radix_argsort(words, order, np.empty_like(order)), order


# one, two and three digits
@pytest.mark.parametrize("n", [0, 1, 2, 3, 100, 2_049, 30_000, 1_100_000])
def test_random_words_are_ordered(n):
    words = np.random.default_rng(n).integers(0, ALL, n, dtype=np.uint64, endpoint=True)

    done, order = ordered(words)

    assert done
    assert np.array_equal(order, np.argsort(words, kind="stable"))


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, 120),
    digit=st.integers(1, 4),
    alike=st.sampled_from([1, 4]),
    values=st.sampled_from([2, 50, ALL]),
)
def test_passes_of_any_number_and_width_order_words(seed, n, digit, alike, values):
    words = np.random.default_rng(seed).integers(0, values, n, dtype=np.uint64, endpoint=True)
    words <<= np.uint64(0 if values == ALL else 58)  # of which the top bits tell
    order = np.zeros_like(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cycle, "DIGIT", digit)
        patch.setattr(cycle, "ALIKE", alike)
        # compiled code keeps the constants it was compiled with
        done = getattr(cycle.radix_argsort, "py_func", cycle.radix_argsort)(
            words, order, np.empty_like(order)
        )

    # of random words insertion moves each past fewer than `alike` others on average, of alike ones
    # past all
    assert done or values != ALL
    assert not done or order.tolist() == sorted(range(n), key=words.tolist().__getitem__)


@pytest.mark.parametrize("n", [1_000, 300_000])
def test_words_that_are_not_random_are_given_up_before_that_takes_long(n):
    # 300,000 words the wrong way round would take 4.5e10 moves
    assert not ordered(np.arange(n, dtype=np.uint64)[::-1].copy())[0]
    assert ordered(np.full(n, 7, dtype=np.uint64))[0]  # all tie, none moves


@pytest.mark.parametrize("n", [0, 1, 2, 500])
def test_numbers_are_ordered_by_size(n):
    drawn = np.random.default_rng(n).normal(size=n)
    for values in (
        drawn,
        np.exp(9.0 * drawn),
        1.0 + 1e-9 * drawn,
        np.rint(drawn) + 0.0,
        np.full(n, -7.0),
    ):
        order = np.zeros(n, dtype=np.uint64)
        assert cycle.order_floats(values.copy(), order, np.empty_like(order))
        assert np.array_equal(order, np.argsort(values, kind="stable"))


@given(st.lists(st.integers(-1, 3), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_a_row_is_linked_to_the_next_of_its_pool_and_the_last_to_the_first(pools, random):
    rows = np.arange(len(pools)) * 2
    pool = np.repeat(pools if any(pools) else [], 2).astype(int)  # empty for one pool of all
    order = list(range(len(pools)))
    random.shuffle(order)
    ends = np.full((2, 4), -1)
    donors = np.full(len(pools), -1)

    for part in np.array_split(np.array(order, dtype=np.uint64), 3):
        cycle.link(rows, part, pool, *ends, donors)
    cycle.close(rows, *ends, donors)

    for own in range(4):
        members = [k for k in order if pools[k] == own]
        following = (
            dict(zip(members, members[1:] + members[:1], strict=True)) if len(members) > 1 else {}
        )
        for k in members:
            assert donors[k] == (rows[following[k]] if following else -1)
        assert ends[:, own].tolist() == ([members[0], members[-1]] if members else [-1, -1])
    assert all(donors[k] == -1 for k in order if pools[k] < 0)
