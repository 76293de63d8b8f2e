"""Conditional masking of a column; what every scheme promises: description, equality,
strangers."""

import dataclasses
import importlib
import json
import pickle
import re
import sys
import warnings
from dataclasses import fields, replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import reference
import strategies
from hypothesis import given
from hypothesis import strategies as st
from releases import ALARM, NOISES
from scipy.stats import chisquare, laplace, norm

import condmask as cm
from condmask._randomness import Key
from condmask.cli.options import SchemeOptions
from condmask.masking import draws
from condmask.masking import scheme as protocol
from condmask.masking.description import with_rounding
from condmask.strata import make_pools

pytestmark = pytest.mark.usefixtures("unaudited")


@pytest.mark.parametrize(
    ("noise", "steps", "decimals"),
    [("normal", 0.5, -2), ("normal", 20.0, 3), ("laplace", 0.5, 0), ("laplace", 2.0, -2)],
)
def test_rounded_noise_takes_each_step_with_its_exact_probability(noise, steps, decimals):
    n = 20_000
    delta = 10.0**-decimals
    law = norm(0, steps) if noise == "normal" else laplace(0, steps / np.sqrt(2))
    x = np.round(np.random.default_rng(71).integers(-5_000, 5_000, n) * delta, decimals)
    scheme = cm.ConditionalMasking(0.5, steps * delta, noise=noise, decimals=decimals)
    z = scheme.mask(x, rng=72)
    # noise can be as large as another record's value is far, so the reference says who was kept
    units = [reference.to_steps(v, Fraction(10) ** -decimals) for v in x.tolist()]
    secret = reference.working_secret(72, [("", scheme.to_dict())], [units])
    kept = np.setdiff1d(np.arange(n), reference.swapped_rows(secret, 0.5, n))
    drawn = np.rint((z - x)[kept] / delta)

    reach = max(1, int(law.isf(0.005)))  # 50 are expected in each tail
    edges = np.arange(-reach, reach + 1) + 0.5
    counts = np.histogram(drawn, np.concatenate(([-np.inf], edges, [np.inf])))[0]
    probability = np.diff(np.concatenate(([0.0], law.cdf(edges), [1.0])))
    # truncation in place of rounding: p-value 1e-25 at 20 steps, 0 below
    assert chisquare(counts, kept.size * probability).pvalue > ALARM


@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
@given(rounded=strategies.rounded_columns(), seed=strategies.SEEDS, data=st.data())
def test_a_masked_value_never_shows_by_its_digits_whether_it_was_swapped(rounded, seed, data):
    x, decimals = rounded
    scheme = replace(
        data.draw(strategies.schemes(decimals=decimals)), sigma=20.0 * 10.0**-decimals
    )

    z = scheme.mask(x, rng=seed)

    # each is the float nearest to its decimal; and there is no -0.0, which only a swap could bring
    assert z.tolist() == [float(f"{v:.{max(decimals, 0)}f}") for v in z]
    assert not np.signbit(z[z == 0.0]).any()


def test_float32_data_lie_on_their_grid_and_stay_float32():
    x = np.array([0.1, 0.2, 12.7, 1000.3] * 5, dtype=np.float32)

    z = cm.ConditionalMasking(0.5, 1.0, decimals=1).mask(x, rng=1)

    assert z.dtype == np.float32
    assert z.tolist() == [float(np.float32(f"{v:.1f}")) for v in z.tolist()]


HOSTILE = st.one_of(
    st.floats(-(2.0**1022), 2.0**1022),
    st.sampled_from([0.0, -0.0, -1e-300, 5e-324, -5e-324, 2.0**1022, 1e16]),
)


