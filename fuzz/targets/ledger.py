"""A ledger: what it lists can be named, forgotten and added to, and nothing is lost by that."""

import json

from condmask.releases.ledger import Ledger, ledger_of
from fuzz.material import fresh
from fuzz.target import REFUSALS

KEY = "00" * 16
ENTRY = {
    "target": "/a/b.csv", "time": "2026-01-02T03:04:05+00:00",
    "schemes": {"x": {"scheme": "ConditionalMasking"}},
    "records": 120, "samples": [{"level": 2, "whole": 7, "records": "AQIDBAUGBwgBAgMEBQYHCA=="}],
}  # fmt: skip
TOKENS = [f'"{word}"'.encode() for word in (*ENTRY, *ENTRY["samples"][0], "ledger", "key", "forgotten")]
TOKENS += [
    b"null",
    b"1e400",
    b"-1",
    b"[]",
    b"{}",
    b"\n",
    b"9" * 30,
    b"2026-01-02",
    b"0001-01-01T00:00:00+23:59",
]


def one(data):
    path = fresh("ledger.jsonl", data)
    ledger = ledger_of(path)
    assert isinstance(ledger, Ledger)
    content = ledger.content()  # which alone may refuse
    try:
        use(ledger, content)
    except REFUSALS as error:
        raise AssertionError("a damaged ledger is taken for a sound one") from error


def use(ledger, content):
    """Whatever is done with a ledger that was accepted."""
    assert (content is None) == (ledger.path.stat().st_size == 0)
    entries = {} if content is None else content.entries
    for entry in entries.values():
        assert entry.named.startswith(f"{entry.target}, released on ")
    with ledger.opened() as file:
        for entry in entries.values():
            ledger.add(file, entry, content)
    again = {} if not entries else ledger.content().entries
    assert len(again) == 2 * len(entries)
    for number in again:
        ledger.forget(number)
    assert not entries or not ledger.content().entries


def seeds():
    head = json.dumps({"ledger": 1, "key": KEY})
    yield (head + "\n").encode()
    yield "\n".join([head, json.dumps(ENTRY), json.dumps({"forgotten": 1}), json.dumps(ENTRY), ""]).encode()
