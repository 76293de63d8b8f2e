"""Estimates bands for the distribution function as a whole, and compares two distributions.

Bands are around T_1 (Theorem 2.2 of Ghatak & Roy).
"""

import os
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from condmask import _checks, frames
from condmask._digits import preformatted
from condmask._randomness import Key, Randomness, check_rng
from condmask.distribution.band import covariance, suprema, supremum_increase
from condmask.errors import ArgumentTypeError
from condmask.estimates.base import Shared
from condmask.estimates.sample import Sample
from condmask.inference.interval import TARGETS, Target, check_interval_options

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from condmask.plot.distribution import DrawnCurve

MIN_RECORDS_UNREARRANGED = 1000  # from which on two samples are compared by T, not rearranged
PICTURE_POINTS = 1000
BAND_POINTS = 250  # at which the process is simulated; with fewer, T varies more between points
DRAWS = 1000  # of the simulated process


class Band(NamedTuple):
    """A confidence band for a distribution function.

    Attributes
    ----------
    x : ndarray of shape (points,)
        Some points, at equal steps of the estimate.
    low, high : ndarray of shape (points,)
        The band there, within [0, 1].
    estimate : ndarray of shape (points,)
        Its middle: T, rearranged into a distribution function.
    half_width : float
        The same at every point: the band is ``cdf(t, monotone=True)`` plus and minus this.
    confidence_level : float
        The share of such bands that contain the whole target.
    target : {"population", "file"}
        As of an `Interval`.
    about : str
        The target in words.
    """

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    estimate: np.ndarray
    half_width: float
    confidence_level: float
    target: Target
    about: str

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each point."""
        names = ("x", "estimate", "low", "high")
        return frames.data_frame({name: getattr(self, name).tolist() for name in names})

    def _repr_html_(self) -> str:
        """Return for notebooks what the band is about, and how wide it is."""
        level = f"{100.0 * self.confidence_level:g}%"
        ends = f"from {self.x[0]:g} to {self.x[-1]:g}"
        width = f"{level} band, {self.x.size} points {ends}, plus and minus {self.half_width:.3g}"
        return preformatted(f"{self.about}: {width}")


class DistributionComparison(NamedTuple):
    """The result of a test of whether two distributions are the same.

    Attributes
    ----------
    statistic : float
        The largest difference of the two distribution functions, at equal steps of them.
    pvalue : float
        The chance of a difference this large if they were the same.
    at : float
        The point with the largest difference.
    difference : float
        The first distribution function less the other at this point.
    about : str
        The hypothesis in words.
    """

    statistic: float
    pvalue: float
    at: float
    difference: float
    about: str


class Bands(Shared):
    """Estimates the distribution function as a whole, with a band."""

    def cdf_band(
        self,
        *,
        confidence_level: float = 0.95,
        target: Target = "population",
        rng: Randomness = None,
    ) -> Band:
        r"""Compute a confidence band for the distribution function, at all points together.

        Parameters
        ----------
        confidence_level : float
            The share of such bands that contain the whole target.
        target : {"population", "file"}
            The distribution that the file is a sample of, or that of the original file itself.
        rng : None, int, Generator or SeedSequence
            A whole number gives the same band again.

        Returns
        -------
        Band
            At 250 points; those that coincide appear once.

        Raises
        ------
        ValueError
            If the estimate is of a batch.

        Notes
        -----
        :math:`\sqrt n (T - F)` is nearly a Gaussian process. Its covariances are estimated, and
        1,000 draws from it at 250 points give the quantile of its largest absolute value, which is
        corrected for what lies between them. The band extends that far, over :math:`\sqrt n`, to
        either side of the rearranged T. (A bootstrap of the masked records ignores shared donors,
        so its bands are too narrow.)

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 2_000)
        >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
        >>> band = scheme.estimate(scheme.mask(x, rng=2)).cdf_band(target="file", rng=3)
        >>> of_file = np.array([np.mean(x <= t) for t in band.x])
        >>> bool(np.all((band.low <= of_file) & (of_file <= band.high)))
        True
        """
        level, target = check_interval_options(confidence_level, target)
        sample = self.sample
        x = np.unique(_equal_steps(sample, BAND_POINTS))
        of_t = covariance_of_t(self, x, target)
        largest = np.quantile(suprema(of_t, DRAWS, _stream(rng)), level)
        half = float((largest + supremum_increase(of_t, BAND_POINTS)) / np.sqrt(sample.n))
        t = sample.monotone(x)
        about = f"the distribution function {TARGETS[target]}"
        return Band(
            x, np.maximum(t - half, 0.0), np.minimum(t + half, 1.0), t, half, level, target, about
        )

    def plot_cdf(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        ax: "Axes | None" = None,
        confidence_level: float = 0.95,
        target: Target = "population",
        rng: Randomness = None,
    ) -> "Axes":
        """Draw the distribution function of the original, rearranged, with its confidence band.

        The original is not needed. Needs matplotlib (``pip install condmask[plot]``).

        Parameters
        ----------
        path : path-like, optional
            Where the picture is written; it is then not shown.
        ax : matplotlib Axes, optional
            Where to draw; labels that it has, and its limits, are kept. None makes a figure.
        confidence_level, target, rng
            As for `cdf_band`.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ModuleNotFoundError
            If matplotlib is not installed.
        ValueError
            If the estimate is of a batch.

        Examples
        --------
        >>> import numpy as np
        >>> import condmask as cm
        >>> x = np.random.default_rng(1).laplace(10, 1000, 2_000)
        >>> scheme = cm.ConditionalMasking(0.6, 1000.0)
        >>> ax = scheme.estimate(scheme.mask(x, rng=2)).plot_cdf(rng=3)
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['95% band for the population', 'estimate']
        """
        from condmask.plot.distribution import distribution_function

        curve = drawn_curve(self, confidence_level=confidence_level, target=target, rng=rng)
        axes: Axes = distribution_function(curve, path, ax)
        return axes


def compare_distributions(a: Bands, b: Bands, *, rng: Randomness = None) -> DistributionComparison:
    r"""Test whether two masked columns have the same distribution.

    Parameters
    ----------
    a : Estimate
        Of the first column.
    b : Estimate
        Of the other column, from other records, under any scheme.
    rng : None, int, Generator or SeedSequence
        A whole number gives the same result again.

    Returns
    -------
    DistributionComparison

    Notes
    -----
    The largest difference of the two estimates T is compared with those of 1,000 draws of a
    Gaussian process with their covariances (docs/inference.rst). Below 1000 records T is
    rearranged first.

    The records of the two columns must be independent: do not use this for two columns of one
    table.

    Examples
    --------
    >>> import numpy as np
    >>> import condmask as cm
    >>> rng = np.random.default_rng(1)
    >>> one, other = (cm.ConditionalMasking(p, 0.7) for p in (0.6, 0.4))
    >>> a = one.estimate(one.mask(rng.normal(0.0, 1.0, 2000), rng=2))
    >>> b = other.estimate(other.mask(rng.normal(0.5, 1.0, 2000), rng=3))
    >>> bool(cm.compare_distributions(a, b, rng=4).pvalue < 0.01)
    True
    """
    for name, each in (("a", a), ("b", b)):
        _checks.require(
            isinstance(each, Bands), f"{name} must be an Estimate", each, ArgumentTypeError
        )
    wide = max(a.law, b.law, key=attrgetter("step"))
    # rounding may have moved a value by half a step: T is read between points of the wider grid
    x = np.concatenate([_equal_steps(each.sample, BAND_POINTS // 2) for each in (a, b)])
    x = (
        np.unique(x if wide.grid is None else wide.grid.values(wide.grid.below(x)))
        + 0.5 * wide.step
    )
    rearranged = min(a.sample.n, b.sample.n) < MIN_RECORDS_UNREARRANGED
    of_a, of_b = (_t_and_covariance(each, x, rearranged=rearranged) for each in (a, b))
    together = of_a[1] + of_b[1]
    difference = of_a[0] - of_b[0]
    worst = int(np.argmax(np.abs(difference)))
    statistic = float(np.abs(difference[worst]))
    larger = np.count_nonzero(suprema(together, DRAWS, _stream(rng)) >= statistic)
    pvalue = float((1 + larger) / (DRAWS + 1))
    about = "whether both populations have the same distribution"
    return DistributionComparison(
        statistic, pvalue, float(x[worst]), float(difference[worst]), about
    )


def covariance_of_t(estimate: Shared, x: np.ndarray, target: Target) -> np.ndarray:
    """Return n times the covariances of T at points, of shape (points, points)."""
    counted, masking, law = estimate.gridded
    steps = x if law.grid is None else law.grid.below(x)
    return covariance(
        counted, masking, steps, shared_donors=estimate.scheme.shared_donors, target=target
    )


def _t_and_covariance(
    estimate: Shared, x: np.ndarray, *, rearranged: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return T half a step below points, and its covariances about the population."""
    below = x - 0.5 * estimate.law.step
    sample = estimate.sample
    t = sample.monotone(below) if rearranged else sample.values(below)
    return t, covariance_of_t(estimate, below, "population") / sample.n


