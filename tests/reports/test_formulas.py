"""Formulas as they are read. Oracle: an XML parser."""

from xml.etree import ElementTree

import pytest

from condmask.reports import formulas


def words(formula):
    """A formula without its elements."""
    return "".join(ElementTree.fromstring(f"<all>{formula}</all>").itertext())


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (formulas.equation_1(), "Zi={XJwith probability\u00a0pXi+Yiwith probability\u00a01\u2212p"),
        (formulas.moments(), "E(X)=E(Z)Var(X)=Var(Z)\u2212(1\u2212p)Var(Y)"),
        (
            formulas.distribution(),
            "F^(t)=1n\u2211j=1nK(t\u2212Zj\u03c3)pK(u)+(1\u2212p)E(K(u\u2212Y\u03c3))=1u\u22650",
        ),
    ],
)
def test_formulas(formula, said):
    assert words(formula) == said