@given(
    x=st.lists(HOSTILE, min_size=2, max_size=12).map(np.array),
    sigma=st.one_of(st.floats(1e-290, 1e300), st.just(1e300)),
    data=st.data(),
)
def test_neither_a_negative_zero_nor_an_infinity_is_ever_released(x, sigma, data):
    step = data.draw(st.sampled_from([None, 0.0, sigma / 3]))
    noise = data.draw(st.sampled_from(NOISES))
    schemes = [
        cm.AdditiveNoise(sigma, noise=noise),
        cm.DataSwapping(),
        cm.RankSwapping(50.0),
        cm.ConditionalMasking(
            0.5,
            sigma,
            noise=noise,
            step=step if step is None or step > 1e-290 else 0.0,
            missing=None,
        ),
    ]
    for scheme in schemes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cm.ReleaseWarning)
            try:
                z = scheme.mask(x, rng=1)
            except ValueError as error:
                if "x must" not in str(error) and "x holds" not in str(error):
                    raise
                continue
        assert np.isfinite(z).all()
        assert not np.signbit(z[z == 0.0]).any()


def test_integers_are_masked_exactly_up_to_2_to_53():
    x = 2**53 - 10**5 - np.arange(0, 2_001, 2) - 1  # odd
    z = cm.ConditionalMasking(0.5, 100.0, decimals=0).mask(x, rng=1)

    # a half that is lost from 2^52 on leaves swapped values even and shows them
    assert z.dtype == np.int64
    # .5 and half of the kept ones: six standard errors of 1,001 are .08
    assert (z % 2).mean() == pytest.approx(0.75, abs=0.08)


@pytest.mark.parametrize(
    "x", [np.array([1e13, 1.5]), np.float32([2e4, 1.5])], ids=["2^53", "2^24 of float32"]
)
def test_values_too_far_out_for_the_default_step_are_refused_with_the_step_that_serves(x):
    x = np.append(x, np.random.default_rng(1).normal(size=20).astype(x.dtype))
    scheme = cm.ConditionalMasking(0.5, 1.0)

    with pytest.raises(ValueError, match=r"pass step=\S+ and round=True$") as caught:
        scheme.mask(x, rng=1)
    step = float(re.search(r"pass step=(\S+) ", str(caught.value))[1])
    with pytest.warns(cm.ReleaseWarning, match="was rounded to multiples of"):
        assert (
            cm.ConditionalMasking(0.5, 1.0, step=step).mask(x, rng=1, round=True).dtype == x.dtype
        )


@pytest.mark.parametrize("method", [partial(cm.ConditionalMasking, step=1.0), cm.ReverseMapping])
def test_a_stated_range_gives_no_record_another_noise(method):
    x = np.rint(np.random.default_rng(2).normal(500.0, 50.0, 600))
    one, other = (method(0.6, 20.0, range=stated) for stated in (None, (0.0, None)))

    assert one.key_entries() == other.key_entries()
    assert np.array_equal(one.mask(x, rng=3), other.mask(x, rng=3))


SECRET = bytes(range(16))
N = 65_536 + 4_000


@pytest.mark.parametrize(
    ("p", "strata", "missing"),
    [
        (0.6, 1, 0.0),
        (0.6, 20, 0.3),
        (0.0004, 1, 0.3),
        (0.0004, 3_000, 0.0),
    ],  # 28 rows, many alone in their pool
)
def test_donors_follow_the_draw_contract(p, strata, missing):
    rng = np.random.default_rng(1)
    labels = rng.permutation(np.arange(N) % strata)
    there = rng.random(N) >= missing
    pools = None if strata == 1 and not missing else make_pools(labels, there)

    tossed = draws.toss(Key(SECRET), p, N, 1)
    words = draws.words_of_swapped(Key(SECRET), tossed)
    donors = draws.donors_of(words, tossed.swapped, N, pools, cycle=True)

    x = np.where(there, 0.0, np.nan)
    chosen = reference.donor_rows(SECRET, p, [x], None if strata == 1 else labels, "permutation")
    assert donors.tolist() == [
        -1 if donor is None else donor for _, donor in sorted(chosen.items())
    ]
    first, _ = draws.coins(Key(SECRET), p, 0, 65_536)
    assert tossed.swapped_before.tolist() == [0, first.size, donors.size]


