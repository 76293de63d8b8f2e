"""Regress by a formula, with masked columns on either side (docs/inference.rst, "Formulas").

The columns in clear are made by formulaic from complete records alone, as numbers of 64 bits or as
categories. So it drops and moves no row, no small integer wraps, and a missing category is not
taken for the first one. Other records have NaN in all columns, and are left out.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from condmask import _checks, frames
from condmask.designs.design import Design
from condmask.errors import ArgumentError, ArgumentTypeError, optional
from condmask.estimates.estimate import Estimate
from condmask.estimates.results import Intervals
from condmask.indicators import is_text, yes_no
from condmask.inference.interval import Target
from condmask.labels import groups
from condmask.publish.formula_terms import MaskedTerm, Parsed, categorical, parse, variables
from condmask.publish.regression import fit_masked

ReadColumn = Callable[[str, bool], Any]  # a column by name, as labels or as it is


class ClearColumns(NamedTuple):
    """The terms in clear as columns of numbers, NaN where a record lacks any value.

    Attributes
    ----------
    by_name : dict of str to ndarray of shape (n,)
    names : dict of str to list of str
        The columns that each term becomes.
    complete : ndarray of bool of shape (n,)
        Which records have all values.
    """

    by_name: dict[str, np.ndarray]
    names: dict[str, list[str]]
    complete: np.ndarray


def regress_by_formula(
    release: Mapping[str, Estimate],
    text: str,
    read: ReadColumn,
    *,
    weights: ArrayLike | str | None,
    clusters: ArrayLike | str | None,
    level: float,
    target: Target,
) -> Intervals:
    """Return the coefficients of a formula; see `Release.regress`.

    Parameters
    ----------
    release : mapping of str to Estimate
    text : str
        The formula.
    read : callable (name, as_labels)
        Returns a column in clear.
    weights, clusters : array_like of shape (n,), str or None
    level : float
    target : {"population", "file"}
    """
    parsed = parse(text, list(release))
    masked = {term.text: _estimate_of(term, release) for term in parsed.masked}
    first = next(iter(masked.values()))
    complete = np.logical_and.reduce([~np.isnan(one.records.z) for one in masked.values()])
    clear = _clear_columns(parsed, read, complete)
    sampling = {"weights": weights, "clusters": clusters}
    given = {
        name: read(value, name == "clusters") if isinstance(value, str) else value
        for name, value in sampling.items()
        if value is not None
    }
    if len(masked) == 1 and isinstance(parsed.outcome, MaskedTerm):
        return _regress_masked_outcome(
            first, clear.by_name, given, intercept=parsed.intercept, level=level, target=target
        )
    if given:
        raise ArgumentError(
            f"{' and '.join(given)} must be left out where a masked column explains: they are "
            "taken where the outcome alone is masked"
        )
    columns = dict(clear.by_name)
    for text_of_term, one in masked.items():
        columns[text_of_term] = one.records.z
    texts = [
        term.text if isinstance(term, MaskedTerm) else str(term)
        for term in (*parsed.terms, parsed.outcome)
    ]
    order = [name for each in texts for name in clear.names.get(each, [each])]
    return fit_masked({name: columns[name] for name in order}, masked, texts[-1], level, target)


def _regress_masked_outcome(
    outcome: Estimate,
    columns: dict[str, np.ndarray],
    sampling: dict[str, Any],
    *,
    intercept: bool,
    level: float,
    target: Target,
) -> Intervals:
    """Return the regression of a masked column on columns in clear."""
    options: dict[str, Any] = {
        "intercept": intercept,
        "confidence_level": level,
        "target": target,
    }
    if "weights" in sampling:
        return outcome.with_design(Design(**sampling)).regress(columns, **options)
    return outcome.regress(columns, **sampling, **options)


def _estimate_of(term: MaskedTerm, release: Mapping[str, Estimate]) -> Estimate:
    """Return the estimate of a masked column, or of a function of it."""
    estimate = release[term.column]
    return estimate if term.function is None else estimate.map(term.function, name=term.text)


def _clear_columns(parsed: Parsed, read: ReadColumn, complete: np.ndarray) -> ClearColumns:
    """Return the columns of the terms in clear; `complete` says which records have all masked
    values."""
    names = sorted(set().union(*map(variables, parsed.clear)))
    as_categories = set().union(*map(categorical, parsed.clear))
    given = {name: _prepared(read, name, name in as_categories, complete.size) for name in names}
    for column, labels in given.values():
        complete = complete & (~np.isnan(column) if labels is None else column >= 0)
    if not complete.any():
        raise ArgumentError("formula must have records with all of its columns, got none")
    frame = _frame({name: (c[complete], labels) for name, (c, labels) in given.items()}, complete)
    found = ClearColumns({}, {}, complete)
    right = [term for term in parsed.terms if not isinstance(term, MaskedTerm)]
    _add_terms(found, right, parsed.constant, frame)
    if not isinstance(parsed.outcome, MaskedTerm):
        _add_terms(found, [parsed.outcome], [], frame)
        if found.names[str(parsed.outcome)] != [str(parsed.outcome)]:
            raise ArgumentTypeError(
                f"formula must have an outcome of numbers, got {str(parsed.outcome)!r}"
            )
    return found


def _add_terms(found: ClearColumns, terms: list[Any], constant: list[Any], frame: Any) -> None:
    """Add the columns of terms, which formulaic codes as it does beside the constant."""
    if not terms:
        return
    matrix = _matrix([*constant, *terms], frame)
    for term in terms:
        part = matrix.iloc[:, matrix.model_spec.term_slices[term]]
        found.names[str(term)] = [str(name) for name in part.columns]
        for name in part.columns:
            found.by_name[str(name)] = _of_all_records(part[name], str(name), found.complete)


def _matrix(terms: list[Any], frame: Any) -> Any:
    """Return the columns of terms as a frame, as formulaic makes them."""
    with optional("a formula", "formula"):
        import formulaic
    formula = formulaic.SimpleFormula(terms)
    try:
        with np.errstate(all="ignore"):  # values that are not finite are counted afterwards
            return formula.get_model_matrix(frame, na_action="raise", output="pandas")
    except (formulaic.errors.FormulaicError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ArgumentError(f"formula must have terms that can be evaluated: {reason}") from None


def _of_all_records(values: Any, name: str, complete: np.ndarray) -> np.ndarray:
    """Return a column of complete records as one of all records; refuse values that are not
    finite."""
    numbers = np.asarray(values, dtype=np.float64)
    undefined = int(np.count_nonzero(~np.isfinite(numbers)))
    if undefined:
        raise ArgumentError(
            f"{name} must be finite, got {undefined:,} of {numbers.size:,} records for which it "
            "is not"
        )
    column = np.full(complete.size, np.nan)
    column[complete] = numbers
    return column


def _prepared(
    read: ReadColumn, name: str, as_categories: bool, n: int
) -> tuple[np.ndarray, list[Any] | None]:
    """Return a column as numbers, or as the number of each record's label and the labels."""
    values = read(name, False)
    categories = getattr(getattr(values, "dtype", None), "categories", None)
    if as_categories or categories is not None or is_text(yes_no(values, name)):
        code, labels = groups(read(name, True), name, n)
        order = list(range(len(labels)))
        if categories is not None:
            given = [str(each) for each in list(categories)]
            order.sort(key=lambda k: given.index(str(labels[k])))
        rank = np.append(np.argsort(order), -1)
        return np.asarray(rank[code]), [labels[k] for k in order]
    column = np.asarray(frames.column(yes_no(values, name), name).array, dtype=np.float64)
    _checks.same_length(column, name, n, "the release")
    return column, None


def _frame(given: dict[str, tuple[np.ndarray, list[Any] | None]], complete: np.ndarray) -> Any:
    """Return complete records as a pandas data frame."""
    with optional("a formula", "formula"):
        import pandas as pd  # noqa: TID251 - formulaic takes its categories
    columns = {
        name: column
        if labels is None
        else pd.Categorical.from_codes(column, labels).remove_unused_categories()
        for name, (column, labels) in given.items()
    }
    return pd.DataFrame(columns, index=range(int(complete.sum())))
