"""Schemes as condmask 0.2 wrote them: reverse mapping as an option of conditional masking.

Oracle: the JSON that condmask 0.2.0 made of its schemes, for files and for keys.
"""

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

import condmask as cm
from condmask.masking.scheme import Scheme

MAPPED = cm.ReverseMapping(
    0.6, 0.5, scale="log", aggregate_ends=3, strata="region", missing=(-8, None), range=(0, None)
)
ON_GRID = cm.ConditionalMasking(0.6, 500.0, decimals=2, noise="laplace", range=(0, 9))
PLAIN = cm.ReverseMapping(0.6, 500.0)
ENTRIES = {
    MAPPED: (
        '{"scheme": "ConditionalMasking", "p": 0.6, "sigma": 0.5, "noise": "normal", "donors": '
        '"permutation", "reverse_mapping": true, "aggregate_ends": 3, "scale": "log", "range": '
        '[0.0, null], "strata": "region", "small_strata": "refuse", "missing": [-8.0, null]}'
    ),
    ON_GRID: (
        '{"scheme": "ConditionalMasking", "p": 0.6, "sigma": 500.0, "noise": "laplace", "donors": '
        '"permutation", "decimals": 2, "step": 0.01, "scale": "linear", "range": [0.0, 9.0], '
        '"strata": null, "small_strata": "refuse"}'
    ),
    PLAIN: (
        '{"scheme": "ConditionalMasking", "p": 0.6, "sigma": 500.0, "noise": "normal", "donors": '
        '"permutation", "reverse_mapping": true, "scale": "linear", "strata": null, '
        '"small_strata": "refuse"}'
    ),
}
KEYS = {
    MAPPED: (
        '{"aggregate_ends":3,"donors":"permutation","missing":[-8.0,null],"noise":"normal",'
        '"p":0.6,"patterns":[],"reverse_mapping":true,"scale":"log","scheme":'
        '"ConditionalMasking","sigma":0.5,"small_strata":"refuse","strata":"region"}'
    ),
    ON_GRID: (
        '{"decimals":2,"donors":"permutation","noise":"laplace","p":0.6,"patterns":[],"scale":'
        '"linear","scheme":"ConditionalMasking","sigma":500.0,"small_strata":"refuse","step":0.01,'
        '"strata":null}'
    ),
    PLAIN: (
        '{"donors":"permutation","noise":"normal","p":0.6,"patterns":[],"reverse_mapping":true,'
        '"scale":"linear","scheme":"ConditionalMasking","sigma":500.0,"small_strata":"refuse",'
        '"strata":null}'
    ),
}
METHODS = [cm.ConditionalMasking, cm.ReverseMapping]


@pytest.mark.parametrize("scheme", ENTRIES, ids=repr)
def test_entries_of_earlier_files_are_read(scheme):
    entries = json.loads(ENTRIES[scheme])

    for reader in (Scheme, cm.ConditionalMasking, type(scheme)):
        assert reader.from_dict(entries) == scheme
    assert entries == json.loads(ENTRIES[scheme])
    assert scheme.to_dict()["scheme"] == type(scheme).__name__


@pytest.mark.parametrize("scheme", KEYS, ids=repr)
def test_the_key_of_a_release_is_as_before(scheme):
    described = json.dumps(scheme.key_entries(), sort_keys=True, separators=(",", ":"))

    assert described == KEYS[scheme]


@pytest.mark.parametrize(
    ("entry", "value"), [("step", 0.5), ("decimals", 2), ("donors", "sample"), ("scale", "cubic")]
)
def test_entries_that_never_applied_are_refused(entry, value):
    with pytest.raises(ValueError, match=entry):
        Scheme.from_dict(json.loads(ENTRIES[PLAIN]) | {entry: value})


@pytest.mark.parametrize(("entry", "value"), [("scale", "log"), ("aggregate_ends", 3)])
def test_entries_of_reverse_mapping_are_refused_with_noise_on_a_grid(entry, value):
    with pytest.raises(ValueError, match=f"unknown entries '{entry}'"):
        Scheme.from_dict(json.loads(ENTRIES[ON_GRID]) | {entry: value})


