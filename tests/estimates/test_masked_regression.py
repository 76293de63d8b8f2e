"""Regressions with masked columns on either side.

Oracles: statsmodels where next to nothing is masked; the definition, polynomials undone monomial
by monomial (tests/reference.py); maskings of fixed files, and files of a known population. Seeds
are fixed.
"""

import warnings

import numpy as np
import pandas as pd
import pytest
import reference
import statsmodels.api as sm
from scheme_classes import conditional_or_mapped
from scipy import stats
from worlds import rest_slow

import condmask as cm
from benchmarks import coverage
from condmask.linear import chunks, masked_regress

pytestmark = [
    pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning"),
    pytest.mark.filterwarnings("ignore:heavy tails:condmask.EstimateWarning"),
]
ACCEPT = {"accept": "all"}
NAMES = ["x", "w", "v"]


def file_of(n, seed=1, law="lognormal"):
    rng = np.random.default_rng(seed)
    columns = coverage.file_of(rng, law, n)
    return pd.DataFrame(columns | {"region": rng.choice(["north", "south", "west"], n)})


def masked(frame, names, seed=1, p=0.3, sigma=0.5, method=cm.ConditionalMasking, **options):
    schemes = dict.fromkeys(names, method(p, sigma, **options))
    return cm.mask_table(frame, schemes, rng=seed, nan_policy="omit", **ACCEPT)


def least_squares(frame, on=NAMES):
    design = sm.add_constant(frame[on].assign(**{k: frame[k].astype(float) for k in on}))
    return sm.OLS(frame["y"], design).fit(cov_type="HC3", use_t=True)


@pytest.mark.parametrize("names", [["x"], ["x", "v"], ["x", "y"]], ids=" ".join)
def test_with_next_to_no_masking_it_is_least_squares(names):
    frame = file_of(2_000)
    frame.loc[:49, names[0]] = frame.loc[30:79, names[-1]] = np.nan
    found = masked(frame, names, p=1e-9, sigma=1e-9, step=0.0).regress("y", on=["region", *NAMES])
    south, west = (frame["region"] == label for label in ("south", "west"))
    labels = ["region=south", "region=west"]
    design = frame.assign(**dict(zip(labels, (south, west), strict=True))).dropna()
    known = least_squares(design, [*labels, *NAMES])
    assert list(found) == ["intercept", *labels, *NAMES]
    np.testing.assert_allclose(found.estimate, known.params, rtol=1e-6)
    np.testing.assert_allclose(found.standard_error, known.bse, rtol=1e-6)
    ends = known.conf_int().to_numpy().T  # a test inverted differs by 1/n
    assert (abs(np.array([found.low, found.high]) - ends) < 0.1 * known.bse.to_numpy()).all()
    of_file = masked(frame, names, p=1e-9, sigma=1e-9, step=0.0).regress(
        "y", on=NAMES, target="file"
    )
    assert (of_file.standard_error < 1e-3 * known.bse.min()).all()


SCALES = {"x": 1.0, "w": 3.0, "v": 0.2, "y": 5.0}
# under next to no noise the released values are the originals
REVERSE = {"reverse_mapping": True, "p": 1e-9}
EXACT = {  # columns masked together, those with gaps, and their scheme
    "x": (["x"], ["x"], {}),
    "x and v": (["x", "v"], ["w"], {}),
    "x, v and y": (["x", "v", "y"], [], {"noise": "laplace"}),
    "gaps and strata": (["x", "y"], ["x", "w", "v"], {"noise": "laplace", "strata": "region"}),
    "donors drawn anew": (
        ["x", "w"],
        ["y"],
        {"donors": "sample", "noise": "laplace", "strata": "region"},
    ),
    "outcome too": (["x", "y"], ["w"], {"donors": "sample"}),
    "reverse mapping": (["x"], [], REVERSE),
    "of a regressor with gaps": (["v"], ["v"], REVERSE),
    "of strata": (["x"], ["w"], {"strata": "region"} | REVERSE),
}


