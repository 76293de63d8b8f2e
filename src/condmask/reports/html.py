"""HTML by parts: what is no HTML yet is escaped, so that no name or value of a file becomes markup."""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

# control characters stand for nothing in HTML; halves of pairs cannot be written
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: Any) -> Html:
    """A value as text; HTML as it is."""
    return value if isinstance(value, Html) else Html(escape(UNFIT.sub("\ufffd", str(value))))


def join(parts: Iterable[Any], between: str = "") -> Html:
    """Parts one after the other."""
    return Html(text(between).join(map(text, parts)))


def tag(element: str, *inside: Any, **attributes: Any) -> Html:
    """An element; attributes end in an underscore where Python has their name, and have - for _."""
    shown = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{text(value)}"' for name, value in attributes.items()
    )
    return Html(f"<{element}{shown}>{join(inside)}</{element}>")


def bare(part: Any) -> Html:
    """The text of a part without its elements."""
    return Html(re.sub("<[^>]*>", "", text(part)))  # what is no element has no < any more


def name(of: Any) -> Html:
    """The name of a column or a file; one written from right to left turns nothing else around."""
    return tag("bdi", tag("code", of))


def names(of: Iterable[Any], none: str = "none") -> Html:
    """Several of them."""
    return join(map(name, of), ", ") or text(none)


def paragraph(*inside: Any) -> Html:
    return tag("p", *inside)


def items(entries: Iterable[Any]) -> Html:
    return tag("ul", *(tag("li", entry) for entry in entries))


def section(title: Any, *inside: Any) -> Html:
    return tag("section", tag("h2", title), *inside)


def facts(entries: dict[str, Any]) -> Html:
    """What is what."""
    return tag("dl", *(join([tag("dt", what), tag("dd", value)]) for what, value in entries.items()))


def table(caption: Any, head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Html:
    """A table whose first cells are the names of its rows; on a narrow screen each row is a list."""
    columns = tag("tr", *(tag("th", label, scope="col") for label in head))
    body = [
        tag("tr", tag("th", row[0], scope="row"), *(
            tag("td", cell, data_label=bare(label)) for label, cell in zip(head[1:], row[1:], strict=True)
        ))
        for row in rows
    ]  # fmt: skip
    return tag("table", tag("caption", caption), tag("thead", columns), tag("tbody", *body))


def figure(picture: Html, caption: Any) -> Html:
    """A picture and what it shows."""
    return tag("figure", picture, tag("figcaption", caption))


def page(title: Any, *body: Any) -> str:
    """The whole file. Its policy tells browsers to load nothing, whatever it says; the font is within it."""
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    head = join([
        Html('<meta charset="utf-8">'),
        Html(f"{policy}style-src 'unsafe-inline'; font-src data:\">"),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        tag("title", bare(title)),
        tag("style", Html(_font() + STYLE)),
    ], "\n")  # fmt: skip
    main = tag("main", tag("h1", title), *body)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{main}\n</body>\n</html>\n'


def _font() -> str:
    """The font of the formulas, which few machines have: docs/extensions/reportfont.py makes it."""
    font = files("condmask.reports").joinpath("mathematics.woff").read_bytes()
    source = f'url(data:font/woff;base64,{b64encode(font).decode()}) format("woff")'
    return f'@font-face {{ font-family: "STIX Two Math"; src: local("STIX Two Math"), {source}; }}'


STYLE = """
:root {
  --text: #1b1b1b; --page: #fff; --soft: #555; --line: #c8c8c8; --box: #f3f4f5; --bad: #a40000;
  --good: #1a6b2a; --doubt: #8a6100;
  color-scheme: light; color: var(--text); background: var(--page);
  font: 16px/1.5 -apple-system, BlinkMacSystemFont, "Segoe UI", "Helvetica Neue", Arial, sans-serif;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --text: #e4e6e8; --page: #14181e; --soft: #a9b0b8; --line: #4a525c; --box: #222832; --bad: #ff8a80;
    --good: #8fd49b; --doubt: #f0c36d; color-scheme: dark;
  }
  figure svg { filter: invert(.92) hue-rotate(180deg); }
}
body { margin: 0; }
main { max-width: 54rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin-top: 1.75rem; }
code { font-size: .9em; overflow-wrap: anywhere; }
td code { overflow-wrap: break-word; }
pre { background: var(--box); padding: .75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.internal { border: 2px solid var(--bad); color: var(--bad); padding: .5rem .75rem; font-weight: 600; }
.verdict { border-left: 6px solid var(--doubt); padding: .75rem 1rem; font-size: 1.1rem; }
.verdict { background: var(--box); }
.verdict.yes { border-color: var(--good); }
.verdict.no { border-color: var(--bad); }
.note { border-left: 4px solid var(--doubt); padding-left: .75rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .25rem; }
th, td { padding: .25rem .5rem; text-align: right; vertical-align: top; }
th, td { border-bottom: 1px solid var(--line); }
th:first-child { text-align: left; }
td { font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; }
figure svg { width: 100%; max-width: 42rem; height: auto; display: block; }
figure svg text { font-family: -apple-system, BlinkMacSystemFont, "Segoe UI", "Helvetica Neue", Arial,
  sans-serif !important; }
figcaption { font-size: .875rem; color: var(--soft); }
math { font-family: "STIX Two Math", math; font-size: 1.1em; }
math[display="block"] { margin: .75rem 0; overflow: auto hidden; padding: .2rem 0; }
math mtd { text-align: left; }
.sign td, .sign th { height: 2.25rem; text-align: left; vertical-align: middle; }
.sign td, .sign th { border: 1px solid var(--line); }
.sign th { width: 8rem; }
@media (max-width: 560px) {
  dl { display: block; }
  dd { margin-bottom: .5rem; }
  table, caption, tbody, tr, th[scope="row"], td { display: block; }
  thead { display: none; }
  tr { padding: .4rem 0; border-bottom: 1px solid var(--line); }
  th, td { border: 0; padding: .1rem 0; }
  td { display: flex; justify-content: space-between; gap: 1rem; }
  td::before { content: attr(data-label); color: var(--soft); text-align: left; }
  .sign tr { display: flex; border: 0; padding: 0; }
  .sign td, .sign th { flex: 1; min-height: 2.25rem; }
  .sign th { flex: 0 0 6rem; }
}
@page { size: A4; margin: 18mm 16mm; }
@media print {
  :root { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  figure, tr, .internal, .verdict, .sign, pre, math { break-inside: avoid; }
  thead { display: table-header-group; }
  figure svg { max-width: 13cm; }
  h2, h3, caption { break-after: avoid; }
  .verdict, pre { print-color-adjust: exact; }
}
"""