@pytest.mark.parametrize("method", METHODS)
def test_another_class_is_refused(method):
    with pytest.raises(
        ValueError, match=f"^scheme must be '{method.__name__}', got 'DataSwapping'"
    ):
        method.from_dict({"scheme": "DataSwapping"})
    with pytest.raises(ValueError, match=r"^scheme must be 'ReverseMapping', got 'Conditional"):
        cm.ReverseMapping.from_dict(json.loads(ENTRIES[ON_GRID]))


@pytest.mark.parametrize(
    "parameters",
    [{}, {"scale": "log", "aggregate_ends": 3, "strata": "region"}, {"step": 0, "decimals": None}],
)
def test_the_earlier_keyword_returns_reverse_mapping_and_says_how_to_write_it(parameters):
    with pytest.warns(DeprecationWarning, match=r"reverse_mapping=True\) will be refused") as seen:
        scheme = cm.ConditionalMasking(0.6, sigma=2.0, reverse_mapping=True, **parameters)

    assert type(scheme) is cm.ReverseMapping
    call = str(seen[0].message).partition("use ")[2]
    assert eval(call, {"cm": cm}) == scheme
    assert seen[0].filename == __file__
    for name in ("scale", "aggregate_ends", "strata"):
        assert getattr(scheme, name) == parameters.get(name, getattr(cm.ReverseMapping, name))


def test_a_scheme_that_says_it_is_without_reverse_mapping_is_the_same():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheme = cm.ConditionalMasking(
            0.6, 2.0, reverse_mapping=False, scale="linear", aggregate_ends=0
        )
        same = cm.ConditionalMasking(0.6, 2.0)
        assert scheme == same == replace(scheme) == pickle.loads(pickle.dumps(scheme))
    assert repr(scheme) == repr(same)
    assert scheme.to_dict() == same.to_dict()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"scale": "log"},
            "scale must be left out of ConditionalMasking, got 'log': use "
            "cm.ReverseMapping(0.6, 2.0, scale='log')",
        ),
        (
            {"aggregate_ends": 3},
            "aggregate_ends must be left out of ConditionalMasking, got 3: use "
            "cm.ReverseMapping(0.6, 2.0, aggregate_ends=3)",
        ),
        (
            {"reverse_mapping": True, "donors": "sample"},
            "donors must be left out with reverse mapping, got 'sample': the swapped records take "
            "their values from one another",
        ),
        (
            {"reverse_mapping": True, "decimals": 2},
            "decimals must be left out with reverse mapping, got 2: released values are those of "
            "the data, and nothing is rounded",
        ),
    ],
)
def test_parameters_of_the_other_class_are_refused_with_the_call_that_takes_them(
    parameters, message
):
    with pytest.raises(ValueError, match="must be left out") as error:
        cm.ConditionalMasking(0.6, 2.0, **parameters)

    assert str(error.value) == message


def test_a_release_of_version_2_is_read(tmp_path):
    path = tmp_path / "masked.csv"
    x = np.random.default_rng(1).lognormal(5.0, 0.3, 400).round()
    scheme = cm.ReverseMapping(0.6, 20.0)
    release = cm.mask_table({"x": x}, {"x": scheme}, rng=2, accept="all")
    path.write_text("x\n" + "\n".join(map(str, x)))
    cm.mask_file(path, tmp_path / "a.csv", {"x": scheme}, rng=2, accept="all", log=False)
    sidecar = tmp_path / "a.csv.condmask.json"
    published = json.loads(sidecar.read_text())
    assert published["version"] == 3
    mean = cm.read_release(tmp_path / "a.csv")["x"].mean_interval()

    published |= {"version": 2, "columns": {"x": json.loads(ENTRIES[PLAIN]) | {"sigma": 20.0}}}
    sidecar.write_text(json.dumps(published))
    read = cm.read_release(tmp_path / "a.csv")

    assert read.schemes == {"x": scheme} == release.schemes
    assert read["x"].mean_interval() == mean

    sidecar.write_text(json.dumps(published | {"version": 4}))
    with pytest.raises(ValueError, match="was masked by a newer condmask, got version 4"):
        cm.read_release(tmp_path / "a.csv")
