"""The parameters of a scheme, an option for each, and schemes in words for readers of a release."""

from dataclasses import fields

import pytest

import condmask as cm
from condmask.cli.options import SchemeOptions
from condmask.schemes.description import with_rounding
from condmask.schemes.parameters import WITH, WITHOUT


def test_the_command_line_has_an_option_for_each():
    options = {field.name for field in fields(SchemeOptions)} - {"columns"}
    assert options == {field.name for field in fields(cm.ConditionalMasking)}


@pytest.mark.parametrize("name", WITH)
def test_what_belongs_to_reverse_mapping_is_refused_without(name):
    value = {"scale": "log", "aggregate_ends": 3}[name]

    assert getattr(cm.ConditionalMasking(0.6, 2.0, reverse_mapping=True, **{name: value}), name) == value
    with pytest.raises(ValueError, match=f"^{name} must be .* unless reverse_mapping=True, got {value!r}$"):
        cm.ConditionalMasking(0.6, 2.0, **{name: value})


def test_the_ends_of_what_is_allowed_are_allowed():
    for places in (-15, 15):
        assert cm.ConditionalMasking(0.6, 10.0 ** max(-places, -5), decimals=places).decimals == places
    assert cm.ConditionalMasking(0.6, 2.0, reverse_mapping=True, aggregate_ends=2).aggregate_ends == 2
    with pytest.raises(ValueError, match="from -15 to 15"):
        cm.ConditionalMasking(0.6, 1e16, decimals=-16)


@pytest.mark.parametrize("name", WITHOUT)
def test_what_reverse_mapping_rules_out_is_refused_with_it(name):
    value = {"donors": "sample", "decimals": 2, "step": 0.5}[name]

    assert getattr(cm.ConditionalMasking(0.6, 2.0, **{name: value}), name) == value
    with pytest.raises(ValueError, match=f"^{name} must be .* where reverse_mapping=True, got {value!r}: "):
        cm.ConditionalMasking(0.6, 2.0, reverse_mapping=True, **{name: value})


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
