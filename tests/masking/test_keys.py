"""Keys and streams, and the draws that a release takes from them: coins, donors and noise.

What is released under one seed or Key shares no randomness, unless it is the same release.
"""

import base64
import copy
import functools
import inspect
import json
import pickle
import pprint
import reprlib
import traceback
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import reference
import strategies
from columns import GENERIC
from hypothesis import given
from hypothesis import strategies as st
from randomgen import AESCounter
from releases import ALARM, DONORS, assert_same_bits, generic, masked, reference_of, split
from scipy.stats import binomtest, chisquare, kstest, laplace, norm, pearsonr

import condmask as cm
from condmask._blocks import BLOCK
from condmask._randomness import COIN, DONOR, NOISE, Key, release_key, words
from condmask.masking import draws

pytestmark = pytest.mark.usefixtures("unaudited")

SEED = 5
KEY = Key(bytes(range(16)))
N = 60
X = np.rint(generic(N) * 4) / 4
OTHER = np.rint(generic(N, 1) * 4) / 4
LABELS = np.repeat(["north", "south"], N // 2)
BASE = {"p": 0.6, "sigma": 1000.0, "step": 0.25}


def series(name="income", x=X):
    return pd.Series(x, name=name)


def column(**options):
    within = options.pop("within", None)
    return lambda rng: cm.ConditionalMasking(**{**BASE, **options}).mask(
        series(), rng=rng, strata=within
    )


def table(*names, **options):
    frame = pd.DataFrame({"income": X, "bonus": OTHER, "region": LABELS})
    schemes = {name: cm.ConditionalMasking(**BASE) for name in names}
    return lambda rng: cm.mask_table(frame, schemes, rng=rng, **options)


def study(scheme):
    population = cm.Resampled(X)
    return lambda rng: cm.simulate(population, {"a": scheme}, n=N, replications=2, rng=rng)


CONDITIONAL = {
    "as it is": column(),
    "another p": column(p=0.5),
    "another sigma": column(sigma=2000.0),
    "another noise": column(noise="laplace"),
    "other donors": column(donors="sample"),
    "another step": column(step=0.125),
    "no step": column(step=0),
    "strata": column(strata="region", within=LABELS),
    "other records in the strata": column(strata="region", within=np.roll(LABELS, 7)),
    "strata of another name": column(strata="county", within=LABELS),
    "crossed strata": column(strata=["region", "sex"], within=[LABELS, np.tile([0, 1, 1], 20)]),
    "small strata merged": column(strata="region", small_strata="merge", within=LABELS),
    "another name": lambda rng: cm.ConditionalMasking(**BASE).mask(series("bonus"), rng=rng),
    "without a name": lambda rng: cm.ConditionalMasking(**BASE).mask(X, rng=rng),
    "other data": lambda rng: cm.ConditionalMasking(**BASE).mask(series(x=OTHER), rng=rng),
    "together": table("income", "bonus"),
    "together in another order": table("bonus", "income"),
    "together within strata": table("income", "bonus", strata="region"),
}
OTHERS = {
    "added": lambda rng: cm.AdditiveNoise(1000.0).mask(series(), rng=rng),
    "twice as much added": lambda rng: cm.AdditiveNoise(2000.0).mask(series(), rng=rng),
    "normal noise added": lambda rng: cm.AdditiveNoise(1000.0, noise="normal").mask(
        series(), rng=rng
    ),
    "swapped": lambda rng: cm.DataSwapping().mask(series(), rng=rng),
    "rank swapped": lambda rng: cm.RankSwapping(5.0).mask(series(), rng=rng),
    "rank swapped farther": lambda rng: cm.RankSwapping(10.0).mask(series(), rng=rng),
    "shuffled": lambda rng: cm.DataShuffling().mask(series(), given=OTHER, rng=rng),
    "shuffled by another column": lambda rng: cm.DataShuffling().mask(
        series(), given=OTHER**2, rng=rng
    ),
}
STUDIES = {"study": study(cm.ConditionalMasking(**BASE))}


def drawn(use, rng, monkeypatch):
    """The first words of every stream that a use begins."""
    begin = Key.stream
    seen = []

    def stream(self, *where):
        seen.append(words(begin(self, *where), 200))
        return begin(self, *where)

    with monkeypatch.context() as patch:
        patch.setattr(Key, "stream", stream)
        use(rng)
    assert seen
    return np.unique(seen)


@pytest.mark.parametrize(
    "rng", [SEED, KEY, np.random.SeedSequence(SEED)], ids=["seed", "Key", "SeedSequence"]
)
def test_no_two_uses_share_a_word(rng, monkeypatch):
    uses = {**CONDITIONAL, **OTHERS, **(STUDIES if rng is SEED else {})}

    found = {name: drawn(use, rng, monkeypatch) for name, use in uses.items()}

    # some 2e4 words: two are equal by chance with probability 1e-11 over keys
    shared = [
        pair for pair in combinations(found, 2) if np.intersect1d(*map(found.get, pair)).size
    ]
    assert shared == []
    assert np.array_equal(found["as it is"], drawn(uses["as it is"], rng, monkeypatch))


@pytest.mark.parametrize(
    "scheme", [cm.ConditionalMasking(**BASE), cm.AdditiveNoise(3.0), cm.DataSwapping()]
)
def test_a_column_is_masked_alike_in_memory_in_a_table_and_in_a_file(tmp_path, scheme):
    frame = pd.DataFrame({"income": X, "region": LABELS})
    frame.to_parquet(tmp_path / "a.parquet")

    alone = scheme.mask(frame["income"], rng=KEY)
    cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", {"income": scheme}, rng=KEY)

    assert np.array_equal(cm.read_column(tmp_path / "b.parquet", "income"), alone)
    if isinstance(scheme, cm.ConditionalMasking):
        data = cm.mask_table(frame, {"income": scheme}, rng=KEY).data
        assert np.array_equal(data["income"], alone)


SECRET = bytes(range(0xA0, 0xB0))

AES_128 = [  # key, plaintext block, ciphertext block
    "000102030405060708090a0b0c0d0e0f 00112233445566778899aabbccddeeff 69c4e0d86a7b0430d8cdb78070b4c55a",
    "2b7e151628aed2a6abf7158809cf4f3c 6bc1bee22e409f96e93d7e117393172a 3ad77bb40d7a3660a89ecaf32466ef97",
    "2b7e151628aed2a6abf7158809cf4f3c ae2d8a571e03ac9c9eb76fac45af8e51 f5d3d58503b9699de785895a96fdbaaf",
]


@pytest.mark.parametrize("vector", AES_128)
def test_the_words_are_aes_128_of_the_counter(vector):
    key, plain, cipher = vector.split()
    counter = int.from_bytes(bytes.fromhex(plain), "little")

    drawn = AESCounter(
        key=int.from_bytes(bytes.fromhex(key), "little"), counter=counter
    ).random_raw(2)

    assert drawn.astype("<u8").tobytes().hex() == cipher


def test_neighbouring_blocks_lanes_and_columns_share_no_word():
    key = Key(SECRET)
    cells = list(product(range(3), (COIN, DONOR, NOISE), range(3)))

    drawn = np.concatenate([words(key.stream(*cell), 2_000) for cell in cells])

    # 5e4 words: two are equal by chance with probability (5e4)^2 / 2^65 = 1e-10 over keys.
    # Streams one counter step apart, the trap of AESCounter, would share 99.9% of their words
    assert len(cells) == 27
    assert np.unique(drawn).size == drawn.size


def test_derived_keys_share_no_word_with_each_other_or_their_root():
    root = Key(SECRET)
    labels = ([], [b""], [b"a"], [b"a", b"b"], [b"ab"])
    keys = [root, *(root.derive(*own) for own in labels)]

    drawn = np.concatenate([words(key.stream(0, COIN), 10_000) for key in keys])

    assert np.unique(drawn).size == drawn.size  # by chance: 6e4^2 / 2^65 = 1e-10


def test_the_operating_system_gives_distinct_keys():
    # a generator seeded with 8 or 16 bits would repeat itself: 16 bits give thousands of pairs
    keys = {Key()._secret for _ in range(30_000)}

    assert len(keys) == 30_000
    assert {len(secret) for secret in keys} == {16}


def test_two_releases_without_rng_share_nothing():
    scheme = cm.ConditionalMasking(0.5, 1.0)
    x = np.random.default_rng(1).normal(size=4_000)

    first = scheme.mask(x)
    second = scheme.mask(x)

    # chance of a common value: same donor in both, p^2/(n-1) a row, so 0.25 rows on average.
    # 12 or more: Poisson tail 1e-16. One key twice gives 4,000
    assert np.sum(first == second) < 12


def told(call):
    """What a call gives, or its traceback with the locals of every function but this one."""
    try:
        return f"{call()!r}"
    except Exception as error:
        frames = traceback.TracebackException.from_exception(error, capture_locals=True)
        frames.stack[:1] = []
        return "".join(frames.format())


def holders():
    """All that holds a key."""
    key = Key(SECRET)
    yield from (key, key._secret, key.derive(b"a"), functools.partial(key.stream, 0))


def looks(thing):
    """What comes of looking at a thing, and at each of its attributes."""
    yield from (f"{thing}", repr([thing]), reprlib.repr(thing), pprint.pformat({"thing": thing}))
    for look in (vars, json.dumps, inspect.getmembers, inspect.getmembers_static):
        yield told(functools.partial(look, thing))
    for name in dir(thing):
        attribute = getattr(thing, name, None)
        yield f"{attribute!r} {attribute}"
        yield told(attribute) if name in ("__getstate__", "__dir__", "__sizeof__") else ""


def refused():
    """Calls with a key, or something like one, that fail."""
    scheme = cm.ConditionalMasking(0.5, 1.0)
    key = Key(SECRET)
    for bad in (
        {"x": [1.0, np.inf]},
        {"x": GENERIC, "rows": (5, 2)},
        {"x": GENERIC, "workers": map},
    ):
        yield told(functools.partial(scheme.mask, **bad, rng=key))
    yield from (
        told(functools.partial(Key, bad)) for bad in (SECRET + b"more", SECRET.hex(), list(SECRET))
    )


def forms(secret):
    """How bytes may be written."""
    yield from (secret.hex(), secret.hex().upper(), secret.hex(" "), repr(secret)[2:-1])
    yield from (str(list(secret))[1:-1], base64.b64encode(secret).decode().rstrip("="))
    yield from (str(int.from_bytes(secret, order)) for order in ("little", "big"))
    yield from (hex(int.from_bytes(secret, order)) for order in ("little", "big"))
    yield secret.decode("latin1")


@pytest.mark.filterwarnings("ignore")  # of attributes that are about to go
def test_a_key_shows_its_bytes_nowhere():
    printed = "\n".join([*(text for thing in holders() for text in looks(thing)), *refused()])

    assert "<Key: secret>" in printed
    assert "<secret>" in printed
    # a key cut short shows half of it: so do its first and its last eight bytes
    known = [SECRET, SECRET[:8], SECRET[8:], bytes(Key(SECRET).derive(b"a")._secret)]
    assert not [form for secret in known for form in forms(secret) if form in printed]


def test_a_key_neither_pickles_nor_is_copied():
    key = Key(SECRET)
    for attack in (pickle.dumps, copy.copy, copy.deepcopy, vars, json.dumps, Key.__getstate__):
        with pytest.raises(TypeError):
            attack(key)


def first_words(key):
    return words(key.stream(0, COIN), 4).tolist()


SCHEME = cm.ConditionalMasking(0.5, 1.0)


def key_of(rng, columns, names="ab"):
    schemes = {name: SCHEME for name, _ in zip(names, columns, strict=False)}
    return release_key(rng, schemes, columns)


def test_the_working_key_is_that_of_the_contract():
    x = GENERIC
    y = GENERIC[::-1].copy()

    for columns in ([x], [y], [x, y], [y, x]):
        described = [(name, SCHEME.to_dict()) for name, _ in zip("ab", columns, strict=False)]
        seeded = key_of(7, columns)
        keyed = key_of(Key(SECRET), columns)
        assert first_words(seeded) == first_words(
            Key(reference.working_secret(7, described, columns))
        )
        assert first_words(keyed) == first_words(
            Key(reference.derived_secret(SECRET, described, columns))
        )


@pytest.mark.parametrize(
    "make", [np.random.default_rng, np.random.PCG64], ids=["Generator", "BitGenerator"]
)
def test_a_generator_moves_on_from_call_to_call(make):
    rng = make(5)

    first = key_of(rng, [GENERIC])
    second = key_of(rng, [GENERIC])

    assert first_words(first) != first_words(second)
    assert first_words(first) == first_words(key_of(make(5), [GENERIC]))


SEVERAL_BLOCKS = 2 * BLOCK + 37


# --- the same bits as the reference ---


@given(x=strategies.columns(), scheme=strategies.schemes(), seed=strategies.SEEDS)
def test_masking_follows_the_draw_contract(x, scheme, seed):
    assert_same_bits(masked(scheme, x, rng=seed), reference_of(scheme, x, seed))


@given(x=strategies.columns(missing=True), scheme=strategies.schemes(), seed=strategies.SEEDS)
def test_missing_values_stay_missing_and_give_nothing(x, scheme, seed):
    z = masked(scheme, x, rng=seed, nan_policy="omit")

    assert_same_bits(np.isnan(z), np.isnan(x))
    assert_same_bits(z, reference_of(scheme, x, seed))


@given(
    rounded=strategies.rounded_columns(),
    seed=strategies.SEEDS,
    data=st.data(),
)
def test_rounded_data_follow_the_draw_contract_in_steps_of_their_grid(rounded, seed, data):
    x, decimals = rounded
    scheme = data.draw(strategies.schemes(decimals=decimals))

    assert_same_bits(scheme.mask(x, rng=seed), reference_of(scheme, x, seed))


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("pooled", [False, True])
def test_masking_follows_the_draw_contract_over_several_blocks(donors, pooled, monkeypatch):
    monkeypatch.setattr(draws, "BLOCK", 64)
    monkeypatch.setattr(reference, "ROWS_PER_BLOCK", 64)
    step, named = (None, "region") if pooled else (0, None)
    scheme = cm.ConditionalMasking(0.4, 500.0, donors=donors, step=step, strata=named)
    x = generic(300, 6)
    strata = None
    if pooled:
        x[np.random.default_rng(7).random(x.size) < 0.1] = np.nan
        strata = np.random.default_rng(8).integers(0, 3, x.size)

    z = scheme.mask(x, rng=9, strata=strata, nan_policy="omit")

    assert_same_bits(z, reference_of(scheme, x, 9, strata))


# --- what the result does not depend on ---

LARGE = generic(SEVERAL_BLOCKS, 21)
POOLED = {"strata": np.random.default_rng(22).integers(0, 4, SEVERAL_BLOCKS)}
CASES = [(donors, pools) for donors in DONORS for pools in ({}, POOLED)]


def scheme_of(donors, pools, p=0.6, **options):
    return cm.ConditionalMasking(
        p, 500.0, donors=donors, strata="region" if pools else None, **options
    )


@pytest.mark.parametrize(("donors", "pools"), CASES)
def test_workers_do_not_change_the_release(donors, pools):
    scheme = scheme_of(donors, pools)
    key = Key(bytes(16))
    whole = scheme.mask(LARGE, rng=key, **pools)

    assert_same_bits(scheme.mask(LARGE, rng=key, workers=5, **pools), whole)


def test_one_thread_works_where_no_more_are_asked_for():
    for call in (
        cm.ConditionalMasking.mask,
        cm.ConditionalMasking.estimate,
        cm.AdditiveNoise.estimate,
    ):
        assert inspect.signature(call).parameters["workers"].default == 1


# --- the law of eq. (1) ---


@pytest.mark.parametrize("donors", DONORS)
@pytest.mark.parametrize("p", [0.02, 0.6, 0.97])
def test_a_share_p_of_the_records_is_swapped(p, donors):
    n = 200_000
    x = generic(n)

    swapped, _ = split(x, cm.ConditionalMasking(p, 500.0, donors=donors, step=0).mask(x, rng=31))

    # p off by 0.01 would give 1e-19 at p = .6 and less at the ends
    assert binomtest(swapped.size, n, p).pvalue > ALARM


@pytest.mark.parametrize(
    ("noise", "law"), [("normal", norm(0, 500)), ("laplace", laplace(0, 500 / np.sqrt(2)))]
)
def test_the_noise_has_its_law_and_standard_deviation(noise, law):
    n = 100_000
    x = generic(n)
    z = cm.ConditionalMasking(0.4, 500.0, noise=noise, step=0).mask(x, rng=32)
    swapped, _ = split(x, z)

    drawn = np.delete(z - x, swapped)

    # 60,000 draws: sigma off by 5% gives 1e-11; Laplace with scale sigma, or the other law, 1e-200
    assert kstest(drawn, law.cdf).pvalue > ALARM
    # noise knows nothing of the value it hides: r of independent draws is beyond 0.02 with 1e-6
    assert pearsonr(drawn, np.delete(x, swapped)).pvalue > ALARM


@pytest.mark.parametrize("donors", DONORS)
def test_donors_are_uniform_and_never_the_record_itself(donors):
    n = 200_001
    x = generic(n)
    swapped, taken = split(
        x, cm.ConditionalMasking(0.6, 500.0, donors=donors, step=0).mask(x, rng=33)
    )

    ahead = (taken - swapped) % n

    # a donor drawn from the block only would leave bins empty: p-value 0
    assert (taken != swapped).all()
    assert chisquare(np.bincount((ahead - 1) * 100 // (n - 1), minlength=100)).pvalue > ALARM
    assert chisquare(np.bincount(taken * 100 // n, minlength=100)).pvalue > ALARM


@pytest.mark.parametrize("donors", DONORS)
def test_every_masked_value_has_the_law_of_eq_1(donors):
    n = 4
    p = 0.6
    releases = 1_000
    x = generic(n)
    scheme = cm.ConditionalMasking(p, 500.0, donors=donors, step=0)

    z = np.array([scheme.mask(x, rng=seed) for seed in range(releases)])

    for row in range(n):
        counts = np.array([np.sum(z[:, row] == value) for value in x])
        assert counts[row] == 0  # never its own value
        expected = releases * np.array([1 - p, *[p / (n - 1)] * (n - 1)])
        # a donor among all n records gives its own value 150 times, a cycle of one row 37 times;
        # three donors in shares 2 : 1 : 1, p-value 1e-15
        observed = np.array([releases - counts.sum(), *np.delete(counts, row)])
        assert chisquare(observed, expected).pvalue > ALARM


# --- rows of a study ---


@pytest.mark.parametrize("donors", ["sample", "permutation"])
# of five, often two are swapped, or one
@pytest.mark.parametrize("shape", [(20, 2_000), (4_000, 5)])
def test_rows_are_masked_by_eq_1(donors, shape):
    scheme = cm.ConditionalMasking(0.4, 50.0, donors=donors, step=0)
    x = np.random.default_rng(31).normal(0, 1e4, shape)

    z = scheme.mask_rows(x, np.random.default_rng(1), ())

    swapped = np.array([np.isin(a, b) for a, b in zip(z, x, strict=True)])
    # six standard errors of a coin of .4 thrown 40,000 times
    assert abs(swapped.mean() - 0.4) < 6 * np.sqrt(0.24 / x.size)
    assert abs((z - x)[~swapped].std() - 50.0) < 6 * 50.0 / np.sqrt(2 * (~swapped).sum())
    assert not (z == x)[swapped].any()
    if donors == "sample":  # some take one value
        others = shape[1] - 1
        assert np.unique(z).size / z.size == pytest.approx(
            1.6 - (1.0 - 0.4 / others) ** others, rel=0.01
        )
    else:
        for a, b, chosen in zip(
            z, x, swapped & (swapped.sum(axis=1, keepdims=True) > 1), strict=True
        ):
            assert np.array_equal(np.sort(a[chosen]), np.sort(b[chosen]))


@pytest.mark.parametrize(
    "scheme",
    [
        cm.ConditionalMasking(0.6, 1.0),
        cm.ConditionalMasking(0.6, 1.0, donors="sample"),
        cm.ReverseMapping(0.6, 1.0),
    ],
    ids=repr,
)
def test_rows_are_masked_alike_in_any_order_of_memory(scheme):
    x = np.random.default_rng(3).normal(size=(3, 200))
    columns_first = np.asfortranarray(x)

    found = [scheme.mask_rows(each, np.random.default_rng(4), ()) for each in (x, columns_first)]

    assert_same_bits(*found)
