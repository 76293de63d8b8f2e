"""What every scheme promises: a description in JSON, equality, room for a stranger's scheme."""

import importlib
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import reference

import condmask as cm
from condmask import scheme as protocol

SCHEMES = [
    cm.ConditionalMasking(0.6, 8_000.0),
    cm.ConditionalMasking(0.6, 8_000.0, step=0),
    cm.ConditionalMasking(0.6, 8_000.0, step=1 / 3),
    cm.ConditionalMasking(0.3, 50, noise="laplace", donors="permutation", decimals=-1, strata="region"),
    cm.ConditionalMasking(0.6, 8_000.0, strata=["region", "sex"], small_strata="merge"),
    cm.ConditionalMasking(np.float64(0.6), np.float32(0.1), decimals=np.int8(2), missing=np.array([-8, -9])),
    cm.ConditionalMasking(0.6, 8_000.0, missing=None, missing_as="null"),
    cm.ConditionalMasking(0.3, 0.25, scale="log", reverse_mapping=True, strata=["a"], missing=[-8.0, None]),
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
    assert not {"missing", "reverse_mapping"} & cm.ConditionalMasking(0.6, 300.0).to_dict().keys()
    mapped = cm.ConditionalMasking(0.6, 500.0, reverse_mapping=True)
    assert repr(mapped) == "ConditionalMasking(p=0.6, sigma=500.0, reverse_mapping=True)"
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
    x, scheme = np.append(np.arange(40.0), -0.0), cm.DataSwapping()
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
