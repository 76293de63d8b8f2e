"""What a brief look at columns decides, on both sides of each threshold: six tenths of what is visible."""

import numpy as np
import pytest

import condmask as cm
from condmask.audit_input import AuditInput
from condmask.disclosure import release_audit, swap_attack
from condmask.disclosure.swap_attack import Figures

A_BIT = 1e-4  # of a share: to either side of a threshold


def clear(monkeypatch, *found):
    """Whether a brief look at so many columns, of which it finds these figures, is all that is needed."""
    stream, figures = np.random.default_rng(1), iter(found)
    names = "ab"[: len(found)]
    columns = {name: stream.normal(0.0, 100.0, 400) for name in names}
    monkeypatch.setattr(swap_attack, "figures", lambda *_, **__: next(figures))
    data = AuditInput(columns, dict.fromkeys(names, "float64"), {}, None)
    return release_audit.nothing_visible(data, dict.fromkeys(names, cm.ConditionalMasking(0.6, 20.0)))


def figures(more=0.0, certain=0.0, unchanged=0.0):
    return Figures(0.6, 0.6 + more, certain, unchanged, 0.6 + more, 0.0)


@pytest.mark.parametrize(
    ("found", "enough"),
    [
        ([figures(more=0.6 * 0.12 - A_BIT)], True),
        ([figures(more=0.6 * 0.12 + A_BIT)], False),
        ([figures(certain=0.6 * 0.10 - A_BIT)], True),
        ([figures(certain=0.6 * 0.10 + A_BIT)], False),
        ([figures(unchanged=0.25 - A_BIT)], True),
        ([figures(unchanged=0.25 + A_BIT)], False),
        # columns share their coins: what each tells adds up
        ([figures(more=0.3 * 0.12 - A_BIT), figures(more=0.3 * 0.12 - A_BIT)], True),
        ([figures(more=0.3 * 0.12 + A_BIT), figures(more=0.3 * 0.12 + A_BIT)], False),
    ],
)
def test_a_brief_look_decides_up_to_six_tenths_of_what_is_visible(monkeypatch, found, enough):
    assert clear(monkeypatch, *found) is enough


def test_a_brief_look_is_not_enough_where_the_grid_or_the_coin_is_to_be_warned_of():
    x = np.random.default_rng(1).normal(0.0, 100.0, 400)
    data = AuditInput({"a": x}, {"a": "float64"}, {}, None)

    assert release_audit.nothing_visible(data, {"a": cm.ConditionalMasking(0.6, 20.0)})
    assert not release_audit.nothing_visible(data, {"a": cm.ConditionalMasking(0.6, 20.0, step=0)})
    assert not release_audit.nothing_visible(data, {"a": cm.ConditionalMasking(0.91, 20.0)})
