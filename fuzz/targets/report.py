"""Reports and notes: no name of a column, a file or a unit becomes markup."""

from html.parser import HTMLParser

from hypothesis import strategies as st

import condmask as cm
from condmask.estimates.origin import NOWHERE
from condmask.files.metadata import Published
from condmask.files.note import written_note
from condmask.reports import html
from fuzz.target import arguments

HOSTILE = (
    "<script>alert(1)</script>", "</title><b>", "&lt;b&gt;", '" onload="x', "' x='", "<!--", "]]>", "`",
    "``` \n# a", "\\",
    "\u202eevil", "\x00", "\ud800", "\x7f", "a\nb", "%s {x} {0}", "$\\frac{1}{2}$", "$$", "</code></bdi>",
    "&", "<", "_^{",
    "\\text{", "é" * 50, " ", "=1+1", "\t", "\r",
)  # fmt: skip
NAMES = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(min_size=1, max_size=12),
    st.lists(st.sampled_from(HOSTILE)).map("".join),
)
ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "section", "h2", "p", "code", "bdi",
    "ul", "li", "dl",
    "dt", "dd", "table", "caption", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "pre", "b",
}  # fmt: skip


class Reader(HTMLParser):
    """The elements, attributes and text of a page; what is opened is closed."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements, self.attributes, self.texts, self.open = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.attributes += [name for name, _ in attributes]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"{tag} is closed, which is not open"

    def handle_data(self, data):
        self.texts.append(data)

    def handle_comment(self, data):
        raise AssertionError("a comment")


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader.open, f"left open: {reader.open}"
    return reader


def built(names):
    """A page with names in every kind of place."""
    first, second, third = names
    return html.page(
        html.join(["Report on ", html.name(first)]),
        html.section(second, html.paragraph("of ", html.name(third)), html.items(names)),
        html.facts({first: second, "of": html.names(names)}),
        html.table(
            first, [second, third, first], [[third, first, second], [html.name(first), 1, html.name(third)]]
        ),
        html.figure(html.Html("<b>x</b>"), third),
    )


@arguments(names=st.tuples(NAMES, NAMES, NAMES), unit=NAMES)
def one(names, unit):
    page = read(built(names))
    plain = read(built(("a", "b", "c")))
    assert page.elements == plain.elements, "a name is an element"
    assert page.attributes == plain.attributes, "a name is an attribute"
    whole = "".join(page.texts)
    for name in names:
        shown = html.UNFIT.sub("\ufffd", name)
        assert shown.replace("\r\n", "\n").strip() in whole, "a name is not shown as it is"
    page.close()
    scheme = cm.ConditionalMasking(0.6, 3.0)
    columns = dict.fromkeys(names, scheme)
    note = written_note("a.csv", Published(10, columns, dict.fromkeys(columns, NOWHERE)))
    assert note.isprintable() or "\n" in note
