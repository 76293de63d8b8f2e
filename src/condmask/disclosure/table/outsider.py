"""The outsider: has the release, and nothing else.

A reader downloads the file tonight. She knows the scheme, which is public, and learns from
released values as if they were originals: of many records, those that were swapped only add noise.
What is predicted then says who was probably kept, since a kept record shows about what its columns
in clear predict; learning again from these, a few times, is expectation and maximization over swap
statuses. In the end she guesses a record that was probably kept from both its released value and
the prediction, and all others from the prediction.

Somebody who knows originals of others and no swap status uses these in place of the first
predictions; the rest is the same (`without_coins`).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from condmask.disclosure.table.learners import boosted
from condmask.disclosure.table.neighbours import backfitted
from condmask.disclosure.table.release import Release
from condmask.disclosure.table.view import MaskedColumn, View

MAX_ROUNDS = 16
MIN_RISE = 0.002  # of the mean log likelihood, for a further round
STEPS = 3  # groups that are used one after the other
DENSITY_CELLS = 64
MIN_VARIANCE = 1e-4  # in squared spreads
PROBABLY = 0.5
ITERATIONS = 8
MIN_WIDTH = 1e-3  # spreads, of a cell of the density of strangers
LEAST_DENSITY = 1e-300


def outsider_guess(
    view: View, column: MaskedColumn, release: Release, fold: np.ndarray
) -> np.ndarray:
    """Return what a reader of the release guesses of each record, on the line."""
    z = _known(column, release)
    present = column.present
    scales = _released_scales(column, release)
    weight = present * 1.0
    best = np.full(z.size, float(z[present].mean()))
    reached = posterior(best, z, release.p, present).likelihood
    for attempt in range(MAX_ROUNDS):
        tries = []
        solved = view.design.out_of_fold([values for values, _ in scales], fold, weight)
        for (values, scale), predictions in zip(scales, solved, strict=True):
            middle = float(values[present].mean())
            for each in predictions:
                if attempt == 0:  # of the rise of which p is lost to strangers
                    each = middle + (each - middle) / (1.0 - release.p)
                tries.append(_to_line(column, each, values, scale))
        new = _likeliest(tries, z, release.p, present)
        found = posterior(new, z, release.p, present)
        if found.likelihood < reached + MIN_RISE:
            break
        best = new
        weight = found.kept
        reached = found.likelihood
    weight = posterior(best, z, release.p, present).kept
    rows = np.flatnonzero(weight > PROBABLY)
    effect = backfitted(column.groups, z - best, weight, z - best, rows, STEPS)
    grown = _likeliest([best, best + effect], z, release.p, present)
    weight = posterior(grown, z, release.p, present).kept
    trees = grown + boosted(column.dense, z - grown, fold, weight > PROBABLY)
    final = _likeliest([grown, trees], z, release.p, present)
    return without_coins(column, release, final)


def _likeliest(
    tries: Sequence[np.ndarray], z: np.ndarray, p: float, present: np.ndarray
) -> np.ndarray:
    """Return the predictions under which the released values are likeliest."""
    fits = [posterior(guess, z, p, present).likelihood for guess in tries]
    return tries[int(np.argmax(fits))]


def without_coins(column: MaskedColumn, release: Release, guess: np.ndarray) -> np.ndarray:
    """Return predictions, improved by the released values of records that were probably kept."""
    z = _known(column, release)
    kept, variance, _ = posterior(guess, z, release.p, column.present)
    noise = release.noise[column.name] ** 2
    unknown = max(variance - noise, MIN_VARIANCE)
    both = guess + unknown / (unknown + noise) * (z - guess)
    return np.where(kept > PROBABLY, both, guess)


def _known(column: MaskedColumn, release: Release) -> np.ndarray:
    shown = release.keys[column.name]
    return np.where(np.isnan(shown), float(np.median(shown[column.present])), shown)


class Posterior(NamedTuple):
    """What released values say of swap statuses, given predictions.

    Attributes
    ----------
    kept : ndarray of shape (m,)
        The chance that each record was kept.
    variance : float
        Of released values of kept records around the predictions.
    likelihood : float
        The mean logarithm of the density of released values.
    """

    kept: np.ndarray
    variance: float
    likelihood: float


def posterior(guess: np.ndarray, z: np.ndarray, p: float, present: np.ndarray) -> Posterior:
    """Return who was probably kept: by a mixture of strangers, and of records near the guess."""
    cuts = np.unique(np.quantile(z[present], np.arange(1, DENSITY_CELLS) / DENSITY_CELLS))
    cell = np.searchsorted(cuts, z)
    count = np.bincount(cell[present], minlength=cuts.size + 1)
    edges = np.concatenate(([z[present].min()], cuts, [z[present].max()]))
    stranger = (count / count.sum() / np.maximum(np.diff(edges), MIN_WIDTH))[cell]
    off = (z - guess) ** 2
    variance = max(float(np.quantile(off[present], 0.5 * (1.0 - p))), MIN_VARIANCE)
    density = np.empty(z.size)
    kept = np.empty(z.size)
    for _ in range(ITERATIONS):
        density = np.exp(-0.5 * off / variance) / np.sqrt(2.0 * np.pi * variance)
        mixture = (1.0 - p) * density + p * stranger
        kept = present * (1.0 - p) * density / np.maximum(mixture, LEAST_DENSITY)
        variance = max(float(np.sum(kept * off)) / max(float(kept.sum()), 1.0), MIN_VARIANCE)
    mixture = np.maximum((1.0 - p) * density + p * stranger, LEAST_DENSITY)
    return Posterior(kept, variance, float(np.mean(np.log(mixture[present]))))


def _released_scales(column: MaskedColumn, release: Release) -> Sequence[tuple[np.ndarray, str]]:
    """Return released values on the line, and on the other scale that may be simple."""
    z = _known(column, release)
    values = release.values[column.name]
    data = np.where(np.isnan(values), np.nanmedian(values), values)
    if abs(np.corrcoef(z, data)[0, 1]) < 0.99:
        return [(z, "line"), (data, "data")]
    if data.min() > 0.0:
        return [(z, "line"), (np.log(data), "logarithms")]
    return [(z, "line")]


def _to_line(
    column: MaskedColumn, guess: np.ndarray, values: np.ndarray, scale: str
) -> np.ndarray:
    clipped = np.clip(guess, values.min(), values.max())
    if scale == "line":
        return np.asarray(clipped)
    return column.line.to(np.exp(clipped) if scale == "logarithms" else clipped)
