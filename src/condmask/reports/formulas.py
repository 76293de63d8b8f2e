"""The mathematics of a report, in MathML, which browsers show without help.

The equations are those of docs/theory.rst; each is written once, here.
"""

from typing import Any

from condmask.reports.html import Html, join, tag


def _row(*parts: Any) -> Html:
    return tag("mrow", *parts)


def _id(symbol: str) -> Html:
    return tag("mi", symbol)


def _op(symbol: str) -> Html:
    return tag("mo", symbol)


def _number(symbol: str) -> Html:
    return tag("mn", symbol)


def _sub(symbol: str, index: str) -> Html:
    return tag("msub", _id(symbol), _id(index))


def _words(label: str) -> Html:
    return tag("mtext", label)


def _fence(symbol: str, form: str) -> Html:
    """A bracket or brace as high as what it holds."""
    return tag("mo", symbol, form=form, fence="true", stretchy="true", symmetric="true")


def _in_brackets(*parts: Any) -> Html:
    return _row(_fence("(", "prefix"), *parts, _fence(")", "postfix"))


def _function(symbol: Any, *parts: Any) -> Html:
    return _row(symbol if isinstance(symbol, Html) else _id(symbol), _in_brackets(*parts))


KEPT = _row(_number("1"), _op("\u2212"), _id("p"))  # 1 - p
ONE_KEPT = _in_brackets(KEPT)


def block(*parts: Any) -> Html:
    """A formula on a line of its own."""
    return tag("math", _row(*parts), display="block", xmlns="http://www.w3.org/1998/Math/MathML")


def equation_1() -> Html:
    """What was done to each record: Z = X_J, or X + Y."""
    cases = [
        [_sub("X", "J"), _words("with probability\u00a0"), _id("p")],
        [_row(_sub("X", "i"), _op("+"), _sub("Y", "i")), _words("with probability\u00a0"), KEPT],
    ]
    rows = [tag("mtr", tag("mtd", first), tag("mtd", _row(*rest))) for first, *rest in cases]
    braced = _row(_fence("{", "prefix"), tag("mtable", *rows, columnalign="left left"))
    return block(_sub("Z", "i"), _op("="), braced)


def keys(scale: str) -> Html:
    """What orders the kept records under reverse mapping: keys X + Y, or X e^Y."""
    noise = [_op("+"), _sub("Y", "i")]
    if scale == "log":
        noise = [tag("msup", _id("e"), _sub("Y", "i"))]
    return block(_sub("V", "i"), _op("="), _sub("X", "i"), *noise)


def moments() -> Html:
    """How moments of the original follow from those of the masked values."""
    mean = block(_function("E", _id("X")), _op("="), _function("E", _id("Z")))
    noise = _function("Var", _id("Y"))
    less = [_op("\u2212"), ONE_KEPT, noise]
    return join([mean, block(_function("Var", _id("X")), _op("="), _function("Var", _id("Z")), *less)])


def distribution() -> Html:
    """The estimate of the distribution function, and the equation that its weight K solves."""
    hat = tag("mover", _id("F"), _op("^"))
    argument = tag("mfrac", _row(_id("t"), _op("\u2212"), _sub("Z", "j")), _id("\u03c3"))
    total = tag("munderover", _op("\u2211"), _row(_id("j"), _op("="), _number("1")), _id("n"))
    mean = tag("mfrac", _number("1"), _id("n"))
    estimate = block(_function(hat, _id("t")), _op("="), mean, total, _function("K", argument))
    step = tag("msub", _number("1"), _row(_id("u"), _op("\u2265"), _number("0")))
    kept = _function("K", _id("u"))
    moved = _row(_id("u"), _op("\u2212"), tag("mfrac", _id("Y"), _id("\u03c3")))
    noised = _function("E", _function("K", moved))
    equation = block(_id("p"), kept, _op("+"), ONE_KEPT, noised, _op("="), step)
    return join([estimate, equation])
