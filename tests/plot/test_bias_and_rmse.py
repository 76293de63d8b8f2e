"""The picture of a study, read back from its axes. Oracle: the rows of the study."""

import pytest
from pictures import study


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
