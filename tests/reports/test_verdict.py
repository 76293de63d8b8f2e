"""What whoever signs reads first. Oracle: the audit of the original, and the order of the page."""

import re

import numpy as np
import pandas as pd
import pytest
from condmask.disclosure.audit_result import Audit
from condmask.disclosure.causes import Cause
from report_pages import SCHEME

import condmask as cm
from condmask.reports.original import Compared
from condmask.reports.verdict import Finding, verdict_on

BLIND = 0.6


def audit(guessed=BLIND, certain=0.0, n=5_000, causes=()):
    return Audit(n, BLIND, guessed, certain, 0.0, causes, SCHEME)


def said(verdict):
    return re.sub("<[^>]*>", "", verdict.because)


def compared(statistic, times):
    return {"income": Finding(None, [Compared(statistic, 1.0, 1.0, 1.0, 1.0, times, times)])}


def test_sections_stand_in_the_order_in_which_they_are_needed(internal):
    heads = re.findall("<h2>(.*?)</h2>", internal)

    assert heads[:2] == ["Verdict", "Signature"]
    assert heads[-1] == "Parameters and equations"
    first = internal.index("This release may be published")
    assert first < internal.index("<table") < internal.index("<figure") < internal.index("<math")
    assert re.findall(r'<th scope="row">(\w+)</th><td>', internal)[:5] == [
        "Decision", "Name", "Role", "Date", "Signature"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("of", "publish", "why"),
    [
        (audit(), True, "swap status of more than 60.0% of the records (the limit is 72.0%"),
        (audit(0.73), False, "an attacker guesses the swap status of 73.0% of the records"),
        (audit(0.6, 0.2), False, "is certain of 20.0%"),
        (audit(n=20), None, "20 records are too few"),
        (audit(causes=(Cause("guard rail", 1.0, "mend it", "a pool is small"),)), False, "a pool is small."),
    ],
)
def test_the_verdict_follows_the_audit(of, publish, why):
    verdict = verdict_on(of, compared("mean", 1.0), reverse_mapping=False)

    assert verdict.publish is publish
    assert why in said(verdict)


@pytest.mark.parametrize(("statistic", "publish"), [("mean", False), ("s.d.", False), ("quantile 0.2", True)])
def test_figures_that_do_not_fit_the_original_stop_a_release_but_for_quantiles_of_heaps(statistic, publish):
    verdict = verdict_on(audit(), compared(statistic, -5.1), reverse_mapping=False)

    assert verdict.publish is publish
    assert ("Is this the original" in said(verdict)) is not publish


@pytest.mark.usefixtures("undrawn")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_a_release_that_shows_who_was_swapped_should_not_be_published(tmp_path):
    income = np.random.default_rng(1).lognormal(8.0, 0.5, 1_000).round(-2)
    pd.DataFrame({"income": income}).to_csv(tmp_path / "a.csv", index=False)
    scheme = cm.ConditionalMasking(0.6, 500.0, decimals=0)
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", {"income": scheme}, rng=1, accept_visible_coins=True)
    cm.report(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.html", d=100)
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    guessed = cm.audit(income, scheme).guessed

    assert f"should not be published, because an attacker guesses the swap status of {guessed:.1%}" in page


def test_no_word_of_coins_or_of_his_is_in_a_report(internal, public, mapped):
    for page in (internal, public, *mapped[1:]):
        words = re.sub("<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
        assert re.findall(r"(?i)\bcoins?\b|\bhe\b|\bhis\b|\bhim\b|can be had", words) == []


@pytest.mark.usefixtures("undrawn")
@pytest.mark.filterwarnings("ignore::condmask.ReleaseWarning")
def test_means_at_the_ends_leave_the_mean_alone_exact(tmp_path):
    """Values that become their mean change the standard deviation; the sentence says no more than that."""
    rng = np.random.default_rng(1)
    x = rng.lognormal(7.0, 1.0, 1_000).round()
    pd.DataFrame({"x": x, "y": (x * rng.lognormal(0.0, 1.0, x.size)).round()}).to_csv(
        tmp_path / "a.csv", index=False
    )
    scheme = cm.ConditionalMasking(0.6, 0.5, scale="log", reverse_mapping=True, aggregate_ends=5)
    cm.mask_file(tmp_path / "a.csv", tmp_path / "b.csv", dict.fromkeys("xy", scheme), log=False)
    cm.report(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.html", d=100)
    page = (tmp_path / "c.html").read_text(encoding="utf-8")

    assert "the mean of this column is exactly that of the original" in page
    assert "mean, standard deviation and quantiles of this column alone" not in page
    assert "the means that stand for the 5 smallest and the 5 largest values make the difference" in page
    assert "The limit of the verdict is for those who see the release alone" in page
    assert page.count("The correlation of x and y can be estimated, but has no interval") == 1
