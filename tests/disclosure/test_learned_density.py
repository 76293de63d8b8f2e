"""The law that somebody learned: it is one, near the data's, and knows digits where classes do."""

import numpy as np
import pytest

import condmask as cm
from condmask.disclosure import digit_classes
from condmask.disclosure.folds import count_by_fold
from condmask.disclosure.learned_density import MARGIN, best_classes, learn

LAW = cm.ConditionalMasking(0.6, 4.0, step=1).law
TENS = np.rint(np.random.default_rng(7).normal(0.0, 40.0, 2_000) / 10) * 10


def folded(units):
    return count_by_fold(units.astype(np.int64), np.zeros(units.size, dtype=np.int64), 1, LAW)


def support(file):
    margin = int(np.ceil(MARGIN * file.sigma)) + 2
    return np.arange(int(file.values[0]) - 40 * margin, int(file.values[-1]) + 40 * margin)


@pytest.mark.parametrize("classes", [digit_classes.ONE_CLASS, digit_classes.residues(10)])
def test_shares_add_up_to_one_and_to_what_lies_below(classes):
    file = folded(TENS)
    law, points = learn(file, file.counts, classes), support(file)
    density = law.density(points)

    assert density.sum() == pytest.approx(1.0, abs=1e-9)
    assert (density >= 0.0).all()
    some = slice(0, None, 997)
    assert law.below(points[some]) == pytest.approx((np.cumsum(density) - density)[some], abs=1e-9)


def test_last_digits_are_known_where_classes_have_them():
    file = folded(TENS)
    points = np.arange(-50, 50)
    plain = learn(file, file.counts, digit_classes.ONE_CLASS).density(points)
    tens = learn(file, file.counts, digit_classes.residues(10)).density(points)

    assert tens[points % 10 == 0].sum() > 0.99 * tens.sum()
    # of 2,000 records one in two lies within 27, two in three within 40
    assert tens.sum() == pytest.approx(np.mean((TENS >= -50) & (TENS < 50)), abs=0.05)
    assert plain.sum() == pytest.approx(tens.sum(), abs=0.05)


def test_classes_are_taken_where_they_say_clearly_more():
    even, tens = np.rint(np.random.default_rng(8).normal(0.0, 40.0, 2_000)), digit_classes.residues(10)

    assert best_classes(folded(TENS), [tens])[0] is tens
    assert best_classes(folded(even), [tens])[0] is digit_classes.ONE_CLASS
