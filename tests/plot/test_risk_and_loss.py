"""The picture of a plan, read back from its axes. Oracle: the plan."""

import numpy as np
from pictures import plan


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
