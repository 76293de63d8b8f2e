"""Pictures of a study, a comparison and a plan, read back from their axes. Oracles: their rows."""

import numpy as np
import pytest
from pictures import comparison, plan, study


def test_lines_and_bars_are_those_of_the_study():
    result = study()
    rows = {(row["estimator"], row["statistic"]): row for row in result.rows()}
    q = (0.1, 0.3, 0.5, 0.7, 0.9)

    for panel, what in zip(result.plot(), ("bias", "rmse"), strict=True):
        for container, estimator in zip(panel.containers, ("T_1", "T_b"), strict=False):
            line, _, (bars,) = container
            wanted = [rows[estimator, f"quantile {at:g}"] for at in q]
            assert line.get_xdata().tolist() == list(q)
            assert line.get_ydata().tolist() == [row[what] for row in wanted]
            lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
            assert lengths == pytest.approx([4.0 * row[f"{what}_se"] for row in wanted])
            assert min(lengths) > 0.0


def test_the_legend_says_what_bars_are_and_what_is_not_there():
    bias, _ = study().plot()
    legend = bias.get_legend()

    assert legend.get_title().get_text() == "bars: ±2 Monte Carlo standard errors"
    assert [text.get_text() for text in legend.get_texts()] == [
        "masked, T_1", "masked, T_b", "noise, ANM: not available",
    ]  # fmt: skip


def test_a_study_without_quantiles_has_no_picture():
    with pytest.raises(ValueError, match=r"^a study must have quantiles for a picture, got none$"):
        study(quantiles=()).plot()


LABELS = [
    "conditional masking, T_1", "conditional masking, T_b", "reverse mapping", "normal noise",
    "multiplicative noise", "data shuffling",
]  # fmt: skip


def dots(panel):
    (line,) = [line for line in panel.lines if line.get_marker() == "o"]
    return dict(zip(line.get_ydata().tolist(), line.get_xdata().tolist(), strict=True))


def test_dots_are_errors_as_multiples_of_those_of_the_first_method():
    mean, deviation, deciles = comparison().plot()

    assert dots(mean) == {0: 1.0, 1: 1.0, 2: 0.0, 3: 1.8, 4: 2.5}
    assert dots(deviation) == {0: 1.0, 1: 1.0, 2: 0.0, 3: 25.0 / 12.0, 4: 500.0 / 12.0}
    assert dots(deciles) == {0: 1.0, 1: 0.9, 2: 0.0, 4: 70.0 / 30.0}
    assert [label.get_text() for label in mean.get_yticklabels()] == LABELS
    assert mean.get_xlabel() == "error of the mean\n(1 = conditional\nmasking, T_1)"
    assert mean.get_ylabel() == "masking of income"


def test_what_a_method_cannot_give_is_written_out():
    written = [
        [(text.get_text(), text.get_position()[1]) for text in panel.texts] for panel in comparison().plot()
    ]

    untuned = ("not available", 5)
    assert written == [[untuned], [untuned], [("not available", 3), untuned]]


def test_where_the_first_method_is_exact_the_next_one_with_an_error_is_the_measure():
    rows = comparison().rows[2:]
    mean, *_ = comparison(rows=rows, missing={}).plot()

    assert dots(mean) == {0: 0.0, 1: 1.0, 2: 25.0 / 18.0}
    assert mean.get_xlabel() == "error of the mean\n(1 = normal noise)"


def lines(panel):
    return {line.get_label(): line for line in panel.lines}


def points(line):
    return sorted(zip(*line.get_data(), strict=True))


def test_each_group_of_schemes_is_where_the_plan_has_it_and_has_a_look_of_its_own():
    made = plan()
    risks = np.array([candidate.risk for candidate in made.candidates])
    loss = np.array([candidate.loss for candidate in made.candidates])
    groups = {
        "refused by the audit": made.refused,
        "keeps the caps": made.allowed & ~made.refused,
        "beyond the caps": ~made.allowed & ~made.refused,
    }

    for k, panel in enumerate(made.plot()):
        found = lines(panel)
        for label, rows in groups.items():
            assert rows.any()
            assert points(found[label]) == sorted(zip(risks[rows, k], loss[rows], strict=True))
        looks = {(found[label].get_marker(), found[label].get_fillstyle()) for label in groups}
        assert len(looks) == 3


def test_the_legend_says_what_is_there_and_nothing_else():
    legend = [text.get_text() for text in plan().plot()[0].get_legend().get_texts()]

    assert legend == [
        "frontier", "beyond the caps", "keeps the caps", "refused by the audit", "most useful", "balanced",
        "safest", "a constant guess", "cap",
    ]  # fmt: skip
    uncapped = plan(caps={}, allowed=np.ones(12, bool), suggestions={})
    free = [text.get_text() for text in uncapped.plot()[0].get_legend().get_texts()]
    assert free == ["frontier", "scheme", "refused by the audit", "a constant guess"]
