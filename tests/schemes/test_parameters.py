"""The parameters of a scheme: an option for each, and what reverse mapping allows."""

from dataclasses import fields

import pytest

import condmask as cm
from condmask.cli.options import SchemeOptions
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
