"""Formulas as they are read. Oracle: an XML parser, and fontTools on the font of the page."""

import sys
from importlib.resources import as_file, files
from pathlib import Path
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


ALL = f"{formulas.equation_1()}{formulas.keys('log')}{formulas.moments()}{formulas.distribution()}"


def test_brackets_and_braces_stretch():
    marks = [each for each in ElementTree.fromstring(f"<all>{ALL}</all>").iter() if each.tag.endswith("mo")]
    fences = [each for each in marks if each.text in "(){"]

    assert {each.text for each in fences} == set("(){")
    assert {each.get("stretchy") for each in fences} == {"true"}


@pytest.mark.filterwarnings("ignore:path is deprecated:DeprecationWarning")  # in ziamath
def test_the_font_has_every_sign_and_stretches_those_that_must(tmp_path, monkeypatch):
    ttlib = pytest.importorskip("fontTools.ttLib")
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "extensions"))
    with as_file(files("condmask.reports") / "mathematics.woff") as path:
        font = ttlib.TTFont(path)
    signs, variants = font.getBestCmap(), font["MATH"].table.MathVariants

    assert set(map(ord, words(ALL))) - set(signs) == set()
    assert {signs[ord(each)] for each in "(){"} <= set(variants.VertGlyphCoverage.glyphs)
    import reportfont

    reportfont.write(tmp_path / "again.woff")
    again = ttlib.TTFont(tmp_path / "again.woff")
    assert again.getBestCmap() == signs
    sys.modules.pop("reportfont")
