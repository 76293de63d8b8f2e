"""Sparse fits of columns by others that are exact where most records obey: least absolute deviations.

Let y = x b in the records that obey. The sum of |y - x b| is least at b if and only if, for every direction
d,

    |sum of sign(y - x b) x d over the other records| <= sum of |x d| over those that obey.

The left side is at most the sum of |x d| over the others. So b comes out exactly as soon as more than half
of the records obey and the others lie no farther out; mostly earlier, since signs cancel. A few records far
out (leverage) can outweigh all that obey: rows are therefore scaled to a common size, which leaves the
relation as it is. A penalty on the sizes of b that is small against the margin moves nothing, and takes out
columns that say nothing.

What is computed approximates this. Least squares are repeated with weights 1/|residual|, from wide to
narrow. The last steps lean to the majority (a power of the residual below 1): they find relations that
fewer obey, and may find a wrong one. Of more columns than `FEATURES` those are taken that explain most, one
after the other, by least squares. Missing values count as medians. So whoever uses a fit counts in other
records where it holds.
"""

import numpy as np

PENALTY = 0.003  # of a record's residual, for a factor of 1
STEPS, CONVEX = 22, 9  # of reweighting; those of least absolute deviations
CONCAVE = 0.5  # power of the residual afterwards
NARROWEST = 1e-4  # of a column's mean deviation
FEATURES, PER_FEATURE = 24, 4  # columns that a fit looks at, and records for each
SOLVED = 1 << 21  # numbers at a time


def standardised(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns less their medians, in units of their mean deviations, 0 where missing; and both of these."""
    present = ~np.isnan(x)
    middle = np.array(
        [np.median(column[here]) if here.any() else 0.0 for column, here in zip(x.T, present.T, strict=True)]
    )
    off = np.where(present, x - middle, 0.0)
    size = np.abs(off).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    return off / np.where(size > 0.0, size, np.inf), middle, size


def chosen(z: np.ndarray, target: int, features: np.ndarray) -> np.ndarray:
    """Those of many features that explain the target, one after the other, by least squares."""
    most = min(FEATURES, len(z) // PER_FEATURE)
    if features.size <= most:
        return features
    z = z / np.maximum(1.0, np.sqrt(np.mean(z * z, axis=1)))[:, None]
    x, y = z[:, features], z[:, target]
    gram, together = x.T @ x, x.T @ y
    rest, taken = gram.diagonal().copy(), []
    least = 1e-6 * np.maximum(rest, 1e-300)
    for _ in range(most):
        gain = np.where(rest > least, together**2 / np.maximum(rest, least), 0.0)
        k = int(np.argmax(gain))
        if gain[k] <= 0.0:
            break
        taken.append(k)
        row = gram[k] / np.sqrt(rest[k])
        together = together - row * (together[k] / np.sqrt(rest[k]))
        gram = gram - np.outer(row, row)
        rest = gram.diagonal().copy()
        rest[taken] = 0.0
    return np.asarray(features[np.sort(taken)])


def fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The factors, and last the constant, of several targets.

    `x` has shape (targets, rows, features) and `y` (targets, rows), both standardised.
    """
    most = max(1, SOLVED // max(1, x[0].size))
    parts = [_fit(x[start : start + most], y[start : start + most]) for start in range(0, len(x), most)]
    return np.concatenate(parts)


def _fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    targets, n, k = x.shape
    size = np.sqrt(np.mean(x * x, axis=2))
    scale = 1.0 / np.maximum(1.0, size / np.maximum(np.median(size, axis=1), 1e-300)[:, None])
    x = np.concatenate([x, np.ones((targets, n, 1))], axis=2) * scale[:, :, None]
    y = y * scale
    factors, residual, diagonal = np.zeros((targets, k + 1)), y, np.arange(k + 1)
    for step in range(STEPS):
        width, power = max(NARROWEST, 0.5**step), 1.0 if step < CONVEX else CONCAVE
        weights = (residual**2 + width**2) ** (0.5 * power - 1.0) * width ** (1.0 - power)
        weighted = x * weights[:, :, None]
        gram = np.matmul(weighted.transpose(0, 2, 1), x)
        penalty = PENALTY * n / np.sqrt(factors[:, :k] ** 2 + max(width, 0.01) ** 2)
        gram[:, diagonal[:k], diagonal[:k]] += penalty
        gram[:, diagonal, diagonal] += 1e-10 * n
        moments = np.matmul(weighted.transpose(0, 2, 1), y[:, :, None])
        factors = np.linalg.solve(gram, moments)[:, :, 0]
        residual = y - np.matmul(x, factors[:, :, None])[:, :, 0]
    return np.asarray(factors)
