"""What a reader without a network would miss, or see unfinished, in a built site.

``python docs/extensions/offline.py docs/_build/html`` names every place where a page or a style asks for
something of the network, or shows a formula or a reference as it was typed; its exit code is then 1.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

# what a browser fetches by itself; a reader follows the links of <a>
FETCHED = {"src", "srcset", "data", "poster", "background"}
REMOTE = re.compile(r"(?:https?:)?//[\w.-]+\.\w", re.IGNORECASE)
IN_STYLES = re.compile(r"(?:url\(\s*|@import\s+)[\"']?(?:https?:)?//[^)\"';]*", re.IGNORECASE)
UNFINISHED = re.compile(r"\\[a-zA-Z]{2,}|\\[()\[\],;!]|\$\$|:[a-z]+:`")
AS_TYPED = {"script", "style", "pre", "code", "kbd", "samp", "tt"}  # programs and their text


class Page(HTMLParser):
    """Reads a page and notes what is wrong in `found`."""

    def __init__(self):
        super().__init__()
        self.found, self._within = [], []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag in AS_TYPED:
            self._within.append(tag)

    def handle_startendtag(self, tag, attributes):
        named = {name: value or "" for name, value in attributes}
        asked = [named[name] for name in FETCHED & named.keys()]
        if tag in {"link", "use", "image"}:  # in SVG also under its older name
            asked += [named.get(name, "") for name in ("href", "xlink:href")]
        self.found += [f"<{tag}> asks for {value}" for value in asked if REMOTE.search(value)]
        self.found += [f"<{tag}> {text}" for text in IN_STYLES.findall(named.get("style", ""))]
        for name in ("alt", "title", "aria-label"):
            self.found += [
                f"{name} shows {text}" for text in UNFINISHED.findall(named.get(name, ""))
            ]

    def handle_endtag(self, tag):
        if tag in self._within:
            self._within.remove(tag)

    def handle_data(self, data):
        if not self._within:
            self.found += [
                f"shows {text} in {data.strip()[:60]!r}" for text in UNFINISHED.findall(data)
            ]
        elif self._within[-1] == "style":
            self.found += IN_STYLES.findall(data)


def faults(text):
    """What is wrong in the HTML of a page."""
    page = Page()
    page.feed(text)
    page.close()
    return page.found


def main(folder):
    """Print what is wrong on all pages and in all styles of a site; 1 where there is something, else 0."""
    pages, styles = sorted(Path(folder).rglob("*.html")), sorted(Path(folder).rglob("*.css"))
    if not pages:
        print(f"{folder} must hold a built site, got no page")
        return 1
    found = [f"{path}: {text}" for path in pages for text in faults(path.read_text("utf-8"))]
    found += [
        f"{path}: {text}" for path in styles for text in IN_STYLES.findall(path.read_text("utf-8"))
    ]
    print(
        "\n".join(found)
        if found
        else f"{len(pages)} pages ask for nothing and show no raw formula"
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
