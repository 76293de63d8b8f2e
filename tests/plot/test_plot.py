"""Pictures, read back from their axes, and images that were looked at.

Oracles: the band and T as the estimate gives them; the rows of a study, a comparison and a plan.
"""

import re
import sys
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from pictures import PICTURES, SCHEME, comparison, drawn, originals, plan, stored, study

import condmask as cm
from condmask.plot.panels import COLOURS, escaped_name, plain_numbers


def release(**options):
    x = originals(200)
    masked = cm.mask_table({"income": x}, {"income": SCHEME}, rng=2, accept="all")
    return cm.plot_release(x, masked, rng=3, **options)


def cdf(path=None, **options):
    return SCHEME.estimate(SCHEME.mask(originals(200), rng=2)).plot_cdf(path, rng=3, **options)


PLOTS = {  # by name: the function, and its number of panels
    "plan": (lambda **options: plan().plot(**options), 2),
    "study": (lambda **options: study().plot(**options), 2),
    "comparison": (lambda **options: comparison().plot(**options), 3),
    "cdf": (cdf, 1),
    "release": (release, 2),
}
each_plot = pytest.mark.parametrize(("draw", "count"), PLOTS.values(), ids=PLOTS)


@each_plot
def test_a_new_figure_is_shown_by_pyplot_and_its_axes_come_back(draw, count):
    pyplot.close("all")  # what other tests of this process have left open
    axes = draw()

    assert np.shape(axes) == (() if count == 1 else (count,))
    assert all(isinstance(each, Axes) for each in np.ravel(axes))
    assert [pyplot.figure(number) for number in pyplot.get_fignums()] == [np.ravel(axes)[0].figure]


@each_plot
def test_a_picture_that_is_written_opens_no_window(draw, count, tmp_path):
    draw(path=tmp_path / "a.png")

    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == []


@each_plot
def test_axes_that_are_given_are_drawn_into_and_keep_their_labels(draw, count):
    given = Figure().subplots(1, count, squeeze=False)[0]
    given[0].set_xlabel("mine")

    found = draw(ax=given if count > 1 else given[0])

    assert list(np.ravel(found)) == list(given)
    assert all(each.has_data() for each in given)
    assert given[0].get_xlabel() == "mine"
    assert given[0].get_ylabel() != ""
    assert pyplot.get_fignums() == []


def test_axes_must_be_axes_and_as_many_as_panels():
    with pytest.raises(TypeError, match=r"^ax must be matplotlib Axes, got str$"):
        cdf(ax="here")
    with pytest.raises(
        ValueError, match=r"^ax must be as many Axes as there are panels, 1, got 4$"
    ):
        cdf(ax=Figure().subplots(2, 2))


def test_a_file_name_tells_a_format(tmp_path):
    with pytest.raises(ValueError, match=r"^path must end in one of .*png.*, got .*a\.doc$"):
        cdf(tmp_path / "a.doc")
    with pytest.raises(ValueError, match=r"^path must be a file in a folder that can be written"):
        cdf(tmp_path / "nowhere" / "a.png")


def test_without_matplotlib_one_sentence_says_so(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("condmask.plot")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)

    message = (
        r"^a figure needs matplotlib, which is not installed: pip install 'condmask\[plot\]'$"
    )
    with pytest.raises(ModuleNotFoundError, match=message) as info:
        study().plot()
    assert info.value.name == "matplotlib"


@pytest.mark.parametrize("name", PICTURES)
def test_ticks_are_plain_numbers_and_no_picture_has_a_title(name):
    axes = np.ravel(PICTURES[name]())
    axes[0].figure.canvas.draw()

    for panel in axes:
        for axis in (panel.xaxis, panel.yaxis):
            ticks = [label.get_text() for label in axis.get_ticklabels() if label.get_visible()]
            # methods have names
            shown = [tick for tick in ticks if not re.fullmatch(r"[a-z][\w ,]*", tick)]
            assert all(re.fullmatch("\N{MINUS SIGN}?[\\d,]+(\\.\\d+)?", tick) for tick in shown), (
                shown
            )
            assert axis.get_offset_text().get_text() == ""
        assert panel.get_title() == ""
    assert axes[0].figure.get_suptitle() == ""


