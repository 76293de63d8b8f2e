"""Releases of which analysts can estimate nothing beside other columns: what masking says of them.

Oracle: what analysts compute from the masked values, closed forms, a second call with what was
said.
"""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask.cli import main
from condmask.cli.shell_form import in_shell
from condmask.publish import usefulness

N = 1_500
RNG = np.random.default_rng(8)
SKEWED = RNG.lognormal(7.0, 0.6, N).round(2)
EVEN = RNG.normal(100.0, 10.0, N).round(2)
GROUP = np.resize(["a", "b", "c"], N)
SAID = "no group mean and no regression can be estimated from this"


def masked(x, scheme, **options):
    """A release, and what was said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = x if isinstance(x, dict) else {"x": x}
        release = cm.mask_table(
            table, scheme if isinstance(scheme, dict) else {"x": scheme}, rng=3, **options
        )
    return release, [str(one.message) for one in caught if SAID in str(one.message)]


def sigma_of(text):
    """The sigma that a message says to pass."""
    return float(re.search(r"pass sigma=(\S+)$", text)[1])


NOISE = cm.ConditionalMasking(0.6, 70.0)
MAPPED = cm.ReverseMapping(0.6, 80.0, aggregate_ends=3)
LOG = cm.ReverseMapping(0.6, 3.0, scale="log", aggregate_ends=3)


@pytest.mark.parametrize(("x", "scheme"), [(EVEN, NOISE), (EVEN, MAPPED), (SKEWED, LOG)])
def test_what_is_said_is_so_and_what_is_named_does(x, scheme):
    _, (text,) = masked(x, scheme)
    said = float(re.search(r"vary (\S+) times", text)[1])
    sigma = sigma_of(text)
    there, nothing = masked(x, usefulness.with_sigma(scheme, sigma))

    assert nothing == []
    assert there["x"].group_means(GROUP)["a"].standard_error < 5.0 * x.std() / np.sqrt(N / 3)
    if scheme.reverse_mapping:
        release, _ = masked(x, scheme)
        assert abs(release["x"].N - said) < 0.06
        with pytest.raises(ValueError, match="at most 5 times is allowed"):
            release["x"].group_means(GROUP)
        assert there["x"].N <= 1.5
        above = float(f"{sigma * 1.011 + 10.0 ** (np.floor(np.log10(sigma)) - 1.0):.2g}")
        # the next one of two digits
        assert masked(x, usefulness.with_sigma(scheme, above))[0]["x"].N > 1.5
    else:
        assert said == pytest.approx(np.sqrt(1.0 + 0.4 * scheme.sigma**2 / x.var()), abs=0.05)
        assert 1.0 + 0.4 * sigma**2 / x.var() <= 2.25 < 1.0 + 0.4 * (1.1 * sigma) ** 2 / x.var()


def test_noise_makes_pseudo_values_vary_as_it_is_said():
    x = np.random.default_rng(2).normal(0.0, 1.0, 60_000)
    scheme = cm.ConditionalMasking(0.5, 4.0)
    release, (text,) = masked({"x": x}, scheme)
    pseudo = release["x"].pseudo_values()
    said = float(re.search(r"vary (\S+) times", text)[1])
    worth = float(re.search(r"as much of a mean as (\S+) unmasked ones", text)[1])

    # the standard deviation of 60,000 pseudo-values is right to .5%
    assert said == pytest.approx(0.5 * pseudo.std() / x.std(), rel=0.02)
    assert worth == pytest.approx(1_000.0 * x.var() / pseudo.var(), rel=0.05)


@pytest.mark.parametrize(("times", "warned"), [(0.98, False), (1.02, True)])
def test_noise_is_too_wide_where_the_variance_is_five_times_that_without(times, warned):
    """1 + (1 - p) s^2 / V = 5 at s = 2 sd / sqrt(1 - p)."""
    sigma = times * 2.0 * EVEN.std() / np.sqrt(0.4)
    assert (masked(EVEN, cm.ConditionalMasking(0.6, sigma))[1] != []) is warned


def test_of_strata_the_worst_counts_after_reverse_mapping_as_it_does_for_analysts():
    narrow = np.where(GROUP == "a", EVEN / 5.0, EVEN)
    scheme = cm.ReverseMapping(0.6, 11.0, aggregate_ends=3)
    options = {"strata": "group", "accept": "all"}
    whole, said_of_whole = masked({"x": EVEN, "group": GROUP}, scheme, **options)
    release, (text,) = masked({"x": narrow, "group": GROUP}, scheme, **options)

    assert said_of_whole == []
    assert release["x"].N > 5.0 > whole["x"].N
    narrower = usefulness.with_sigma(scheme, sigma_of(text))
    again, nothing = masked({"x": narrow, "group": GROUP}, narrower, **options)
    assert nothing == []
    assert again["x"].N <= 1.5


def test_columns_masked_together_have_a_sigma_each():
    table = {"x": EVEN, "y": 10.0 * EVEN + np.round(RNG.normal(0.0, 100.0, N), 2), "z": SKEWED}
    schemes = {
        "x": MAPPED,
        "y": usefulness.with_sigma(MAPPED, 900.0),
        "z": usefulness.with_sigma(MAPPED, 300.0),
    }
    _, texts = masked(table, schemes)
    found = dict(re.search(r"pass sigma=(\S+) for (\S+)$", text).groups()[::-1] for text in texts)

    assert list(found) == ["x", "y"]
    assert [text.partition(":")[0] for text in texts] == ["C23 x", "C23 y"]
    changed = {
        name: usefulness.with_sigma(schemes[name], float(sigma)) for name, sigma in found.items()
    }
    release, nothing = masked(table, schemes | changed)
    assert nothing == []
    assert max(release[name].N for name in found) <= 1.5


@pytest.mark.slow
def test_noise_is_as_narrow_as_the_audit_lets_it_be():
    """Four columns that say the same average the noise out, so the first goal, N = 1.5, shows too
    much."""
    x = EVEN[:1_000]
    noises = np.random.default_rng(3).normal(0.0, 0.1, (4, x.size))
    table = {name: (x + noise).round(2) for name, noise in zip("abcd", noises, strict=True)}
    wide = dict.fromkeys(table, usefulness.with_sigma(MAPPED, 60.0))
    limit = {"max_lift": 0.015}
    _, texts = masked(table, wide, **limit)
    sigma = {
        name: float(re.search(rf"sigma=(\S+) for {name}$", text)[1])
        for name, text in zip("abcd", texts, strict=True)
    }

    schemes = {name: usefulness.with_sigma(MAPPED, sigma[name]) for name in table}
    release, nothing = masked(table, schemes, **limit)
    assert nothing == []
    assert all(1.5 < release[name].N <= np.sqrt(5.0) for name in table)


@pytest.mark.parametrize("most", [1, 0])
def test_where_no_sigma_passes_columns_are_to_be_left_out(most, monkeypatch):
    """An audit that accepts the wide noise, and otherwise so many columns at most."""
    monkeypatch.setattr(
        usefulness,
        "audit_table",
        lambda table, schemes, limits: SimpleNamespace(refused=len(schemes) > most),
    )
    y = usefulness.with_sigma(MAPPED, 150.0)
    _, texts = masked({"x": EVEN, "y": 10.0 * RNG.permutation(EVEN)}, {"x": MAPPED, "y": y})
    assert len(texts) == 1
    if most:
        call = re.search(r"together: drop y, pass (\{.*\})$", texts[0])
        release, nothing = masked(EVEN, eval(call[1], {"cm": cm}))
        sigma = release.schemes["x"].sigma
        assert (
            in_shell(call[1])
            == f"-c x --reverse-mapping --p 0.6 --sigma {sigma:g} --aggregate-ends 3"
        )
        assert nothing == []
    else:
        assert texts[0].endswith(
            "; narrower noise is refused: release fewer columns that tell of each other"
        )


@pytest.mark.parametrize(
    ("scheme", "step"),
    [
        (cm.ConditionalMasking(0.6, 70.0), 2.0**-9),  # the power of two below .003
        (cm.ConditionalMasking(0.6, 70.0, step=0.5), 0.5),
        (cm.ConditionalMasking(0.6, 70.0, decimals=1), 0.1),
    ],
)
def test_another_sigma_changes_a_default_step_and_no_other(scheme, step):
    other = usefulness.with_sigma(scheme, 3.0)
    assert other.sigma == 3.0
    assert other.step == pytest.approx(step, rel=1e-12)
    assert (other.p, other.decimals, other.rounds) == (0.6, scheme.decimals, scheme.rounds)


def test_another_sigma_changes_nothing_else_of_reverse_mapping():
    other = usefulness.with_sigma(MAPPED, 3.0)
    assert other.to_dict() == MAPPED.to_dict() | {"sigma": 3.0}


def test_who_accepts_wide_noise_is_not_warned_of_it():
    release, said = masked(EVEN, NOISE, accept="C23")
    assert said == []
    assert release.accepted == ("C23",)
    assert len(masked(EVEN, NOISE, accept="C22")[1]) == 1


@pytest.mark.parametrize("options", [{}, {"part_rows": 500}, {"accept": "all"}])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.filterwarnings("ignore:.*aggregate_ends", f"error:.*{SAID}")
def test_a_file_is_spoken_of_before_it_is_written(kind, options, tmp_path):
    frame = pd.DataFrame({"x": EVEN})
    source = tmp_path / f"x.{kind}"
    target = tmp_path / f"z.{kind}"
    {"csv": frame.to_csv, "parquet": frame.to_parquet}[kind](source, index=False)
    for dry_run in (True, False):
        with pytest.raises(cm.ReleaseWarning, match=SAID):  # which stops it here
            cm.mask_file(source, target, {"x": MAPPED}, dry_run=dry_run, log=False, **options)
        assert not target.exists()


def test_the_command_says_it_and_what_it_names_passes(tmp_path, capsys):
    source = tmp_path / "x.csv"
    pd.DataFrame({"x": SKEWED}).to_csv(source, index=False)
    words = [
        "mask",
        str(source),
        str(tmp_path / "z.csv"),
        "-c",
        "x",
        "--no-log",
        "--p",
        ".6",
        "--scale",
        "log",
    ]
    words += ["--reverse-mapping", "--aggregate-ends", "3"]
    assert main([*words, "--sigma", "3", "--dry-run"]) == 3
    said = capsys.readouterr().err
    assert re.search(f"^warning: C23 x: {SAID}", said, re.MULTILINE)
    sigma = re.search(r"pass --sigma (\S+)$", said, re.MULTILINE)[1]

    assert main([*words, "--sigma", sigma]) == 0
    assert SAID not in capsys.readouterr().err


def test_methods_that_swap_nothing_and_constant_columns_are_not_spoken_of():
    assert masked(EVEN, cm.AdditiveNoise(1_000.0))[1] == []
    constant = np.full(N, 5.0)
    assert masked(constant, cm.ConditionalMasking(0.6, 70.0, step=0.5), accept="all")[1] == []


# --- columns masked together, chosen by their names ---


def test_a_choice_for_several_columns_says_what_has_no_interval(tmp_path, capsys):
    pd.DataFrame({"x": EVEN, "y": SKEWED}).to_csv(tmp_path / "x.csv", index=False)
    words = ("mask", str(tmp_path / "x.csv"), str(tmp_path / "z.csv"), "--no-log", "-c", "x")
    assert main([*words, "-c", "y", "--dry-run"]) == 0

    for name, other, line in zip(
        "xy", "yx", capsys.readouterr().err.splitlines()[-2:], strict=True
    ):
        assert line.startswith(f"{name}: --reverse-mapping --p 0.6 ")
        assert (
            f"masked together, so relations with {other} have estimates without intervals" in line
        )
    assert main(words) == 0
    assert "interval" not in capsys.readouterr().err


def test_what_a_choice_says_has_intervals_has_them():
    w = np.round(EVEN / 3.0 + RNG.normal(0.0, 9.0, N), 1)
    release = cm.mask_table(
        pd.DataFrame({"x": EVEN, "y": SKEWED, "w": w, "group": GROUP}), ["x", "y"], rng=1
    )
    estimate = release["x"]

    assert np.isfinite(estimate.correlation_interval(w).low)
    assert np.isfinite(estimate.group_means(GROUP)["a"].low)
    assert np.isfinite(estimate.regress({"w": w})["w"].low)
    with pytest.warns(cm.EstimateWarning, match="masked together by reverse mapping is not known"):
        assert np.isnan(estimate.correlation_interval(release["y"]).standard_error)
