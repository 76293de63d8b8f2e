"""Checks arguments of statistics with other columns: weights, clusters, labels, regressors."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.errors import ArgumentError
from condmask.estimates.base import Shared
from condmask.indicators import ColumnsLike, design, indicators, is_text, of_formula
from condmask.inference.interval import Target, check_interval_options
from condmask.labels import groups
from condmask.linear.chunks import Chunks
from condmask.linear.records import Named
from condmask.linear.variance import IntervalOptions


class LinearArguments(Shared):
    """Reads other columns, which are given by value or by name, for statistics."""

    def _options(
        self,
        confidence_level: float,
        target: Target,
        clusters: ArrayLike | None,
        population_size: float | None,
    ) -> IntervalOptions:
        """Return the checked options of an interval."""
        level, target = check_interval_options(confidence_level, target)
        for name, value in (("clusters", clusters), ("population_size", population_size)):
            rule = f"{name} must be left out for target='file', where the records are not a sample"
            _checks.require(target != "file" or value is None, rule, value)
        size = np.inf
        if population_size is not None:
            size = _checks.positive(population_size, "population_size")
        labels = self._by_name(clusters, "clusters", labels=True)
        code, names = (
            (None, ()) if labels is None else groups(labels, "clusters", self.records.size)
        )
        return IntervalOptions(level, target, code, size, len(names))

    def _design(
        self,
        W: ColumnsLike | Mapping[str, ArrayLike | Named],
        *,
        intercept: bool,
        argument: str = "W",
    ) -> dict[str, np.ndarray | Named]:
        """Return the design matrix by column; a text column given by name becomes indicator
        columns."""
        given: Any = [W] if isinstance(W, str) else W
        made = of_formula(W)
        if made is not None:
            given = {name: made[name] for name in made if not (intercept and name == "Intercept")}
        if isinstance(given, list) and all(isinstance(name, str) for name in given):
            given = dict(zip(given, given, strict=True))
        if not isinstance(given, dict) or not given:
            given = design(given, argument)
        columns: dict[str, np.ndarray | Named] = {}
        constant = intercept  # whether a constant is a combination of the columns so far
        for name, values in given.items():
            column = self._numbers(values, argument)
            n = self.records.size
            if isinstance(column, Named):
                columns[str(name)] = column
            elif isinstance(values, str) and is_text(column):
                texts = self._by_name(values, argument, labels=True)
                columns |= indicators(texts, name, n, all_but_first=constant, argument=argument)
                constant = True
            else:
                columns |= design({name: column}, argument)
                _checks.same_length(columns[str(name)], str(name), n, "z")
        return columns

    def _label_columns(self, labels: ColumnsLike) -> dict[str, Any]:
        """Return by name the columns that define groups."""
        if isinstance(labels, str):
            labels = [labels]
        if isinstance(labels, list | tuple) and 0 < len(labels) < self.records.size:
            names = [label for label in labels if isinstance(label, str)]
            if len(names) == len(labels):
                return {name: self._by_name(name, "labels", labels=True) for name in names}
        table = isinstance(labels, dict) or frames.is_frame(labels)
        names = frames.column_names(labels) if table else []
        return {name: frames.table_column(labels, name) for name in names} or {"group": labels}

    def _weights(self, weights: ArrayLike, least: float = -np.inf) -> np.ndarray | Named:
        """Return a column of weights; refuse weights below `least`."""
        w = self._numbers(weights, "weights")
        if not isinstance(w, Named):
            w = frames.column(w, "weights").array
            _checks.same_length(w, "weights", self.records.size, "z")
        (low,) = Chunks(self.records, w).fold(lambda chunk: (chunk.column(0).min(),), np.minimum)
        if low < least:
            raise ArgumentError(f"weights must not be negative, got {low:g}")
        return cast("np.ndarray | Named", w)

    def _left_out(self, used: int) -> str:
        """Return a remark on the number of records that are not used, empty if all are."""
        n = self.records.size
        return (
            "" if used == n else f" ({n - used} of {n} records left out, where a value is missing)"
        )