def released(names, missing, options, n, seed):
    """A release of columns of other units and far from 0, and its regression by the definition."""
    frame = file_of(n, seed, law="normal")
    columns = list(SCALES)
    pool = np.repeat([0, 1, 2], [n // 4, n // 3, n - n // 4 - n // 3])
    frame["region"] = pool.astype(str)
    frame[columns] = frame[columns] * list(SCALES.values()) + [4.0, -20.0, 1.0, 30.0]
    for k, name in enumerate(missing):
        frame.loc[k::6, name] = np.nan
    reverse = "reverse_mapping" in options
    options = {"p": 0.2} | ({} if reverse else {"step": 0.0}) | options
    sigma = {name: (1e-9 if reverse else 0.3) * SCALES[name] for name in names}
    schemes = {name: conditional_or_mapped(sigma=sigma[name], **options) for name in names}
    release = cm.mask_table(frame, schemes, rng=seed, nan_policy="omit", **ACCEPT)
    fourth = 6.0 if "noise" in options else 3.0
    return release, reference.MaskedRegression(
        [np.ones(n), *(release.data[name].to_numpy() for name in columns)],
        {1 + columns.index(name): (sigma[name] ** 2, fourth * sigma[name] ** 4) for name in names},
        1.0 if reverse else options["p"],
        pool * ("strata" in options),
        shared_donors=reverse or "donors" in options,
    )


def figures(found):
    return np.array([found.estimate, found.standard_error, found.low, found.high])


@pytest.mark.parametrize("case", EXACT)
def test_it_is_the_definition(case, monkeypatch):
    monkeypatch.setattr(
        chunks, "RECORDS_PER_CHUNK", 32
    )  # of a chunk: some miss a pool, some have it last
    names, missing, options = EXACT[case]
    release, known = released(names, missing, options, 240, seed=4)
    reach = stats.t.ppf(0.75, known.n - 4)
    tolerance = 1e-6 if options.items() >= REVERSE.items() else 1e-10
    unit = known.intervals(reach, "population")[1]
    for target in ("population", "file"):
        for many in (known.n + 1, known.n):
            monkeypatch.setattr(masked_regress, "MIN_WALD_RECORDS", many)
            found = figures(release.regress("y", on=NAMES, confidence_level=0.5, target=target))
            expected = known.intervals(reach, target, wald=many == known.n)
            np.testing.assert_allclose(found / unit, expected / unit, rtol=0.0, atol=tolerance)


@pytest.mark.filterwarnings("ignore:regress. too few records")
def test_few_records_have_the_bounds_of_the_definition():
    """None where it is not certain that a masked column has anything of its own."""
    shown = np.zeros(4)
    for seed in range(18):
        n = 60 if seed < 9 else 300
        release, known = released(["x", "v"], [], {"p": 0.55}, n, seed)
        found = figures(release.regress("y", on=NAMES, confidence_level=0.8))
        expected = known.intervals(stats.t.ppf(0.9, n - 4), "population")
        np.testing.assert_allclose(found, expected, rtol=1e-8)
        shown += [np.isnan(found[0]).any(), *np.isfinite(found[2, [0, 1, 3]])]
    assert ((shown > 0) & (shown < 18)).all()


@pytest.mark.parametrize(
    "cell", rest_slow(["normal  x  0.3  200", "normal  x, reverse mapping  0.3  200"])
)
def test_intervals_cover(cell):
    shares = coverage.run("regression", cell, 400, 1)[""]
    covers = np.array([shares[name] for name in NAMES])
    four_errors = 4.0 * (0.0475 / 400) ** 0.5
    assert (covers > 0.94 - four_errors).all()
    assert (covers < 0.97 + four_errors).all()


def test_the_outcome_alone_is_a_special_case():
    release = masked(file_of(500), ["y"])
    options = {"confidence_level": 0.8, "target": "file"}
    found = release.regress("y", on=["w", "region"], **options)
    known = release["y"].regress(["w", "region"], **options)
    assert list(found) == list(known)
    np.testing.assert_array_equal([found.estimate, found.low], [known.estimate, known.low])


def test_a_file_gives_what_the_table_gives(tmp_path):
    release = masked(file_of(20_000), ["x", "y"], strata="region")
    release.write(tmp_path / "released.parquet", log=False)
    one, two = (
        own.regress("y", on=["w", "x"])
        for own in (release, cm.read_release(tmp_path / "released.parquet"))
    )
    np.testing.assert_allclose(one.estimate, two.estimate, rtol=1e-12)
    np.testing.assert_allclose([one.low, one.high], [two.low, two.high], rtol=1e-12)


def test_parts_are_pools(tmp_path):
    frame = file_of(20_000, law="normal")
    frame["x"] += np.arange(20_000) // 5_000
    frame.to_parquet(tmp_path / "original.parquet")
    scheme = {"x": cm.ConditionalMasking(0.3, 0.5)}
    paths = tmp_path / "original.parquet", tmp_path / "released.parquet"
    cm.mask_file(*paths, scheme, rng=1, part_rows=5_000, log=False, **ACCEPT)
    release = cm.read_release(paths[1])
    found = release.regress("y", on=NAMES, target="file")
    truth = least_squares(frame).params
    assert len(release.parts) == 4
    assert (abs(found.estimate - truth) < 4.0 * found.standard_error).all()
    assert found["x"].standard_error < 0.02


def test_noise_alone_knows_no_pools(tmp_path):
    """A part, whose records are a pool elsewhere, may have a single one."""
    file_of(101, law="normal").to_parquet(tmp_path / "original.parquet")
    paths = tmp_path / "original.parquet", tmp_path / "released.parquet"
    schemes = {"x": cm.AdditiveNoise(0.5), "y": cm.AdditiveNoise(1.0)}
    cm.mask_file(*paths, schemes, rng=1, part_rows=50, log=False, **ACCEPT)
    release = cm.read_release(paths[1])
    data = pd.read_parquet(paths[1])
    table = [np.ones(101), *(data[name].to_numpy() for name in (*NAMES, "y"))]
    noise = {1: (0.25, 6 * 0.5**4), 4: (1.0, 6.0)}
    known = reference.MaskedRegression(table, noise, 0.0, np.zeros(101, dtype=int))
    for target in ("population", "file"):
        found = figures(release.regress("y", on=NAMES, target=target))
        np.testing.assert_allclose(
            found, known.intervals(stats.t.ppf(0.975, 97), target), rtol=1e-7
        )
    assert release["x"].regress("w").estimate.size == 2


def test_what_is_not_known_is_said():
    frame = file_of(200)
    with pytest.warns(cm.EstimateWarning, match="too few records"):
        found = masked(frame, ["x"], p=0.9, sigma=3.0).regress("y", on=NAMES)
    assert np.isinf([found.low, found.high]).all()
    frame = file_of(500, law="normal")
    release = masked(frame, ["x", "y"], p=0.05, sigma=1e-6, method=cm.ReverseMapping)
    with pytest.warns(cm.EstimateWarning, match="fit each of at least 30 parts"):
        found = release.regress("y", on=NAMES)
    np.testing.assert_allclose(found.estimate, least_squares(frame).params, rtol=0.1)
    assert np.isnan([found.low, found.high, found.standard_error]).all()


def test_together_by_reverse_mapping_estimates_average_to_those_of_the_file():
    frame = file_of(400, seed=3, law="normal")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        releases = (
            masked(frame, ["x", "y"], seed, method=cm.ReverseMapping) for seed in range(100)
        )
        found = np.array([release.regress("y", on=NAMES).estimate for release in releases])
    assert (abs(found.mean(axis=0) - least_squares(frame).params) < 0.55 * found.std(axis=0)).all()


REFUSED = {
    "^on must have fewer coefficients than": ["few", "x"],
    "^constant must not be constant": ["constant", "x"],
    "^on must have no column that is determined by others, got '(w|twice)'$": ["w", "twice", "x"],
    "^on must name columns of numbers, or of 2 to 50": ["name", "x"],
    "^on must name different columns": ["x", "y"],
    r"^one of \['w'\] and 'y' must be masked: others need no release": ["w"],
}


@pytest.mark.parametrize("match", REFUSED)
def test_refusals_say_why(match):
    frame = file_of(200)
    frame["constant"] = 1.0
    frame["twice"] = 2.0 * frame["w"] + 1.0
    frame["name"] = [f"person {k}" for k in range(200)]
    frame["few"] = np.where(np.arange(200) < 3, frame["v"], np.nan)
    with pytest.raises(ValueError, match=match) as refused:
        masked(frame, ["x"]).regress("y", on=REFUSED[match])
    assert "\n" not in str(refused.value)


def test_gaps_in_one_stratum_are_refused_where_reverse_mapping_masked_columns_together():
    frame = file_of(200)
    frame["region"] = np.repeat(["east", "west"], 100)
    frame["w"] = frame["w"].where(frame.index > 5)
    release = masked(frame, ["x", "y"], method=cm.ReverseMapping, strata="region")

    with pytest.raises(ValueError, match=r"^on must have no gaps where reverse mapping"):
        release.regress("y", on=NAMES)


@pytest.mark.parametrize("reverse_mapping", [False, True])
def test_no_error_of_a_stratum_is_far_below_that_of_least_squares(reverse_mapping):
    # the variance is a small difference of large means, and was 0 in two of ten such files
    options = {"reverse_mapping": True} if reverse_mapping else {"step": 10.0}
    scheme = conditional_or_mapped(0.6, 300.0, strata="region", **options)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        region = rng.choice(["east", "north", "west"], 2_000, p=[0.3, 0.5, 0.2])
        wage = np.exp(rng.normal(7.0, 0.5, region.size)).round(-1)
        table = {
            "region": region,
            "wage": wage,
            "spent": (wage + rng.normal(0.0, 100.0, wage.size)).round(-1),
        }
        release = cm.mask_table(table, {"wage": scheme}, rng=seed, accept="all")
        found = release.regress("spent", ["wage", "region"])
        for name in ("north", "west"):
            least = 100.0 * np.sqrt(1.0 / (region == name).sum() + 1.0 / (region == "east").sum())
            assert found[f"region={name}"].standard_error > 0.65 * least
