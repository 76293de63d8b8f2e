"""Gradient boosting, by scikit-learn: what a trained attacker learns with.

Trees split histograms, so a missing value is one more place to go to. One thread grows them: several wait for
each other at every split, and cost more on a machine that does something else, too.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from condmask.disclosure.coin_classes import logistic
from condmask.errors import optional

OPTIONS: dict[str, Any] = {
    "learning_rate": 0.1, "max_leaf_nodes": 15, "min_samples_leaf": 30, "l2_regularization": 1.0,
    "random_state": 0,
}  # fmt: skip
ROUNDS, PATIENCE = 200, 10  # trees, and how many of them may pass without a gain
ROUNDS_OF_REGRESSION = 50
STEPS = 25  # of Newton's method


def available() -> bool:
    """Whether scikit-learn is installed."""
    with contextlib.suppress(ModuleNotFoundError):
        _ensemble()
        return True
    return False


def check_available() -> None:
    """Refuse to go on without scikit-learn."""
    _ensemble()


def chances(
    learned: np.ndarray, answers: np.ndarray, checked: np.ndarray, right: np.ndarray, asked: np.ndarray
) -> np.ndarray:
    """The chance of a yes for the rows of `asked`, learned from rows with their answers.

    Other rows, `checked`, with the right answers say when to stop and calibrate the chances.
    """
    if answers.all() or not answers.any() or right.all() or not right.any():
        return np.full(asked.shape[0], float(answers.mean()))
    with _alone() as ensemble:
        model = ensemble.HistGradientBoostingClassifier(
            max_iter=ROUNDS, early_stopping=True, n_iter_no_change=PATIENCE, **OPTIONS
        )
        model.fit(learned, answers, X_val=checked, y_val=right)
        slope, shift = calibration(model.decision_function(checked), right)
        return logistic(slope * model.decision_function(asked) + shift)


def predictions(learned: np.ndarray, targets: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """The expected number for the rows of `asked`, learned from rows with theirs."""
    with _alone() as ensemble:
        model = ensemble.HistGradientBoostingRegressor(
            max_iter=ROUNDS_OF_REGRESSION, early_stopping=False, **OPTIONS
        )
        return np.asarray(model.fit(learned, targets).predict(asked))


def calibration(odds: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    """Slope and shift of log odds that suit the answers best: Platt's, by Newton's method.

    One right and one wrong answer more keep both finite.
    """
    odds, yes = np.append(odds, (0.0, 0.0)), np.append(right, (0.0, 1.0))
    rows = np.column_stack((odds, np.ones(odds.size)))
    at = np.array([1.0, 0.0])
    for _ in range(STEPS):
        chance = logistic(rows @ at)
        weight = np.maximum(chance * (1.0 - chance), 1e-9)
        step = np.linalg.solve(rows.T @ (weight[:, None] * rows) + 1e-9 * np.eye(2), rows.T @ (yes - chance))
        at = at + np.clip(step, -1.0, 1.0)
    return float(max(at[0], 0.0)), float(at[1])


@contextlib.contextmanager
def _alone() -> Iterator[Any]:
    """scikit-learn's ensembles, in one thread."""
    ensemble = _ensemble()
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="openmp"):
        yield ensemble


def _ensemble() -> Any:
    with optional("thorough", "thorough"):
        from sklearn import ensemble  # takes a second to import
    return ensemble
