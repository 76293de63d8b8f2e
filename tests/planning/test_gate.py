"""The gate says of a scheme what masking says, in the same words."""

import numpy as np
import pytest

import condmask as cm
from condmask.frames import Labels, codes
from condmask.planning.gate import Gate

N = 600
RANDOM = np.random.default_rng(8)
X = np.rint(RANDOM.lognormal(7.0, 0.4, N) / 10.0) * 10.0
CODED = np.where(np.arange(N) % 30 == 0, -8.0, X)
GAPS = np.where(np.arange(N) % 25 == 3, np.nan, X)
GROUP = np.where(np.arange(N) < 8, "few", "many")
SCHEMES = {
    "fine": {"sigma": 300.0, "step": 10},
    "digits": {"sigma": 300.0, "decimals": 0},
    "off the grid": {"sigma": 300.0, "step": 25},
    "mapped": {"sigma": 300.0, "reverse_mapping": True},
    "strata": {"sigma": 300.0, "reverse_mapping": True, "strata": "group"},
    "codes": {"sigma": 2_000.0, "step": 2, "missing": -8},
}


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("x", [X, CODED, GAPS], ids=["plain", "coded", "gaps"])
def test_refusals_are_those_of_masking(name, x):
    scheme = cm.ConditionalMasking(0.6, **SCHEMES[name])
    strata = GROUP if scheme.strata else None
    try:
        scheme.mask(x, strata=strata, nan_policy="omit", rng=1)
        expected = None
    except ValueError as error:
        expected = str(error)

    labels = [Labels(*codes(GROUP, "group"))] if scheme.strata else []
    assert Gate(x, "float64", labels).refusal(scheme) == expected


def test_schemes_are_refused_and_accepted():
    refusals = [
        Gate(X, "float64", []).refusal(cm.ConditionalMasking(0.6, **SCHEMES[name]))
        for name in ("fine", "digits")
    ]

    assert refusals[0] is None
    assert "which records were swapped" in refusals[1]


def test_the_audit_is_that_of_the_column_within_its_strata():
    half = np.where(RANDOM.random(N) < 0.5, "a", "b")
    scheme = cm.ConditionalMasking(0.6, 300.0, decimals=0, strata="group")

    found = Gate(X, "float64", [Labels(*codes(half, "group"))]).audit(scheme)

    assert found.to_dict() == cm.audit(X, scheme, strata=half).to_dict()