def test_words_too_much_alike_take_the_slow_way_to_the_same_cycle():
    def alike(count):
        return np.arange(count, dtype=np.uint64)[::-1] // np.uint64(3)

    sides = [
        draws.coins(Key(SECRET), 0.5, block, size)
        for block, size in enumerate([65_536, N - 65_536])
    ]

    swapped = np.concatenate([sides[0][0], sides[1][0] + 65_536])
    words = np.concatenate([alike(part.size) for part, _ in sides])

    donors = draws.donors_of(words, swapped, N, None, cycle=True)

    order = np.lexsort((swapped, words))
    expected = np.empty_like(donors)
    expected[order] = swapped[np.roll(order, -1)]
    assert np.array_equal(donors, expected)


def test_the_command_line_has_an_option_for_each():
    options = {field.name for field in fields(SchemeOptions)} - {"columns"}
    parameters = {
        field.name
        for method in (cm.ConditionalMasking, cm.ReverseMapping)
        for field in fields(method)
    }
    assert options == parameters | {"reverse_mapping"}


def test_the_ends_of_what_is_allowed_are_allowed():
    for places in (-15, 15):
        assert (
            cm.ConditionalMasking(0.6, 10.0 ** max(-places, -5), decimals=places).decimals
            == places
        )
    assert cm.ReverseMapping(0.6, 2.0, aggregate_ends=2).aggregate_ends == 2
    with pytest.raises(ValueError, match="decimals must be a whole number of at least -15"):
        cm.ConditionalMasking(0.6, 1e16, decimals=-16)


NOISE = (
    "with probability 0.6 a record shows the true value of another record{}, otherwise its own value plus {} "
    "noise of standard deviation 20; which of the two is not disclosed.{}"
)
MAPPED = (
    "the values are those of the original, each once, in another order{}. With probability 0.6 a record "
    "shows the value of a random record{}; the others{} were put in the order of their values with normal "
    "noise of standard deviation 20{}, and got their own values back in that order; which of the two is not "
    "disclosed.{}"
)
OUTSIDE = " No value lies outside of {}."
SEX = " of the same sex and age"
TENS = NOISE.format(SEX, "laplace", " Values are multiples of 10.")
EACH = ", except that means stand for the 3 smallest and the 3 largest values of each sex and age"
SENTENCES = [
    ({"step": 0}, NOISE.format("", "normal", "")),
    ({"step": 0.25, "range": (0, None)}, (" Values are multiples of 0.25.", "at least 0")),
    ({"decimals": 2, "range": (None, 9)}, (" Values are multiples of 0.01.", "at most 9")),
    ({"decimals": 0, "range": (0, 9)}, (" Values are multiples of 1.", "0 to 9")),
    ({"decimals": -1, "strata": ["sex", "age"], "noise": "laplace"}, TENS),
    (
        {"scale": "log"},
        MAPPED.format("", "", "", " of the logarithm", ""),
    ),
    (
        {"aggregate_ends": 3, "strata": ["sex", "age"], "range": (0, 9)},
        MAPPED.format(EACH, SEX, SEX, "", OUTSIDE.format("0 to 9")),
    ),
]


@pytest.mark.parametrize(("options", "sentence"), SENTENCES)
def test_what_was_done_is_said_in_a_few_sentences(options, sentence):
    mapped = {"scale", "aggregate_ends"} & options.keys()
    scheme = (cm.ReverseMapping if mapped else cm.ConditionalMasking)(0.6, 20.0, **options)
    if isinstance(sentence, tuple):
        sentence = NOISE.format("", "normal", sentence[0] + OUTSIDE.format(sentence[1]))

    assert scheme.sentence() == with_rounding(scheme, ()) == sentence
    moved = with_rounding(scheme, (0.02, -0.5))
    assert moved.startswith(
        f"{sentence} Before, the data were rounded to that, which moved their mean by +0.02 "
    )


