"""Read numbers and dates in texts, however they are written."""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import numpy as np

TOKEN = re.compile(r"[^\W\d_]+|\d+")
NUMBER = re.compile(r"\d[\d.,'\u00a0\u202f\u2019]*")
GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")  # thousands, and no decimals
SPACES = str.maketrans("", "", "'\u00a0\u202f\u2019")
MAX_NUMBERS_READ = 8  # of a text
MAX_DATE_LENGTH = 30  # letters
TRIED_TEXTS = 50
MIN_DATE_SHARE = 0.95  # of the texts that a format must read
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%Y/%m/%d",
    "%Y%m%d",
    "%Y-%m",
)


def as_numbers(text: str) -> list[float]:
    """Return the first numbers in a text; only that at its start may be below 0.

    A comma or a point is the decimal mark where it is the last of two marks, or alone; a comma
    alone before three digits parts thousands.
    """
    with suppress(ValueError):
        plain = float(text)
        return [plain] if np.isfinite(plain) else []
    if text[:1] in ("-", "\u2212"):
        first, *rest = as_numbers(text[1:]) or [np.nan]
        return [-first, *rest]
    return [_as_number(found) for found in NUMBER.findall(text)[:MAX_NUMBERS_READ]]


def _as_number(text: str) -> float:
    plain = text.translate(SPACES).rstrip(".,")
    comma = plain.rfind(",")
    point = plain.rfind(".")
    if comma > point:
        thousands, decimal = ".", ","
    else:
        thousands, decimal = ",", "."
    plain = plain.replace(thousands, "")
    if plain.count(decimal) > 1 or (decimal == "," and GROUPED.fullmatch(plain)):
        plain = plain.replace(decimal, "")
    return float(plain.replace(decimal, "."))


def as_dates(distinct: Sequence[str]) -> np.ndarray | None:
    """Return texts as seconds since 1970, NaN where one is no date; None where most are none."""
    present = [text for text in distinct if text]
    some = present[:: max(1, len(present) // TRIED_TEXTS)]
    if not some or not all(_may_be_date(text) for text in some):
        return None
    for form in DATE_FORMATS:
        read = np.array([_read(text, form) for text in some])
        if np.mean(~np.isnan(read)) >= MIN_DATE_SHARE:
            seconds = np.array([_read(text, form) for text in distinct])
            known = np.count_nonzero(~np.isnan(seconds))
            if known >= MIN_DATE_SHARE * len(present):
                return seconds
    return None


def _may_be_date(text: str) -> bool:
    digits = sum(map(str.isdecimal, text))
    return digits >= 5 and len(text) < MAX_DATE_LENGTH and len(TOKEN.findall(text)) <= 8


def _read(text: str, form: str) -> float:
    try:
        return datetime.strptime(text[:19], form).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return np.nan
