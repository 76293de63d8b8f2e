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
OUTSIDE, SEX = " No value lies outside of {}.", " of the same sex and age"
EACH = ", except that means stand for the 3 smallest and the 3 largest values of each sex and age"
SENTENCES = [
    ({"step": 0}, NOISE.format("", "normal", "")),
    ({"step": 0.25, "range": (0, None)}, (" Values are multiples of 0.25.", "at least 0")),
    ({"decimals": 2, "range": (None, 9)}, (" Values have 2 decimals.", "at most 9")),
    ({"decimals": 0, "range": (0, 9)}, ("", "0 to 9")),
    ({"decimals": -1, "strata": ["sex", "age"], "noise": "laplace"}, NOISE.format(SEX, "laplace", "")),
    ({"reverse_mapping": True, "scale": "log"}, MAPPED.format("", "", "", " of the logarithm", "")),
    (
        {"reverse_mapping": True, "aggregate_ends": 3, "strata": ["sex", "age"], "range": (0, 9)},
        MAPPED.format(EACH, SEX, SEX, "", OUTSIDE.format("0 to 9")),
    ),
]


@pytest.mark.parametrize(("options", "sentence"), SENTENCES)
def test_what_was_done_is_said_in_a_few_sentences(options, sentence):
    scheme = cm.ConditionalMasking(0.6, 20.0, **options)
    if isinstance(sentence, tuple):
        sentence = NOISE.format("", "normal", sentence[0] + OUTSIDE.format(sentence[1]))

    assert scheme.sentence() == with_rounding(scheme, ()) == sentence
    moved = with_rounding(scheme, (0.02, -0.5))
    assert moved.startswith(
        f"{sentence} Before, the data were rounded to that, which moved their mean by +0.02 "
    )