SCHEMES = [
    cm.ConditionalMasking(0.6, 8_000.0),
    cm.ConditionalMasking(0.6, 8_000.0, step=0),
    cm.ConditionalMasking(0.6, 8_000.0, step=1 / 3),
    cm.ConditionalMasking(
        0.3, 50, noise="laplace", donors="permutation", decimals=-1, strata="region"
    ),
    cm.ConditionalMasking(0.6, 8_000.0, strata=["region", "sex"], small_strata="merge"),
    cm.ConditionalMasking(
        np.float64(0.6), np.float32(0.1), decimals=np.int8(2), missing=np.array([-8, -9])
    ),
    cm.ConditionalMasking(0.6, 8_000.0, missing=None, missing_as="null"),
    cm.ReverseMapping(0.3, 0.25, scale="log", strata=["a"], missing=[-8.0, None]),
    cm.AdditiveNoise(3.0, noise="normal"),
    cm.DataSwapping(),
    cm.RankSwapping(5.0),
    cm.DataShuffling(),
]


@pytest.fixture
def stranger():
    sys.modules.pop("stranger", None)
    yield importlib.import_module("stranger")
    del protocol._REGISTER["Microaggregation"], sys.modules["stranger"]


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_a_scheme_returns_from_json_under_one_dialect(scheme):
    entries = json.loads(json.dumps(scheme.to_dict()))

    assert entries["scheme"] == type(scheme).__name__
    for reader in (protocol.Scheme, type(scheme)):
        back = reader.from_dict(entries)
        assert back == scheme
        assert hash(back) == hash(scheme)
        assert type(back) is type(scheme)
    assert pickle.loads(pickle.dumps(scheme)) == eval(repr(scheme), vars(cm)) == scheme
    with pytest.raises(AttributeError):
        scheme.p = 0.1
    with pytest.raises(ValueError, match="'nonsense'"):
        protocol.Scheme.from_dict({**entries, "nonsense": 1})
    with pytest.raises(ValueError, match=r"^scheme must be one of "):
        protocol.Scheme.from_dict({**entries, "scheme": "Nonsense"})


def test_schemes_differ_where_their_entries_do():
    assert len({*SCHEMES, *SCHEMES}) == len(SCHEMES)
    assert len({json.dumps(scheme.to_dict()) for scheme in SCHEMES}) == len(SCHEMES)


def test_schemes_are_written_as_short_as_they_can_be():
    assert repr(cm.ConditionalMasking(0.6, 8_000)) == "ConditionalMasking(p=0.6, sigma=8000.0)"
    assert not {"missing", "range"} & cm.ConditionalMasking(0.6, 300.0).to_dict().keys()
    mapped = cm.ReverseMapping(0.6, 500.0)
    assert repr(mapped) == "ReverseMapping(p=0.6, sigma=500.0)"
    assert not {"step", "decimals"} & mapped.to_dict().keys()


def test_required_entries_are_required_and_another_method_is_refused():
    with pytest.raises(ValueError, match="'sigma'"):
        protocol.Scheme.from_dict({"scheme": "AdditiveNoise"})
    with pytest.raises(ValueError, match="'percent'"):
        protocol.Scheme.from_dict({"scheme": "RankSwapping"})
    with pytest.raises(ValueError, match=r"^percent must be at most 100, got 101$"):
        cm.RankSwapping(101)
    with pytest.raises(ValueError, match=r"^scheme must be 'DataSwapping', got 'RankSwapping'$"):
        cm.DataSwapping.from_dict(cm.RankSwapping(5.0).to_dict())
    with pytest.raises(TypeError, match=r"^entries must be a dict, got "):
        protocol.Scheme.from_dict([("scheme", "DataSwapping")])
    with pytest.raises(ValueError, match=r"^x must stay finite when it is masked"):
        cm.AdditiveNoise(1e308).mask(np.zeros(200), rng=1)
    scheme = cm.AdditiveNoise(3.0)
    assert scheme.risk([0.0, 1.0], 0.5) == scheme.risk([0.0, 1.0], [0.5])[0]


