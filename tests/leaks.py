"""What must not be in a public report, and a search for it.

Oracle: NumPy and hashlib on the original. In an internal report the search must find something.
"""

import hashlib
import re
from html.parser import HTMLParser

import numpy as np

NUMBER = re.compile(r"[-\u2212]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")
DIGITS = range(4, 13)  # of a figure; fewer are found by chance among estimates of the same thing
MOVES = re.compile(r"(-?[\d.]+) (-?[\d.]+)")


def figures(x, others=()):
    """What somebody would compute from a column of the original."""
    found = [x.mean(), x.std(), x.std(ddof=1), x.var(), x.sum(), np.median(x), x.min(), x.max()]
    for method in ("inverted_cdf", "linear", "median_unbiased"):
        found += np.quantile(x, np.arange(1, 100) / 100, method=method).tolist()
    found += [np.corrcoef(x, other)[0, 1] for other in others]
    centred = (x - x.mean()) / x.std()
    return [*found, np.mean(centred**3), np.mean(centred**4), np.log(x).mean(), np.log(x).std()]


def numbers(page):
    """All numbers of a page, as they are written but for thousands and minus."""
    return {
        each.replace(",", "").replace("\u2212", "-").lstrip("-") for each in NUMBER.findall(page)
    }


def roundings(value):
    """A number in various numbers of digits, as somebody might write it."""
    written = {repr(float(value)), str(value)}
    for digits in DIGITS:
        written.add(f"{value:.{digits}g}")
        rounded = float(f"{value:.{digits}g}")
        written.add(f"{rounded:.12f}".rstrip("0").rstrip("."))
    for decimals in range(7):
        fixed = f"{value:.{decimals}f}"
        if len(fixed.strip("-0.").replace(".", "")) >= DIGITS[0]:
            written.add(fixed)
    for scaled in (100.0 * value,):  # percent
        written |= {f"{scaled:.{digits}g}" for digits in DIGITS}
    return {
        each.lstrip("-")
        for each in written
        if len(each.strip("-0.").replace(".", "")) >= DIGITS[0]
    }


def told(page, values):
    """Those of the figures that a page has, in any rounding."""
    there = numbers(page)
    return [value for value in values if roundings(value) & there]


def hashes(path, column):
    """Of a file and a column, in the forms in which hashes are written."""
    found = []
    for data in (path.read_bytes(), column.tobytes(), np.sort(column).tobytes()):
        for kind in ("md5", "sha1", "sha256", "sha512", "blake2b"):
            digest = hashlib.new(kind, data).digest()
            found += [digest.hex()[:16], digest.hex().upper()[:16]]
    return found


def places(page):
    """The points of all lines in the pictures of a page, line by line."""
    lines = re.findall(r'<path d="([^"]*)"', page)
    return [set(MOVES.findall(line)) for line in lines]


class Links(HTMLParser):
    """Whatever makes a browser fetch, run or follow something."""

    NAMES = (
        "src",
        "href",
        "xlink:href",
        "srcset",
        "data",
        "action",
        "formaction",
        "poster",
        "background",
        "ping",
    )
    ELEMENTS = (
        "script",
        "iframe",
        "object",
        "embed",
        "link",
        "base",
        "form",
        "audio",
        "video",
        "img",
        "image",
    )

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()
        self.found += re.findall(r"@import[^;]*", page)
        urls = re.findall(r"url\(([^)]*)\)", page)
        self.found += [each for each in urls if not each.strip("\"' ").startswith(("#", "data:"))]

    def handle_starttag(self, tag, attrs):
        if tag in self.ELEMENTS or (tag == "meta" and ("http-equiv", "refresh") in attrs):
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or (name in self.NAMES and not str(value).startswith("#")):
                self.found.append(f"{name}={value}")

    handle_startendtag = handle_starttag
