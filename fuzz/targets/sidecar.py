"""What is published beside a CSV file: it is read, or refused; estimates from it are finite or refused."""

import hashlib
import json
import math

import condmask as cm
from fuzz.material import SCHEME, fresh

CSV = b"x,t\n" + b"".join(b"%d.5,%d\n" % (k, k % 3) for k in range(12))
DIGEST = hashlib.sha256(CSV).hexdigest()
METADATA = {
    "version": 1, "records": 12, "columns": {"x": SCHEME.to_dict()},
    "origins": {"x": {"group": "g", "patterns": ["a"], "shift": [0.5, 1, 2.5]}},
    "csv": {"delimiter": ",", "decimal": ".", "encoding": "utf-8", "na": []}, "sha256": DIGEST,
}  # fmt: skip
TOKENS = [f'"{word}"'.encode() for word in (*METADATA, *METADATA["columns"]["x"], "x", "part", "parts")]
TOKENS += [b"null", b"true", b"NaN", b"Infinity", b"1e400", b"[[[[", b"{}", b"[]", b"-1", b"9" * 400]


def one(data):
    path = fresh("a.csv", CSV)
    beside = path.with_name("a.csv.condmask.json")
    beside.write_bytes(data)
    try:
        metadata = json.loads(data)
    except (ValueError, RecursionError):
        metadata = None
    if isinstance(metadata, dict) and "sha256" in metadata:  # which no change of bytes could find
        beside.write_text(json.dumps({**metadata, "sha256": DIGEST}))
    schemes = cm.read_schemes(path)
    assert all(isinstance(name, str) for name in schemes)
    cm.read_counts(path, "x")
    for name, estimate in cm.read_release(path).items():
        assert isinstance(name, str)
        assert math.isfinite(estimate.mean())


def seeds():
    yield json.dumps(METADATA).encode()
    yield json.dumps({**METADATA, "origins": {}}).encode()
    for scheme in (cm.AdditiveNoise(2.0), cm.DataSwapping(), cm.MultiplicativeNoise(0.2)):
        yield json.dumps({**METADATA, "columns": {"x": scheme.to_dict()}, "origins": {}}).encode()
    mapped = cm.ConditionalMasking(0.6, 0.3, scale="log", reverse_mapping=True, range=(0, 100))
    yield json.dumps({**METADATA, "columns": {"x": mapped.to_dict()}, "origins": {}}).encode()
