"""A part of a release is no release of that part: schemes know how many values they were published with."""

import json
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.scheme import Scheme

pytestmark = pytest.mark.usefixtures("unaudited")
RNG = np.random.default_rng(1)
MALE = RNG.random(4000) < 0.4
INCOME = np.round(RNG.lognormal(7.3, 0.4, 4000) * np.where(MALE, 1.6, 1.0))
SCHEME = cm.ConditionalMasking(0.6, 500.0, decimals=0)


@pytest.fixture(scope="module")
def released():
    frame = pd.DataFrame({"income": INCOME, "bonus": INCOME / 2 // 1, "male": MALE})
    frame.loc[:99, "bonus"] = np.nan
    schemes = {"income": SCHEME, "bonus": SCHEME}
    return cm.mask_table(frame, schemes, rng=1, nan_policy="omit", accept_visible_coins=True)


def test_a_published_scheme_knows_its_number_of_values(released, tmp_path):
    assert {name: scheme.records for name, scheme in released.schemes.items()} == {
        "income": 4000,
        "bonus": 3900,
    }

    pd.DataFrame({"income": INCOME}).to_csv(tmp_path / "a.csv", index=False)
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"income": SCHEME}, accept_visible_coins=True)

    assert cm.read_schemes(tmp_path / "b.csv")["income"] == replace(SCHEME, records=4000)
    assert SCHEME.records is None


def test_an_estimate_from_a_part_warns_and_means_of_parts_are_right(released):
    # what selecting records gives is off by 7 standard errors; group_means is within 5
    data, schemes = released
    scheme, z = replace(schemes["income"], patterns=()), data["income"]

    with pytest.warns(
        cm.EstimateWarning, match=f"z has {MALE.sum()} values, and the release 4000: "
    ) as caught:
        part = scheme.estimate(z[MALE])

    assert "group_means, weighted_mean and regress have means of parts" in str(caught[0].message)
    assert caught[0].filename == __file__
    found = scheme.estimate(z).group_means(MALE)[True]
    true = INCOME[MALE].mean()
    assert abs(found.estimate - true) < 5 * found.standard_error
    assert abs(part.mean() - true) > 5 * found.standard_error


def test_whole_releases_do_not_warn(released):
    data, schemes = released
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("income", "bonus"):
            schemes[name].estimate(data[name])
            schemes[name].estimate(data[name].dropna())  # the missing are no part of the release
            schemes[name].estimate(np.tile(data[name].dropna(), (2, 1)))
        SCHEME.estimate(data["income"][MALE])  # nobody told it
        counts = cm.Counts(schemes["income"])
        counts.update(data["income"])
        schemes["income"].estimate(counts)


def test_a_summary_of_a_part_warns(released):
    data, schemes = released
    counts = cm.Counts(schemes["income"])
    counts.update(data["income"][:1000])

    with pytest.warns(cm.EstimateWarning, match="z has 1000 values, and the release 4000: "):
        schemes["income"].estimate(counts)


def test_whole_strata_are_releases_of_their_own():
    scheme = replace(SCHEME, strata=("region", "sex"), records=100)

    message = re.escape("(whole strata of 'region', 'sex' are releases of their own)")
    with pytest.warns(cm.EstimateWarning, match=message):
        scheme.estimate(np.arange(50))


def test_the_number_of_values_has_no_part_in_the_key():
    stamped = replace(SCHEME, records=7)

    assert np.array_equal(stamped.mask(INCOME, rng=1), SCHEME.mask(INCOME, rng=1))


def test_masking_again_starts_anew():
    stamped = replace(SCHEME, records=7)

    _, schemes = cm.mask_table(
        pd.DataFrame({"income": INCOME}), {"income": stamped}, rng=1, accept_visible_coins=True
    )

    assert schemes["income"].records == 4000


def test_schemes_written_without_it_are_read():
    entries = SCHEME.to_dict()
    assert entries.pop("records") is None

    assert Scheme.from_dict(entries) == SCHEME
    stamped = replace(SCHEME, records=9)
    assert Scheme.from_dict(json.loads(json.dumps(stamped.to_dict()))) == stamped
    assert "records=9" in repr(stamped)


@pytest.mark.parametrize("records", [1, 0, -3])
def test_a_release_has_two_records(records):
    with pytest.raises(ValueError, match=f"records must be a whole number of at least 2, got {records}"):
        cm.ConditionalMasking(0.6, 500.0, records=records)
