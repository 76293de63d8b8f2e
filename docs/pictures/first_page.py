"""The pictures of the first page: original wages, published wages, and what is estimated from these."""

import matplotlib.pyplot as plt
import numpy as np

import condmask as cm
from condmask.plot.panels import BLACK as ORIGINAL
from condmask.plot.panels import BLUE as ESTIMATED
from condmask.plot.panels import VERMILLION as PUBLISHED

# half-time and full-time wages; the seeds make the picture repeatable, never seed a real release
random = np.random.default_rng(1)
wages = random.permutation(
    np.r_[random.normal(1_700.0, 400.0, 4_000), random.normal(3_600.0, 650.0, 6_000)]
)
scheme = cm.ConditionalMasking(p=0.5, sigma=900.0)
published = scheme.mask(wages, rng=2)
estimate = scheme.estimate(published)

points = np.linspace(0.0, 5_500.0, 400)
band = estimate.cdf_band(target="file", rng=3)
inside = (band.x >= points[0]) & (band.x <= points[-1])


def panel(title, **settings):
    """Axes of a figure of their own, so that the two stand above each other on a narrow screen."""
    axes = plt.figure(figsize=(5.2, 4.2), layout="constrained").add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(title, fontsize=11, loc="left")
    axes.set(**settings)
    return axes


def share_below(values):
    """The share of values up to each point."""
    return np.searchsorted(np.sort(values), points, side="right") / values.size


shown = random.choice(wages.size, 500, replace=False)
records = panel(
    "Any published value may be another record's ...",
    xlabel="original wage", ylabel="published wage", xlim=(0, 5_500), ylim=(-600, 5_900),
)  # fmt: skip
records.plot([0, 5_500], [0, 5_500], color=ORIGINAL, linewidth=0.8, label="published = original")
records.scatter(
    wages[shown], published[shown], s=7, color=PUBLISHED, linewidths=0, label="a record"
)
records.legend(framealpha=0.85, edgecolor="none", loc="upper left", ncols=2, fontsize=9)

shares = panel(
    "... yet the original distribution can be estimated",
    xlabel="wage", ylabel="share of records up to this wage", xlim=(0, 5_500), ylim=(-0.03, 1.03),
)  # fmt: skip
shares.plot(
    points,
    share_below(published),
    color=PUBLISHED,
    linewidth=1.4,
    linestyle="--",
    label="published",
)
shares.plot(
    points, estimate.cdf(points), color=ESTIMATED, linewidth=1.6, label="estimated from published"
)
shares.fill_between(
    band.x[inside], band.low[inside], band.high[inside],
    color=ESTIMATED, alpha=0.25, linewidth=0, label="95% band of the estimate",
)  # fmt: skip
shares.plot(
    points, share_below(wages), color=ORIGINAL, linewidth=1.6, linestyle=":", label="original"
)
shares.legend(framealpha=0.85, edgecolor="none", loc="upper left", fontsize=9)
