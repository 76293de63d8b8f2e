"""Checks the arguments of statistics with other columns: weights, clusters, labels, regressors."""

from typing import Any

import numpy as np

from condmask import _checks, frames
from condmask.errors import ArgumentError
from condmask.estimates.base import Shared
from condmask.indicators import design, indicators, is_text
from condmask.inference.interval import check_interval_options
from condmask.labels import groups
from condmask.linear.chunks import Chunks, Named
from condmask.linear.variance import IntervalOptions


class LinearArguments(Shared):
    """Reads the other columns that statistics are given, by value or by name."""

    def _options(
        self, confidence_level: Any, target: Any, clusters: Any, population_size: Any
    ) -> IntervalOptions:
        """Return the options of an interval, checked."""
        level, target = check_interval_options(confidence_level, target)
        for name, value in (("clusters", clusters), ("population_size", population_size)):
            rule = f"{name} must be left out for target='file', where the records are not a sample"
            _checks.require(target != "file" or value is None, rule, value)
        size = (
            np.inf
            if population_size is None
            else _checks.positive(population_size, "population_size")
        )
        labels = self._by_name(clusters, "clusters", labels=True)
        code, names = (None, ()) if labels is None else groups(labels, "clusters", self._rows.size)
        return IntervalOptions(level, target, code, size, len(names))

    def _design(self, W: Any, *, intercept: bool, argument: str = "W") -> dict[str, Any]:
        """Return the design matrix by column; a text column given by name becomes indicator
        columns."""
        given = [W] if isinstance(W, str) else W
        if isinstance(given, list) and all(isinstance(name, str) for name in given):
            given = dict(zip(given, given, strict=True))
        if not isinstance(given, dict) or not given:
            given = design(given, argument)
        columns: dict[str, Any] = {}
        constant = intercept  # whether the columns up to here have one in their span
        for name, values in given.items():
            column = self._numbers(values, argument)
            n = self._rows.size
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

    def _label_columns(self, labels: Any) -> dict[str, Any]:
        """Return the columns that make groups, by name."""
        if isinstance(labels, str):
            labels = [labels]
        short = isinstance(labels, list | tuple) and 0 < len(labels) < self._rows.size
        if short and all(isinstance(label, str) for label in labels):
            return {name: self._by_name(name, "labels", labels=True) for name in labels}
        table = isinstance(labels, dict) or frames.is_frame(labels)
        names = frames.column_names(labels) if table else []
        return {name: frames.table_column(labels, name) for name in names} or {"group": labels}

    def _weights(self, weights: Any, least: float = -np.inf) -> Any:
        """Return a column of weights; refused where one is less than `least`."""
        w = self._numbers(weights, "weights")
        if not isinstance(w, Named):
            w = frames.column(w, "weights").array
            _checks.same_length(w, "weights", self._rows.size, "z")
        (low,) = Chunks(self._rows, w).fold(lambda chunk: (chunk.columns[0].min(),), np.minimum)
        if low < least:
            raise ArgumentError(f"weights must not be negative, got {low:g}")
        return w