def test_a_class_says_all_that_it_lacks_to_be_a_scheme():
    class Bare(protocol.Scheme):
        pass

    class Masking(Bare):
        def mask_rows(self, x, stream, others):
            return x

    parts = [
        'method = "its name in files and studies"',
        "mask_rows(self, x, stream, others)",
        "@dataclass(frozen=True)",
    ]
    sentence = "{} is no complete scheme: it lacks {}"
    cases = (protocol.Scheme, parts), (Bare, parts), (Masking, [parts[0], parts[2]])
    for lacking, parts_of_it in cases:
        with pytest.raises(TypeError) as caught:
            lacking()
        assert str(caught.value) == sentence.format(lacking.__name__, ", ".join(parts_of_it))


def test_a_class_with_all_that_was_named_is_a_scheme(monkeypatch):
    monkeypatch.setattr(protocol, "_REGISTER", dict(protocol._REGISTER))

    @dataclasses.dataclass(frozen=True)
    class Doubling(protocol.Scheme):
        method = "Doubling"

        def mask_rows(self, x, stream, others):
            return 2.0 * x

    assert Doubling().mask([1.0, 3.0]).tolist() == [2.0, 6.0]
    assert protocol.Scheme.from_dict(Doubling().to_dict()) == Doubling()


def test_a_stranger_adds_a_scheme_in_one_file(stranger):
    scheme = stranger.Microaggregation(3)
    x = np.array([5.0, 1.0, 2.0, 9.0, 3.0, 10.0, 11.0])

    z = scheme.mask(x)
    back = protocol.Scheme.from_dict(json.loads(json.dumps(scheme.to_dict())))
    # of a normal sample, groups of 3 in 60 leave the mean as it is
    study = cm.simulate(cm.paper_population(), {"means": scheme}, n=60, replications=64, rng=1)
    frame = study.to_frame()

    assert z.tolist() == [8.75, 2.0, 2.0, 8.75, 2.0, 8.75, 8.75]
    assert back == scheme
    assert type(back) is stranger.Microaggregation
    assert not frame[frame["scheme"] == "means"].empty
    with pytest.raises(TypeError, match="no closed form"):
        scheme.risk(x, 1.0)
    with pytest.raises(TypeError, match="no estimator"):
        scheme.estimate(z)
    with pytest.raises(
        ValueError, match=r"^x must be complete, got 1 missing value, the first at position 6$"
    ):
        scheme.mask(np.append(x[:-1], np.nan))
    assert len(Path(stranger.__file__).read_text().splitlines()) < 60


def test_what_is_masked_at_once_follows_the_draw_contract_and_keeps_single_precision():
    x = np.append(np.arange(40.0), -0.0)
    scheme = cm.DataSwapping()
    table = {"a": x, "b": x.astype(np.float32)}
    released = cm.mask_table(table, dict.fromkeys(table, scheme), rng=7).data
    for names, columns in (("ab", released.values()), (("",), [scheme.mask(x, rng=7)])):
        described = [(name, scheme.to_dict()) for name in names]
        secret = reference.working_secret(7, described, [x + 0.0 for _ in names])
        for column, z in enumerate(columns):
            stream = np.random.Generator(reference.aes(secret, 0, 3, column))
            assert z.tolist() == stream.permuted(x[None], axis=1)[0].tolist()
            assert not np.signbit(z).any()
    assert released["b"].dtype == scheme.mask(table["b"]).dtype == np.float32


@pytest.mark.parametrize(
    "scheme",
    [cm.AdditiveNoise(900.0), cm.AdditiveNoise(900.0, noise="normal"), cm.RankSwapping(5.0)],
    ids=repr,
)
def test_a_seed_repeats_a_masking_and_columns_share_nothing(scheme):
    x = np.random.default_rng(31).laplace(10, 1000, 3_000)
    z = scheme.mask(x, rng=1)

    assert np.array_equal(z, scheme.mask(x, rng=1))
    assert not np.array_equal(z, scheme.mask(x, rng=2))
    assert not np.array_equal(scheme.mask(x), scheme.mask(x))
    if isinstance(scheme, cm.AdditiveNoise):
        assert np.abs(np.corrcoef(z - x, scheme.mask(x[::-1], rng=1) - x[::-1])[0, 1]) < 0.1