def _equal_steps(sample: Sample, count: int) -> np.ndarray:
    """Return points at equal steps of T, rearranged."""
    levels = (np.arange(count) + 0.5) / count
    return sample.quantiles(levels, crossing="rearranged")


def _stream(rng: Randomness) -> np.random.Generator:
    """Return the random numbers of a simulation."""
    random = check_rng(rng)
    return random.stream(0, 0) if isinstance(random, Key) else np.random.default_rng(random)


def drawn_curve(
    estimate: Bands,
    x: np.ndarray | None = None,
    *,
    confidence_level: float = 0.95,
    target: Target = "population",
    rng: Randomness = None,
) -> "DrawnCurve":
    """Return the distribution function and its band for pictures, at ascending points.

    By default points extend from somewhat below the values to somewhat above.
    """
    from condmask.plot.distribution import BEYOND, DrawnCurve

    band = estimate.cdf_band(confidence_level=confidence_level, target=target, rng=rng)
    if x is None:
        beyond = BEYOND * (band.x[-1] - band.x[0])
        x = np.union1d(
            band.x, np.linspace(band.x[0] - beyond, band.x[-1] + beyond, PICTURE_POINTS)
        )
    t = estimate.sample.monotone(x)
    ends = np.maximum(t - band.half_width, 0.0), np.minimum(t + band.half_width, 1.0)
    label = f"{100 * band.confidence_level:g}% band for {TARGETS[band.target].removeprefix('in ')}"
    return DrawnCurve(x, t, *ends, label, estimate.name)
