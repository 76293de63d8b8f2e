"""The picture of a comparison, read back from its axes. Oracle: its rows."""

from pictures import comparison

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
