"""HTML by parts: what is no HTML yet is escaped, so that no name or value of a file becomes markup."""

import re
from collections.abc import Iterable, Sequence
from html import escape
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
    """The whole file. Its policy tells browsers to load nothing, whatever it says."""
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    head = join([
        Html('<meta charset="utf-8">'),
        Html(f"{policy}style-src 'unsafe-inline'; img-src data:\">"),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", title),
        tag("style", Html(STYLE)),
    ], "\n")  # fmt: skip
    main = tag("main", tag("h1", title), *body)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{main}\n</body>\n</html>\n'


STYLE = """
:root { color: #1b1b1b; background: #fff; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0; }
main { max-width: 54rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin-top: 2.5rem; border-bottom: 1px solid #bbb; overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin-top: 1.75rem; }
code { font-size: .9em; overflow-wrap: anywhere; }
td code { overflow-wrap: break-word; }
pre { background: #f4f4f4; padding: .75rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.internal { border: 2px solid #a40000; color: #a40000; padding: .5rem .75rem; font-weight: 600; }
.note { border-left: 4px solid #b58900; padding-left: .75rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .875rem; }
caption { text-align: left; font-weight: 600; padding-bottom: .25rem; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }
th:first-child { text-align: left; }
td { font-variant-numeric: tabular-nums; }
thead th { border-bottom: 1px solid #777; }
figure { margin: 1rem 0; }
figure svg { width: 100%; max-width: 42rem; height: auto; display: block; }
figcaption { font-size: .875rem; color: #444; }
math[display="block"] { margin: .75rem 0; overflow: auto hidden; padding: .2rem 0; }
.sign td, .sign th { height: 2.5rem; text-align: left; border: 1px solid #999; }
@media (max-width: 560px) {
  dl { display: block; }
  dd { margin-bottom: .5rem; }
  table, caption, tbody, tr, th[scope="row"], td { display: block; }
  thead { display: none; }
  tr { padding: .4rem 0; border-bottom: 1px solid #999; }
  th, td { border: 0; padding: .1rem 0; }
  td { display: flex; justify-content: space-between; gap: 1rem; }
  td::before { content: attr(data-label); color: #555; text-align: left; }
}
@media print {
  :root { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  figure, table, .internal, pre { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
"""
