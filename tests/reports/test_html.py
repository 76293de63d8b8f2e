"""HTML by parts. Oracle: html.escape, and an XML parser."""

import re
from html import escape

from condmask.reports import html

MARKUP = "<b a='1' c=\"2\">&amp;</b>"


def test_what_is_no_html_is_escaped_once():
    assert html.text(MARKUP) == escape(MARKUP)
    assert html.text(html.text(MARKUP)) == escape(MARKUP)
    assert html.tag("p", MARKUP, html.tag("b", 1), class_=MARKUP, data_label="x") == (
        f'<p class="{escape(MARKUP)}" data-label="x">{escape(MARKUP)}<b>1</b></p>'
    )


def test_what_cannot_be_shown_is_replaced():
    assert html.text("a\x00b\x1f\ud800c\td") == "a\ufffdb\ufffd\ufffdc\td"


def test_heads_are_repeated_as_plain_text_for_narrow_screens():
    made = html.table("t", ["", html.name(MARKUP)], [["r", 1]])

    assert f'<td data-label="{escape(MARKUP)}">1</td>' in made


def test_names_are_listed():
    assert html.names([]) == "none"
    assert html.names(["a", "b"]) == "<bdi><code>a</code></bdi>, <bdi><code>b</code></bdi>"


def test_a_page_is_legible_in_the_dark_on_paper_and_on_a_telephone():
    made = html.page(html.name("a<b"), "x")

    assert "<title>a&lt;b</title>" in made
    for rule in ("@media screen and (prefers-color-scheme: dark)", "@page { size: A4", "(max-width: 560px)"):
        assert rule in made
    assert "font-src data:" in made
    colours = re.findall("#[0-9a-f]{3,6}", html.STYLE.partition("body {")[2])
    assert colours == []  # all are variables, which the dark has, too
