"""The public pictures, drawn from fixed inputs, and small grey images of them.

``python tests/pictures.py`` draws the stored images anew; look at what `git diff` shows before you
keep them.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.image import imread, imsave
from matplotlib.text import Text
from scipy.stats import norm

import condmask as cm
from condmask.planning.candidates import Candidate
from condmask.planning.plan_result import Plan
from condmask.studies.compare import MethodComparison
from condmask.studies.result import StudyColumn, StudyResult

FOLDER = Path(__file__).with_name("plot") / "images"
DPI = 100
BLOCK = 4  # pixels of an inch, and of a side of the squares that an image has the means of
SCHEME = cm.ConditionalMasking(0.4, 700.0)


def plan(**changes):
    """A plan of twelve schemes at two distances, one of them refused, with caps and three
    suggestions."""
    p = np.repeat([0.1, 0.3, 0.6, 0.9], 3)
    sigma = np.tile([100.0, 300.0, 900.0], 4)
    loss = (1.0 + p) / (1.0 - p) * (1.0 + sigma / 3000.0)
    near = 0.1 + 0.4 * (1.0 - p) * np.exp(-sigma / 400.0)
    far = 0.3 + 0.5 * (1.0 - p) * np.exp(-sigma / 400.0)
    risk = np.column_stack([near, far])
    schemes = [
        cm.ConditionalMasking(*pair) for pair in zip(p.tolist(), sigma.tolist(), strict=True)
    ]
    candidates = [
        Candidate(scheme, own, np.array([0.1, 0.3]), own, {}, {}, cost)
        for scheme, own, cost in zip(schemes, risk, loss, strict=True)
    ]
    suggestions = {
        "most useful": candidates[2],
        "balanced": candidates[5],
        "safest": candidates[8],
    }
    fields = {
        "n": 500,
        "d": (25.0, 100.0),
        "candidates": candidates,
        "suggestions": suggestions,
        "refusals": {schemes[11]: "no"},
        "caps": {"risk 25": 0.25},
        "target": "file",
        "allowed": risk[:, 0] <= 0.25,
        "name": "income",
    }
    return Plan(**fields | changes)


def study(quantiles=(0.1, 0.3, 0.5, 0.7, 0.9)):
    """A study of two schemes with three estimators, of which one has no quantiles."""
    columns = []
    values = []
    scores = norm.ppf((np.arange(100) + 0.5) / 100)
    for scheme, estimator, size in (
        ("masked", "T_1", 1.0),
        ("masked", "T_b", 3.0),
        ("noise", "ANM", np.nan),
    ):
        for q in quantiles:
            columns += [StudyColumn(scheme, estimator, f"quantile {q:g}", 0.0)]
            values += [size * (10.0 * (q - 0.4) + (60.0 + 120.0 * abs(q - 0.5)) * scores)]
        columns += [StudyColumn(scheme, estimator, "mean", 0.0)]
        values += [0.05 + scores]
    known = {(column.statistic) for column in columns}
    columns += [StudyColumn("", "sample", name, 0.0) for name in sorted(known)]
    values += [0.0 * scores] * len(known)
    return StudyResult("a study", 1, tuple(columns), np.transpose(values))


def comparison(**changes):
    """Four methods: one is exact, one has no deciles, one was not tuned."""
    rows = [
        {
            "method": "conditional masking",
            "estimator": "T_1",
            "mean": 10.0,
            "s.d.": 12.0,
            "deciles": 30.0,
        },
        {
            "method": "conditional masking",
            "estimator": "T_b",
            "mean": 10.0,
            "s.d.": 12.0,
            "deciles": 27.0,
        },
        {
            "method": "reverse mapping",
            "estimator": "T_1",
            "mean": 0.0,
            "s.d.": 0.0,
            "deciles": 0.0,
        },
        {
            "method": "normal noise",
            "estimator": "ANM",
            "mean": 18.0,
            "s.d.": 25.0,
            "deciles": np.nan,
        },
        {
            "method": "multiplicative noise",
            "estimator": "masked",
            "mean": 25.0,
            "s.d.": 5e2,
            "deciles": 70.0,
        },
    ]
    fields = {
        "risk": 0.3,
        "d": 5.0,
        "records": 500,
        "replications": 20,
        "seed": 1,
        "schemes": {},
        "rows": rows,
        "missing": {"data shuffling": "it needs another column"},
        "column": "income",
    }
    return MethodComparison(**fields | changes)


def originals(n=1_000):
    """A column of which nothing is secret."""
    return np.random.default_rng(1).laplace(3_000.0, 1_000.0, n)


def cdf():
    """An estimate drawn twice into the same axes."""
    estimate = SCHEME.estimate(SCHEME.mask(originals(), rng=2))
    ax = estimate.plot_cdf(rng=3)
    return estimate.plot_cdf(ax=ax, rng=3, target="file")


def released(scheme, x):
    """Both panels of a release of a column."""
    release = cm.mask_table({"income": x}, {"income": scheme}, rng=2, accept="all")
    return cm.plot_release(x, release, rng=3)


PICTURES = {
    "plan": lambda: plan().plot(),
    "study": lambda: study().plot(),
    "comparison": lambda: comparison().plot(),
    "cdf": cdf,
    "release": lambda: released(SCHEME, originals()),
    "reverse_mapping": lambda: released(
        cm.ReverseMapping(0.4, 0.3, scale="log"),
        np.exp(originals() / 2_000.0),
    ),
}


def drawn(name, change=None):
    """A picture without letters, in shades of grey: means of small squares, 0 for black and 255
    for white.

    Letters differ between versions of matplotlib and fonts, and with them legends and the room
    that is left; so there are none, and panels stand at fixed places. `change` is done to the axes
    before.
    """
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.style.context("default"):
        axes = np.ravel(PICTURES[name]())
        if change is not None:
            change(axes)
        figure = axes[0].figure
        figure.set_layout_engine(None)
        figure.set(dpi=DPI, size_inches=(4.8 * axes.size, 3.6))
        figure.subplots_adjust(left=0.02, right=0.98, bottom=0.03, top=0.97, wspace=0.04)
        for panel in axes:
            panel.get_legend() and panel.get_legend().remove()
        for letters in figure.findobj(Text):
            letters.set_visible(False)
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].mean(axis=-1)
        pyplot.close(figure)
    rows, columns = (size // BLOCK for size in pixels.shape)
    squares = pixels[: rows * BLOCK, : columns * BLOCK].reshape(rows, BLOCK, columns, BLOCK)
    return squares.mean(axis=(1, 3))


def stored(name):
    """The stored image."""
    return 255.0 * imread(FOLDER / f"{name}.png")[..., 0]


def main():
    """Store the images."""
    FOLDER.mkdir(exist_ok=True)
    for name in PICTURES:
        squares = np.rint(drawn(name)).astype(np.uint8)
        imsave(
            FOLDER / f"{name}.png",
            np.repeat(squares[..., None], 3, axis=-1),
            metadata={"Software": None},
        )


if __name__ == "__main__":
    sys.exit(main())