@pytest.mark.parametrize(
    ("limits", "log", "ticks"),
    [
        ((0.0, 1.0), False, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ((-2e6, 2e6), False, ["0", "500,000", "1,000,000", "1,500,000", "2,000,000"]),
        ((0.0, 4e-6), False, ["0", "0.000001", "0.000002", "0.000003", "0.000004"]),
        ((1_000_000.0, 1_000_000.5), False, ["1,000,000", "1,000,000.1", "1,000,000.2"]),
        ((1.0, 6.0), True, ["1", "1.5", "2", "3", "4", "5"]),
        ((1.0, 60.0), True, ["1", "2", "5", "10", "20", "50"]),
        ((0.002, 2_000.0), True, ["0.01", "0.1", "1", "10", "100", "1,000"]),
        (
            (1e-9, 1e9),
            True,
            ["0.000000001", "0.000001", "0.001", "1", "1,000", "1,000,000", "1,000,000,000"],
        ),
    ],
)
def test_numbers_are_written_out(limits, log, ticks):
    ax = Figure().subplots()
    ax.set(xlim=limits, xscale="log" if log else "linear")
    plain_numbers(ax.xaxis)

    low, high = limits
    within = [at for at in ax.xaxis.get_major_locator()() if low <= at <= high * (1.0 + 1e-12)]
    shown = [ax.xaxis.get_major_formatter()(at) for at in within]

    # a linear axis may have more ticks between these
    assert (shown == ticks) if log else set(ticks) <= set(shown)


def test_a_negative_number_has_a_minus_and_no_hyphen():
    ax = Figure().subplots()
    ax.set_xlim(-200.0, 200.0)
    plain_numbers(ax.xaxis)

    assert ax.xaxis.get_major_formatter()(-100.0) == "\N{MINUS SIGN}100"
    assert ax.xaxis.get_major_formatter()(-1e-14) == "0"


@pytest.mark.parametrize(
    ("name", "shown"),
    [("income", "income"), ("$ or $ \\alpha", "$ or $ \\alpha"), ("n" * 99, "n" * 29 + "…")],
)
def test_a_name_is_shown_as_it_is(name, shown):
    figure = Figure()
    label = figure.text(0.5, 0.5, escaped_name(name))
    figure.canvas.draw()

    # what matplotlib draws: no formula, and dollar signs without what kept them from being one
    drawn, formula = label._preprocess_math(label.get_text())
    assert (drawn, formula) == (shown, False)


# Viénot, Brettel and Mollon (1999): what is left of linear red, green, blue without one kind of
# cone
SEEN = {
    "without long ones": [
        [0.11238, 0.88762, 0.0],
        [0.11238, 0.88762, 0.0],
        [0.00401, -0.00401, 1.0],
    ],
    "without middle ones": [
        [0.29275, 0.70725, 0.0],
        [0.29275, 0.70725, 0.0],
        [-0.02234, 0.02234, 1.0],
    ],
}


def test_colours_differ_for_colour_blind_readers():
    linear = np.array([to_rgb(colour) for colour in COLOURS]) ** 2.2

    for matrix in SEEN.values():
        left = np.clip(linear @ np.transpose(matrix), 0.0, 1.0) ** (1 / 2.2)
        # of the default colours of matplotlib two are .04 apart
        assert min(np.linalg.norm(a - b) for a, b in combinations(left, 2)) > 0.12


# Root of the mean squared difference of greys, 0 to 255. matplotlib 3.9.4 and 3.11.2 differ by
# .14, which is what rounding to whole greys makes; without any one line, marker or bar it is .4 or
# more.
TOLERANCE = 0.3


def distance(image, other):
    """Without the last squares at an edge: versions of matplotlib round the size of a figure
    differently."""
    rows, columns = np.minimum(image.shape, other.shape)
    assert np.abs(np.subtract(image.shape, other.shape)).max() <= 1
    return np.sqrt(np.mean((image[:rows, :columns] - other[:rows, :columns]) ** 2))


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_was(name):
    assert distance(drawn(name), stored(name)) <= TOLERANCE


@pytest.fixture(scope="session")
def estimate():
    return SCHEME.estimate(SCHEME.mask(originals(), rng=2))


def line_and_edge(ax):
    """The line, and the lower and upper edge of the band by x."""
    (line,) = ax.get_lines()
    (band,) = ax.collections
    return np.column_stack(line.get_data()), band.get_paths()[0].vertices


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_picture_has_t_rearranged_and_its_band(estimate):
    ax = estimate.plot_cdf(rng=3, confidence_level=0.9, target="file")
    line, edge = line_and_edge(ax)
    band = estimate.cdf_band(rng=3, confidence_level=0.9, target="file")

    assert np.isin(band.x, line[:, 0]).all()
    below = band.x[0] - line[0, 0]
    above = line[-1, 0] - band.x[-1]
    assert below == pytest.approx(above)
    assert 0.01 < above / np.ptp(band.x) < 0.5
    assert np.array_equal(line[:, 1], estimate.cdf(line[:, 0], monotone=True))
    assert (line[0, 1], line[-1, 1]) == pytest.approx((0.0, 1.0), abs=2 * band.half_width)
    # edges run along both sides, each a T that is shifted by the half width and cut off at 0 and 1
    at = edge[:, 0]
    height = edge[:, 1]
    for sign, end in ((1.0, 1.0), (-1.0, 0.0)):
        wanted = sign * np.minimum(sign * (line[:, 1] + sign * band.half_width), sign * end)
        known = set(zip(at, height, strict=True))
        assert set(zip(line[:-1, 0], wanted[:-1], strict=True)) <= known
    assert legend(ax) == ["90% band for the original file", "estimate"]


def test_a_column_with_a_name_is_called_by_it():
    z = pd.Series(SCHEME.mask(originals(), rng=2), name="income")
    ax = SCHEME.estimate(z).plot_cdf(rng=3)

    assert ax.get_ylim() == (-0.02, 1.02)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("income", "share of records at or below")
    assert legend(ax) == ["95% band for the population", "estimated income"]


def test_a_second_one_in_the_same_axes_looks_different(estimate):
    ax = estimate.plot_cdf(rng=3)
    estimate.plot_cdf(ax=ax, rng=3, target="file")

    one, other = ax.get_lines()
    assert one.get_color() != other.get_color()
    assert one.get_linestyle() != other.get_linestyle()
    assert ax.get_xlabel() == "value"
    assert legend(ax)[2:] == ["95% band for the original file", "estimate"]


@pytest.mark.parametrize(
    "z",
    [[5.0, 9.0], [7.0, 7.0, 7.0], np.arange(20)],
    ids=["two records", "one value", "whole numbers"],
)
def test_few_records_have_a_picture_too(z):
    line, edge = line_and_edge(SCHEME.estimate(z).plot_cdf(rng=1))

    assert np.isfinite(line).all()
    assert ((edge[:, 1] >= 0.0) & (edge[:, 1] <= 1.0)).all()


def test_lines_and_bars_are_those_of_the_study_and_the_legend_says_so():
    result = study()
    panels = result.plot()
    rows = {(row["estimator"], row["statistic"]): row for row in result.rows()}
    q = (0.1, 0.3, 0.5, 0.7, 0.9)

    for panel, what in zip(panels, ("bias", "rmse"), strict=True):
        for container, estimator in zip(panel.containers, ("T_1", "T_b"), strict=False):
            line, _, (bars,) = container
            wanted = [rows[estimator, f"quantile {at:g}"] for at in q]
            assert line.get_xdata().tolist() == list(q)
            assert line.get_ydata().tolist() == [row[what] for row in wanted]
            lengths = [segment[1, 1] - segment[0, 1] for segment in bars.get_segments()]
            assert lengths == pytest.approx([4.0 * row[f"{what}_se"] for row in wanted])
            assert min(lengths) > 0.0
    legend = panels[0].get_legend()
    assert legend.get_title().get_text() == "bars: ±2 Monte Carlo standard errors"
    assert [text.get_text() for text in legend.get_texts()] == [
        "masked, T_1",
        "masked, T_b",
        "noise, ANM: not available",
    ]


def test_a_study_without_quantiles_has_no_picture():
    with pytest.raises(ValueError, match=r"^a study must have quantiles for a picture, got none$"):
        study(quantiles=()).plot()


LABELS = [
    "conditional masking, T_1",
    "conditional masking, T_b",
    "reverse mapping",
    "normal noise",
    "multiplicative noise",
    "data shuffling",
]


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
        [(escaped_name.get_text(), escaped_name.get_position()[1]) for escaped_name in panel.texts]
        for panel in comparison().plot()
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
    legend = [text.get_text() for text in made.plot()[0].get_legend().get_texts()]
    assert legend == [
        "frontier",
        "beyond the caps",
        "keeps the caps",
        "refused by the audit",
        "most useful",
        "balanced",
        "safest",
        "a constant guess",
        "cap",
    ]
    uncapped = plan(caps={}, allowed=np.ones(12, bool), suggestions={})
    free = [
        escaped_name.get_text() for escaped_name in uncapped.plot()[0].get_legend().get_texts()
    ]
    assert free == ["frontier", "scheme", "refused by the audit", "a constant guess"]
