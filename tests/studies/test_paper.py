"""The study of the paper, and the figures it printed."""

import warnings

import numpy as np
import pytest

import condmask as cm
from condmask.studies import paper

POPULATION = cm.paper_population()


def test_the_paper_agrees_where_it_is_no_misprint():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = paper.run(400, rng=7, sizes=(2000,))
    honest = [line for line in result.lines if not line["remark"]]
    # 24 cells within 4.5 joint standard errors: false alarm below 24 * 7e-6
    assert len(honest) == 24
    assert max(abs(line["z"]) for line in honest) < 4.5
    assert min(abs(line["z"]) for line in result.lines if line["remark"]) > 20
    text = paper.show(result)

    assert "misprint: scored against 1000" in text
    assert "-0.68645" in text


def test_rmse_is_the_exact_standard_deviation():
    schemes = {
        "CM": cm.ConditionalMasking(0.6, 1000.0, donors="sample"),
        "ANM": cm.AdditiveNoise(1000.0 * 2**0.5),
    }
    result = cm.simulate(POPULATION, schemes, n=2_000, replications=3_000, rng=8, risk_distances=[500.0])
    exact = [109.0, 72.3, 54.9, 43.8, 35.7, 43.8, 54.9, 72.3, 109.0]

    found = [result.value("CM", "T_1", f"quantile {k / 10:g}", "rmse") for k in range(1, 10)]

    # the standard error of an RMSE at S = 3000 is 1.6% with these tails: four of them
    assert found == pytest.approx(exact, rel=0.065)
    # another simulation of these, coded independently with 4000 replications, and the exact integral of
    # T_b's bias at .1; 18 + 1 cells within 4.5 joint standard errors: false alarm below 2e-4
    elsewhere = {
        ("CM", "T_b"): [-41.6, -40.6, -39.7, -31.1, 0.0, 31.3, 40.6, 42.0, 43.7],
        ("ANM", "ANM"): [-83.1, -78.4, -72.4, -49.4, 0.2, 50.1, 73.5, 81.5, 85.3],
    }
    for (scheme, estimator), biases in elsewhere.items():
        for k, bias in enumerate(biases):
            name = f"quantile {(k + 1) / 10:g}"
            se = result.value(scheme, estimator, name, "bias_se") * np.sqrt(1 + 3 / 4)
            assert abs(result.value(scheme, estimator, name, "bias") - bias) < 4.5 * se
    se = result.value("CM", "T_b", "quantile 0.1", "bias_se")
    assert abs(result.value("CM", "T_b", "quantile 0.1", "bias") + 40.7) < 4.5 * se
