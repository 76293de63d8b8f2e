"""Schemes in words, for readers of a release. Oracle: the sentences as they are to be read."""

import pytest

import condmask as cm
from condmask.schemes.description import with_rounding

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
ENDS = ", except that means stand for the 3 smallest and the 3 largest values"
SEX, LOG, NONE = " of the same sex and age", " of the logarithm", " No value lies outside of "


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"step": 0}, NOISE.format("", "normal", "")),
        ({"step": 0.25}, NOISE.format("", "normal", " Values are multiples of 0.25.")),
        ({"decimals": 2, "noise": "laplace"}, NOISE.format("", "laplace", " Values have 2 decimals.")),
        ({"decimals": 0, "range": (0, 9)}, NOISE.format("", "normal", f"{NONE}0 to 9.")),
        ({"decimals": -1, "strata": ["sex", "age"]}, NOISE.format(SEX, "normal", "")),
        ({"decimals": 0, "range": (0, None)}, NOISE.format("", "normal", f"{NONE}at least 0.")),
        ({"decimals": 0, "range": (None, 9)}, NOISE.format("", "normal", f"{NONE}at most 9.")),
        ({"reverse_mapping": True}, MAPPED.format("", "", "", "", "")),
        (
            {"reverse_mapping": True, "aggregate_ends": 3, "scale": "log"},
            MAPPED.format(ENDS, "", "", LOG, ""),
        ),
        (
            {"reverse_mapping": True, "aggregate_ends": 3, "strata": ["sex", "age"], "range": (0, 9)},
            MAPPED.format(f"{ENDS} of each sex and age", SEX, SEX, "", f"{NONE}0 to 9."),
        ),
    ],
)  # fmt: skip
def test_what_was_done_is_said_in_a_few_sentences(options, sentence):
    scheme = cm.ConditionalMasking(0.6, 20.0, **options)

    assert scheme.sentence() == sentence
    assert with_rounding(scheme, ()) == sentence
    moved = with_rounding(scheme, (0.02, -0.5))
    assert moved.startswith(
        f"{sentence} Before, the data were rounded to that, which moved their mean by +0.02 "
    )
    assert "largest value by -0.5:" in moved


def test_other_methods_say_what_they_did():
    assert (
        cm.AdditiveNoise(3.0).sentence() == "laplace noise of standard deviation 3 was added to every value."
    )
    assert (
        cm.MultiplicativeNoise(0.3)
        .sentence()
        .startswith("every value was multiplied by a random factor of mean")
    )
    assert cm.RankSwapping(5.0).sentence() == "masked by RankSwapping(percent=5.0)."


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, ""),
        ({"step": 0}, ", step=0.0"),
        ({"step": 0.5}, ", step=0.5"),
        ({"decimals": 1}, ", decimals=1"),
        ({"donors": "sample", "decimals": 1, "strata": "sex"}, ", donors='sample', decimals=1, strata='sex'"),
    ],
)
def test_a_scheme_is_shown_without_defaults(options, shown):
    assert (
        repr(cm.ConditionalMasking(0.6, 20.0, **options)) == f"ConditionalMasking(p=0.6, sigma=20.0{shown})"
    )
