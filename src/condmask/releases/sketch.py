"""A few records that stand for all, drawn by what they hold: the same ones from every file that has them.

A record is the sum of the words of its values (`value_hash`), whatever the names and the order of columns.
Kept are the sums that begin with so many bits 0 that at most `MOST` do (Gibbons, 2001): from two files that
share records the same ones are kept, and so the share of common ones is known. Since columns come, go and
change, records are summed over several sets of columns, drawn by name: all; half; an eighth; the masked ones
singly. One set that both files have in common is enough.

Heaped values agree by chance. Therefore only those records count that are the only ones of their kind in
either file. If those of independent files are drawn from laws q and q', the number of kinds with one record
in both is expected to be sum (n q)(n q')(1 - q)^(n-1) (1 - q')^(n'-1), at most 2 sqrt(F F') by the inequality
of Cauchy and Schwarz, where F = sum (n^2/2) q^2 (1 - q)^(n-2) and F' are the expected numbers of kinds with
two. These are counted in the sketch, so what is beyond them is no chance. A number of the row, or a date,
links records of any two files of such a kind; then the masked value is what has to agree, so a record counts
only where one of its masked values is not shared by a twentieth of the file.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.releases.value_hash import mix

MOST = 2048  # records that are kept of a set of columns: shares of .1 are known to .01
MANY = 4 * MOST  # records that wait before they are sorted out
SETS = 16  # by turns of about half and an eighth of the columns
HALF, EIGHTH = 128, 32  # of 256
SINGLE = 32  # masked columns that are a set each
COMMON = 0.05  # a value that so many have says nothing of a record
LOOKED_AT = 16_384  # rows that tell which values those are
SHARED = 0.1  # records that an earlier release may have in common with a new one
DEVIATIONS = 3.0  # of what is expected by chance
FEWEST = 8  # kinds of records in files that are the same as wholes
SPARE = np.uint64(8)  # bits of a hash that leave room for counts and levels in files
ALIKE = 0.5  # of the kinds of records, from where files may be the same


class Sample(NamedTuple):
    """Records of one set of columns.

    `tokens` are the sums that begin with `level` bits 0, `levels` how many bits 0 each of them begins with,
    `counts` how many records have it, 3 for more. `whole` is a sum over all records.
    """

    level: int
    whole: int
    tokens: np.ndarray
    levels: np.ndarray
    counts: np.ndarray


class Sketch(NamedTuple):
    """Samples of the records of a file, by set of columns, and the number of its records."""

    records: int
    samples: list[Sample]


class Overlap(NamedTuple):
    """What two files have in common: the share of the smaller one's records, whether that is too much, and
    whether the records are too much alike to tell."""

    share: float
    shared: bool
    unclear: bool


def common_values(values: np.ndarray) -> np.ndarray:
    """The values that more than a twentieth of the records have."""
    rows = values[evenly_spaced(values.size, LOOKED_AT)]
    distinct, counts = np.unique(rows[~np.isnan(rows)], return_counts=True)
    return np.asarray(distinct[(counts > COMMON * rows.size) & (counts > 1)])


def telling(values: np.ndarray, common: np.ndarray) -> np.ndarray:
    """Where a masked value is there, and none of the common ones."""
    tells: np.ndarray = ~np.isnan(values)
    for value in common:
        tells &= values != value
    return tells


def sets_of_columns(names: Sequence[str], masked: Sequence[str]) -> list[frozenset[str]]:
    """Sets of columns by their names, each with a masked one."""
    drawn = {name: hashlib.blake2b(name.encode(), digest_size=2 * SETS).digest() for name in names}
    sets = [frozenset(names), *(frozenset([name]) for name in masked[:SINGLE])]
    for k in range(SETS):
        anchor = min(masked, key=lambda name: (drawn[name][SETS + k], name))
        limit = EIGHTH if k % 2 else HALF
        sets.append(frozenset([anchor, *(name for name in names if drawn[name][k] < limit)]))
    return list(dict.fromkeys(sets))


def sketch(
    blocks: Iterator[tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]], masked: Sequence[str]
) -> Sketch:
    """The sketch of a table from the words of its columns, and of where its masked values tell, by block."""
    keepers: list[_Keeper] = []
    records = 0
    for words, tells in blocks:
        if not keepers:
            keepers = [_Keeper(columns) for columns in sets_of_columns(list(words), masked)]
        records += next(iter(words.values())).size
        for keeper in keepers:
            keeper.add(words, tells)
    return Sketch(records, [keeper.sample() for keeper in keepers])


class _Keeper:
    """Keeps the records of a set of columns that begin with enough bits 0."""

    def __init__(self, columns: frozenset[str]) -> None:
        self._columns = columns
        self._level, self._whole = 0, 0
        self._tokens = np.empty(0, dtype=np.uint64)
        self._counts = np.empty(0, dtype=np.int64)
        self._waiting: list[np.ndarray] = []

    def add(self, words: Mapping[str, np.ndarray], tells: Mapping[str, np.ndarray]) -> None:
        first, *others = (words[name] for name in self._columns)
        sums = first
        for k, column in enumerate(others):
            sums = np.add(sums, column, out=sums if k else None)
        self._whole = (self._whole + int(sums.sum())) % (1 << 64)
        telling = [tells[name] for name in self._columns & tells.keys()]
        start = 0
        while start < sums.size:
            rows = slice(start, start + (MANY << self._level))  # of which about so many are kept
            start = rows.stop
            some = sums[rows]
            at = np.flatnonzero(some < _limit(self._level)) if self._level else np.arange(some.size)
            tell = telling[0][rows][at]
            for others_tell in telling[1:]:
                tell = tell | others_tell[rows][at]
            self._waiting.append(some[at[tell]])
            if sum(map(len, self._waiting)) > MANY:
                self._sort_out()

    def _sort_out(self) -> None:
        """Count what waits, and ask for more bits 0 where too many records are kept."""
        new = np.concatenate([self._tokens, *self._waiting])
        counts = np.ones(new.size, dtype=np.int64)
        counts[: self._counts.size] = self._counts
        self._waiting = []
        order = np.argsort(new)
        new, counts = new[order], counts[order]
        first = np.flatnonzero(np.concatenate(([True], new[1:] != new[:-1]))) if new.size else np.arange(0)
        self._tokens = new[first]
        self._counts = np.add.reduceat(counts, first) if new.size else counts
        while self._tokens.size > MOST:
            self._level += 1
            kept = int(np.searchsorted(self._tokens, _limit(self._level)))
            self._tokens, self._counts = self._tokens[:kept], self._counts[:kept]

    def sample(self) -> Sample:
        self._sort_out()
        levels = 64 - np.ceil(np.log2(self._tokens.astype(np.float64) + 1.0)).astype(np.uint8)
        return Sample(self._level, self._whole, self._tokens, levels, np.minimum(self._counts, 3))


def _limit(level: int) -> np.uint64:
    return np.uint64(1 << (64 - level))


def overlap(new: Sketch, old: Sketch) -> Overlap:
    """What two files have in common, by the set of columns that shows most of it."""
    records = min(new.records, old.records)
    same = new.records == old.records
    share, shared, alike = 0.0, False, False
    for a, b in _candidates(new, old):
        common, significant, likely = _compared(a, b, records)
        if same and a.whole == b.whole and a.tokens.size >= FEWEST:
            common, significant = 1.0, True
        if significant:
            share, shared = max(share, common), True
        alike |= likely
    unclear = alike and not shared and not any(_tells(a, new.records) for a in new.samples)
    return Overlap(share, shared, unclear)


def _candidates(new: Sketch, old: Sketch) -> Iterator[tuple[Sample, Sample]]:
    """The samples that have a record in common."""
    if not new.samples or not old.samples:
        return
    held = np.concatenate([sample.tokens for sample in old.samples])
    owner = np.repeat(np.arange(len(old.samples)), [sample.tokens.size for sample in old.samples])
    order = np.argsort(held, kind="stable")
    held, owner = held[order], owner[order]
    for sample in new.samples:
        first, last = (np.searchsorted(held, sample.tokens, side) for side in ("left", "right"))
        lengths = last - first
        at = np.repeat(first - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
        for k in np.unique(owner[at]).tolist():
            yield sample, old.samples[k]


def _compared(a: Sample, b: Sample, records: int) -> tuple[float, bool, bool]:
    """The share of common records, whether it is too large for chance, and whether most kinds of records are
    in both."""
    level = max(a.level, b.level)
    (a_tokens, a_counts), (b_tokens, b_counts) = (
        (sample.tokens[sample.levels >= level], sample.counts[sample.levels >= level]) for sample in (a, b)
    )
    drawn = records / 2.0**level
    _, in_a, in_b = np.intersect1d(a_tokens, b_tokens, assume_unique=True, return_indices=True)
    single = int(np.sum((a_counts[in_a] == 1) & (b_counts[in_b] == 1)))
    likely = in_a.size > ALIKE * min(a_tokens.size, b_tokens.size)
    return min(1.0, single / drawn), single > _most(drawn, a_counts, b_counts), likely


def _tells(sample: Sample, records: int) -> bool:
    """Whether these records of a file would show that it is released again."""
    most = _most(records / 2.0**sample.level, sample.counts, sample.counts)
    return bool(np.sum(sample.counts == 1) > most)


def _most(drawn: float, *counts: np.ndarray) -> float:
    """Kinds of single records in both of two files, up to which these may be others: `SHARED`, and chance."""
    a, b = (float(np.sum(count == 2)) + 1.0 for count in counts)
    chance = 2.0 * sqrt(a * b)
    return SHARED * drawn + chance + DEVIATIONS * sqrt(chance + a + b)


def keyed(sketch: Sketch, key: bytes) -> Sketch:
    """The sketch with its sums hashed under a key, in an order that tells nothing of them."""
    return sketch._replace(samples=[_keyed(sample, key) for sample in sketch.samples])


def _keyed(sample: Sample, key: bytes) -> Sample:
    tokens = siphash(sample.tokens, key) >> SPARE
    order = np.argsort(tokens)
    whole = int(siphash(mix(np.array([sample.whole], dtype=np.uint64)), key)[0])
    return Sample(sample.level, whole, tokens[order], sample.levels[order], sample.counts[order])


def siphash(words: np.ndarray, key: bytes) -> np.ndarray:
    """SipHash-2-4 (Aumasson and Bernstein, 2012) of words of 8 bytes under a key of 16."""
    k = np.frombuffer(key, dtype="<u8").astype(np.uint64)
    names = np.frombuffer(b"somepseudorandomlygeneratedbytes"[::-1], dtype="<u8")[::-1].astype(np.uint64)
    v = [np.full(words.shape, names[i] ^ k[i % 2]) for i in range(4)]
    for word in (words, np.full(words.shape, np.uint64(8 << 56))):
        v[3] = v[3] ^ word
        v = _round(_round(v))
        v[0] = v[0] ^ word
    v[2] = v[2] ^ np.uint64(0xFF)
    for _ in range(4):
        v = _round(v)
    return np.asarray(v[0] ^ v[1] ^ v[2] ^ v[3])


def _round(v: list[np.ndarray]) -> list[np.ndarray]:
    a, b, c, d = v
    a = a + b
    b = _rotated(b, 13) ^ a
    a = _rotated(a, 32)
    c = c + d
    d = _rotated(d, 16) ^ c
    a = a + d
    d = _rotated(d, 21) ^ a
    c = c + b
    b = _rotated(b, 17) ^ c
    return [a, b, _rotated(c, 32), d]


def _rotated(words: np.ndarray, bits: int) -> np.ndarray:
    return np.asarray((words << np.uint64(bits)) | (words >> np.uint64(64 - bits)))
