"""Learn a masked column from what is known: least squares, boosting, and the best guess for each.

Every prediction of a record comes from records of other folds. What is chosen among several
(penalties, scales, predictions, shifts) is chosen by the records of other folds as well.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import lsmr

from condmask.disclosure.table.encode import Columns, Encoded
from condmask.errors import optional

FOLDS = 3
ALPHAS = (0.03, 0.5, 10.0)  # records that a penalty counts as
MAX_NORMAL_EQUATIONS = 1_200  # columns, beyond which least squares are found step by step
MAX_STEPS = 40  # of that
LEAST_LOG = 1e-9
TREES = 25
LEARNING_RATE = 0.25
LEAVES = 15
BINS = 63
BINNED_RECORDS = 2_000  # that say where bins end
MIN_LEAF_RECORDS = 20
MAX_TREE_RECORDS = 5_000  # that teach trees
MAX_TREE_COLUMNS = 24
RELEVANCE_CELLS = 16
MIN_VARYING = 20  # records that differ from the most frequent value
GROUP_RECORDS = 200  # of like predictions, at least
MAX_GROUPS = 10
MIN_LIKE = 20
MAX_PLANS = 2  # predictions that are shifted by groups of like ones


class Moments(NamedTuple):
    """Sums of squares and products, of columns and of these with targets."""

    gram: np.ndarray
    right: np.ndarray

    @staticmethod
    def of(some: sparse.csr_array, dense: np.ndarray, targets: np.ndarray) -> "Moments":
        """Return those of indicators and numbers."""
        beside = some.T @ dense
        gram = np.block([[(some.T @ some).toarray(), beside], [beside.T, dense.T @ dense]])
        return Moments(gram, np.vstack((some.T @ targets, dense.T @ targets)))


class Design:
    """Columns in clear as a matrix: sparse indicators and words, dense numbers and logarithms."""

    def __init__(self, encoded: Encoded, numbers: Columns) -> None:
        parts = [sparse.csr_array((encoded.n, 0)), *encoded.words.values()]
        for codes in encoded.codes.values():
            rows = np.flatnonzero(codes >= 0)
            shape = (encoded.n, int(codes.max()) + 1)
            parts.append(sparse.csr_array((np.ones(rows.size), (rows, codes[rows])), shape))
        self.sparse = sparse.csr_array(sparse.hstack(parts))
        self.dense: np.ndarray = _filled(matrix_of(numbers, encoded.n))

    def out_of_fold(
        self, targets: Sequence[np.ndarray], fold: np.ndarray, weight: np.ndarray
    ) -> list[list[np.ndarray]]:
        """Return by target, for each penalty, what the records of other folds predict.

        ``weight`` is that of each record; 0 where its targets are not known.
        """
        y = np.column_stack(targets)
        known = weight > 0.0
        mean = np.average(y[known], axis=0, weights=weight[known])
        predicted = [np.tile(mean, (fold.size, 1)) for _ in ALPHAS]
        sides = [np.flatnonzero(known & (fold == side)) for side in range(FOLDS)]
        solve = _by_moments if self.columns <= MAX_NORMAL_EQUATIONS else _by_steps
        for side, factors in enumerate(solve(self, y - mean, sides, np.sqrt(weight))):
            asked = fold == side
            of_sparse = self.sparse[asked]
            of_dense = self.dense[asked]
            for guess, beta in zip(predicted, factors, strict=True):
                split = self.sparse.shape[1]
                guess[asked] += of_sparse @ beta[:split] + of_dense @ beta[split:]
        low = y[known].min(axis=0)
        high = y[known].max(axis=0)
        return [[np.clip(each, low, high)[:, k] for each in predicted] for k in range(y.shape[1])]

    @property
    def columns(self) -> int:
        """Return the number of columns."""
        return int(self.sparse.shape[1] + self.dense.shape[1])


def _by_moments(
    design: Design, y: np.ndarray, sides: Sequence[np.ndarray], root: np.ndarray
) -> Iterator[list[np.ndarray]]:
    """Yield for each fold the factors under each penalty, by the moments of the other folds."""
    moments = []
    for rows in sides:
        weight = root[rows, None]
        some = sparse.csr_array(design.sparse[rows].multiply(weight))
        moments.append(Moments.of(some, weight * design.dense[rows], weight * y[rows]))
    for side in range(len(sides)):
        others = [each for k, each in enumerate(moments) if k != side]
        gram = np.sum([each.gram for each in others], axis=0)
        right = np.sum([each.right for each in others], axis=0)
        penalties = [gram + alpha * np.eye(len(gram)) for alpha in ALPHAS]
        yield [linalg.solve(each, right, assume_a="pos") for each in penalties]


def _by_steps(
    design: Design, y: np.ndarray, sides: Sequence[np.ndarray], root: np.ndarray
) -> Iterator[list[np.ndarray]]:
    """Yield the same where columns are many, by an iteration that stops early."""
    whole = sparse.csr_array(sparse.hstack((design.sparse, sparse.csr_array(design.dense))))
    for side in range(len(sides)):
        rows = np.concatenate([each for k, each in enumerate(sides) if k != side])
        some = sparse.csr_array(whole[rows].multiply(root[rows, None]))
        right = root[rows, None] * y[rows]
        yield [
            np.column_stack(
                [lsmr(some, one, damp=np.sqrt(alpha), maxiter=MAX_STEPS)[0] for one in right.T]
            )
            for alpha in ALPHAS
        ]


def matrix_of(columns: Columns, n: int) -> np.ndarray:
    """Return columns side by side."""
    return np.column_stack((np.empty((n, 0)), *columns.values()))


def _filled(dense: np.ndarray) -> np.ndarray:
    """Return numbers and their logarithms, standardized, with medians in place of gaps."""
    if not dense.shape[1]:
        return dense
    filled = np.where(np.isnan(dense), np.nanmedian(dense, axis=0), dense)
    logs = np.log(np.maximum(np.abs(filled), LEAST_LOG))
    both = np.hstack((filled, logs))
    spread = both.std(axis=0)
    both = (both - both.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return np.asarray(both[:, spread > 0.0])


def boosted(
    columns: np.ndarray,
    target: np.ndarray,
    fold: np.ndarray,
    teach: np.ndarray,
) -> np.ndarray:
    """Return what trees that learned from other folds predict; one thread is the quickest."""
    with optional("an audit of several columns", "files"):
        from sklearn.ensemble import HistGradientBoostingRegressor  # takes a second to import
        from threadpoolctl import threadpool_limits
    predicted = np.zeros(target.size)
    columns = columns[:, _varying(columns[teach])]
    columns = _most_relevant(columns, target, teach)
    if not columns.shape[1]:
        return predicted
    columns = _in_bins(columns)
    for side in range(FOLDS):
        known = np.flatnonzero((fold != side) & teach)
        known = known[:: max(1, -(-known.size // MAX_TREE_RECORDS))]
        asked = np.flatnonzero(fold == side)
        if known.size < 2 * MIN_LEAF_RECORDS or not asked.size:
            continue
        # scikit-learn takes no column that has no value in these records
        some = ~np.isnan(columns[known]).all(axis=0)
        model = HistGradientBoostingRegressor(
            max_iter=TREES,
            learning_rate=LEARNING_RATE,
            max_leaf_nodes=LEAVES,
            min_samples_leaf=MIN_LEAF_RECORDS,
            max_bins=BINS,
            early_stopping=False,
            random_state=0,
        )
        with threadpool_limits(1, "openmp"):
            model.fit(columns[known][:, some], target[known])
            predicted[asked] = model.predict(columns[asked][:, some])
    return predicted


def _in_bins(columns: np.ndarray) -> np.ndarray:
    """Return columns as numbers of equally full bins, so that no tree has to seek these."""
    result = np.empty(columns.shape)
    rows = np.arange(0, len(columns), max(1, len(columns) // BINNED_RECORDS))
    for k, column in enumerate(columns.T):
        some = column[rows]
        levels = np.unique(some[~np.isnan(some)])
        if levels.size > BINS:
            levels = np.unique(np.nanquantile(some, np.arange(1, BINS) / BINS))
        result[:, k] = np.where(np.isnan(column), np.nan, np.searchsorted(levels, column))
    return result


def _varying(columns: np.ndarray) -> np.ndarray:
    """Return which columns have enough values that differ from the most frequent one."""
    result = np.zeros(columns.shape[1], dtype=bool)
    for k, column in enumerate(columns.T):
        present = column[~np.isnan(column)]
        middle = np.median(present) if present.size else np.nan
        differing = np.count_nonzero(present != middle)
        result[k] = differing >= MIN_VARYING
    return result


def _most_relevant(columns: np.ndarray, target: np.ndarray, teach: np.ndarray) -> np.ndarray:
    """Return at most so many columns, those whose cells differ most in the target."""
    if columns.shape[1] <= MAX_TREE_COLUMNS:
        return columns
    rows = np.flatnonzero(teach)
    rows = rows[:: max(1, rows.size // 2_000)]
    y = target[rows] - target[rows].mean()
    strength = []
    for column in columns.T:
        rank = np.argsort(np.argsort(column[rows]))
        cell = rank * RELEVANCE_CELLS // rows.size
        count = np.maximum(np.bincount(cell, minlength=RELEVANCE_CELLS), 1)
        strength.append(float(np.sum(np.bincount(cell, y, RELEVANCE_CELLS) ** 2 / count)))
    chosen = np.sort(np.argsort(-np.array(strength), kind="stable")[:MAX_TREE_COLUMNS])
    return columns[:, chosen]


# --- from predictions to guesses ---


def loss(guess: np.ndarray, u: np.ndarray, d: float) -> np.ndarray:
    """Return by record how far a guess is off, no more than three distances."""
    return np.asarray(np.minimum(np.abs(guess - u), 3.0 * d))


def best_by_fold(
    tries: Sequence[np.ndarray], u: np.ndarray, d: float, fold: np.ndarray, teach: np.ndarray
) -> np.ndarray:
    """Return for each fold the prediction that comes nearest in the others."""
    losses = np.array([loss(each, u, d) for each in tries])
    result = np.empty(u.size)
    for side in range(FOLDS):
        others = (fold != side) & teach
        mean = losses[:, others].mean(axis=1) if others.any() else np.zeros(len(tries))
        result[fold == side] = tries[int(np.argmin(mean))][fold == side]
    return result


class Window(NamedTuple):
    """The middle of a window of width 2 d, and the share of numbers in it."""

    middle: float
    share: float


def best_window(u: np.ndarray, d: float) -> Window:
    """Return the window that holds most of some numbers."""
    ascending = np.sort(u)
    last = np.searchsorted(ascending, ascending + 2.0 * d)
    inside = last - np.arange(u.size)
    first = int(np.argmax(inside))
    middle = 0.5 * (ascending[first] + ascending[last[first] - 1])
    return Window(float(middle), float(inside[first]) / u.size)


def hits(
    tries: Sequence[np.ndarray],
    u: np.ndarray,
    d: float,
    fold: np.ndarray,
    some: np.ndarray,
) -> np.ndarray:
    """Return which of some records are guessed to within d, by the prediction, and the shift of
    it, that serve like records of other folds best."""
    result = np.zeros(u.size, dtype=bool)
    for side in range(FOLDS):
        others = np.flatnonzero(some & (fold != side))
        asked = np.flatnonzero(some & (fold == side))
        if not others.size or not asked.size:
            continue
        shares = [best_window((u - each)[others], d).share for each in tries]
        likely = np.argsort(shares, kind="stable")[::-1][:MAX_PLANS]
        plans = [_planned(tries[k], u, d, others) for k in likely]
        best = int(np.argmax([plan[others].mean() for plan in plans]))
        result[asked] = plans[best][asked]
    return result


def _planned(guess: np.ndarray, u: np.ndarray, d: float, others: np.ndarray) -> np.ndarray:
    """Return which records are guessed to within d by a prediction that is shifted, or replaced by
    one guess for all, as serves others with like predictions."""
    groups = int(np.clip(others.size // GROUP_RECORDS, 1, MAX_GROUPS))
    cuts = np.unique(np.quantile(guess[others], np.arange(1, groups) / groups))
    like = np.digitize(guess, cuts)
    final = np.empty(u.size)
    for k in range(cuts.size + 1):
        teachers = others[like[others] == k]
        teachers = teachers if teachers.size >= MIN_LIKE else others
        shift, moved = best_window((u - guess)[teachers], d)
        fixed, same = best_window(u[teachers], d)
        here = like == k
        final[here] = guess[here] + shift if moved >= same else fixed
    return np.abs(u - final) < d
