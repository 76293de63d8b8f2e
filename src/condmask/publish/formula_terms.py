"""Parse the formula of a regression, and tell its masked terms from those in clear."""

import ast
import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from condmask.errors import ArgumentError, optional

# functions that take each value by itself, so that they may be taken of a masked column
ELEMENTWISE = ("log", "log10", "log2", "log1p", "exp", "expm1", "sqrt", "abs")
NUMBER = "masked_column"  # stands for the column where a function of it is evaluated
ALLOWED_NODES = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.Constant,
    ast.Load,
)


class MaskedTerm(NamedTuple):
    """A masked column or a function of it.

    Attributes
    ----------
    text : str
        As it stands in the formula.
    column : str
    function : callable or None
        Of an array of values; None for the column itself.
    """

    text: str
    column: str
    function: Callable[[np.ndarray], Any] | None


class Parsed(NamedTuple):
    """A formula.

    Attributes
    ----------
    outcome : MaskedTerm or formulaic.Term
    terms : list of MaskedTerm or formulaic.Term
        The regressors in their order, without the constant.
    constant : list of formulaic.Term
        The constant; empty without one.
    """

    outcome: Any
    terms: list[Any]
    constant: list[Any]

    @property
    def intercept(self) -> bool:
        """Return whether there is a constant."""
        return bool(self.constant)

    @property
    def masked(self) -> list[MaskedTerm]:
        """Return the masked terms, the outcome last."""
        return [term for term in (*self.terms, self.outcome) if isinstance(term, MaskedTerm)]

    @property
    def clear(self) -> list[Any]:
        """Return the terms without a masked column, the outcome last."""
        return [term for term in (*self.terms, self.outcome) if not isinstance(term, MaskedTerm)]


def parse(text: str, masked: Collection[str]) -> Parsed:
    """Parse a formula.

    Parameters
    ----------
    text : str
    masked : collection of str
        The names of the masked columns.
    """
    with optional("a formula", "formula"):
        import formulaic
    try:
        formula = formulaic.Formula(text)
    except formulaic.errors.FormulaicError as error:
        reason = str(error).splitlines()[0]
        raise ArgumentError(f"formula must be one of formulaic, got {text!r}: {reason}") from None
    sides: list[Any] = [getattr(formula, side, None) for side in ("lhs", "rhs")]
    simple = all(isinstance(side, formulaic.SimpleFormula) for side in sides)
    if not simple or len(sides[0]) != 1 or len(next(iter(sides[0])).factors) != 1:
        raise ArgumentError(
            "formula must have one outcome, ~ and one sum of terms, as 'income ~ age', got "
            f"{text!r}"
        )
    outcome, *terms = (_term(term, masked) for side in sides for term in side)
    constant = [term for term in terms if str(term) == "1"]
    terms = [term for term in terms if str(term) != "1"]
    parsed = Parsed(outcome, terms, constant)
    _refuse_unfit(parsed, text)
    return parsed


def variables(term: Any) -> set[str]:
    """Return the names of the columns that a term in clear needs."""
    return {name for factor in term.factors for name in _names(factor)}


def categorical(term: Any) -> set[str]:
    """Return the names of the columns that a term takes as categories by C()."""
    texts = [str(factor.expr) for factor in term.factors]
    return {
        name
        for factor, text in zip(term.factors, texts, strict=True)
        if re.match(r"C\(", text)
        for name in _names(factor)
    }


def _names(factor: Any) -> set[str]:
    """Return the names of the columns of a factor."""
    from formulaic.utils.variables import get_required_variables

    if factor.eval_method.value == "lookup":
        return {str(factor.expr)}
    if factor.eval_method.value == "literal":
        return set()
    needed = get_required_variables(str(factor.expr))
    return {str(name) for name in needed if "value" in {role.value for role in name.roles}}


def _term(term: Any, masked: Collection[str]) -> Any:
    """Return a term as a `MaskedTerm` if it needs a masked column."""
    names = sorted(variables(term) & {*masked})
    if not names:
        return term
    text = str(term)
    if len(term.factors) > 1 or variables(term) != {*names} or len(names) > 1:
        raise ArgumentError(
            f"a masked column must be a term by itself, or a function of it alone, got {text!r}: "
            "products of masked columns with others are not estimated"
        )
    expression = str(term.factors[0].expr)
    if term.factors[0].eval_method.value == "lookup":
        return MaskedTerm(text, names[0], None)
    return MaskedTerm(text, names[0], _function(expression, names[0]))


def _function(expression: str, name: str) -> Callable[[np.ndarray], Any]:
    """Return the function of a column that an expression of Python stands for."""
    text = expression.replace(f"`{name}`", NUMBER)
    if name.isidentifier():
        text = re.sub(rf"\b{name}\b", NUMBER, text)
    text = re.sub(r"\bnp\.", "", text)
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        known = isinstance(node, ALLOWED_NODES) or (
            isinstance(node, ast.Name) and node.id in (NUMBER, "I", *ELEMENTWISE)
        )
        if isinstance(node, ast.Call):
            known = len(node.args) == 1 and not node.keywords
        if not known:
            raise ArgumentError(
                f"a function of a masked column must take each value by itself, as "
                f"{', '.join(ELEMENTWISE)} and arithmetic do, got {expression!r}"
            )
    code = compile(tree, "<formula>", "eval")
    known_names: dict[str, Any] = {each: getattr(np, each) for each in ELEMENTWISE}
    known_names |= {"I": np.asarray, "__builtins__": {}}
    return lambda values: eval(code, {**known_names, NUMBER: values})


def _refuse_unfit(parsed: Parsed, text: str) -> None:
    """Refuse formulas that cannot be estimated."""
    columns = [term.column for term in parsed.masked]
    if not columns:
        raise ArgumentError(f"formula must have a masked column, got {text!r}: use any package")
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise ArgumentError(f"formula must name a masked column once, got {twice[0]!r} twice")
    if not parsed.terms:
        raise ArgumentError(
            f"formula must have a regressor, got {text!r}: mean_interval estimates the mean"
        )
    regressors = [term for term in parsed.terms if isinstance(term, MaskedTerm)]
    if regressors and not parsed.intercept:
        raise ArgumentError(
            f"formula must have a constant where the masked column {regressors[0].column!r} "
            f"explains, got {text!r}"
        )
