"""A few records that represent all, drawn by their content: the same ones from every file that has them.

A record is the sum of the words of its values (`value_hash`), whatever the names and the order of columns.
Kept are the sums that begin with so many bits 0 that at most `MOST` do (Gibbons, 2001). From two files that
share records the same ones are kept, which gives the share of common ones. Since columns come, go and change,
records are summed over several sets of columns, drawn by name: all; half; an eighth; each masked one alone.
One set that both files have in common is enough.

Heaped values agree by chance. Therefore a record counts only if it is the only one of its kind in either
file. If the records of independent files are drawn from laws q and q', the number of kinds with one record in
both is expected to be sum (n q)(n q')(1 - q)^(n-1) (1 - q')^(n'-1), at most 2 sqrt(F F') by the inequality
of Cauchy and Schwarz, where F = sum (n^2/2) q^2 (1 - q)^(n-2) and F' are the expected numbers of kinds with
two. These are counted in the sketch, so any excess is not chance. A row number or a date links records of any
two files that have one; then the masked value has to agree, so a record counts only if one of its masked
values is not shared by a twentieth of the file.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

import numpy as np

from condmask._blocks import evenly_spaced
from condmask.kernels.record_samples import add_records
from condmask.kernels.value_words import ABSENT, number_words
from condmask.releases.value_hash import mix

MOST = 2048  # records that are kept of a set of columns: shares of .1 are known to .01
SETS = 16  # by turns of about half and an eighth of the columns
HALF, EIGHTH = 128, 32  # of 256
SINGLE = 32  # masked columns that are a set each
COMMON = 0.05  # a share of records from which a value says nothing about one
LOOKED_AT = 16_384  # rows in which these values are found
SHARED = 0.1  # records that an earlier release may have in common with a new one
DEVIATIONS = 3.0  # above what is expected by chance
FEWEST = 8  # kinds of records in files that are identical
SPARE = np.uint64(8)  # bits of a hash that leave room for counts and levels in files
ALIKE = 0.5  # of the kinds of records, from which files may be the same


class Sample(NamedTuple):
    """Records of one set of columns.

    `tokens` are the sums that begin with `level` bits 0, `levels` the number of bits 0 at the start of each,
    `counts` the number of records that have it, at most 3. `whole` is a sum over all records.
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
    """What two files have in common: the share of the smaller one's records, whether that is too large, and
    whether the records are too much alike to tell."""

    share: float
    shared: bool
    unclear: bool


def common_values(values: np.ndarray) -> np.ndarray:
    """The values that more than a twentieth of the records have."""
    rows = values[evenly_spaced(values.size, LOOKED_AT)]
    distinct, counts = np.unique(rows[~np.isnan(rows)], return_counts=True)
    return np.asarray(distinct[(counts > COMMON * rows.size) & (counts > 1)])


def sets_of_columns(names: Sequence[str], masked: Sequence[str]) -> list[frozenset[str]]:
    """Sets of columns by their names, each with a masked one."""
    drawn = {name: hashlib.blake2b(name.encode(), digest_size=2 * SETS).digest() for name in names}
    sets = [frozenset(names), *(frozenset([name]) for name in masked[:SINGLE])]
    for k in range(SETS):
        anchor = min(masked, key=lambda name: (drawn[name][SETS + k], name))
        limit = EIGHTH if k % 2 else HALF
        sets.append(frozenset([anchor, *(name for name in names if drawn[name][k] < limit)]))
    return list(dict.fromkeys(sets))


def sketch(blocks: Iterable[Mapping[str, np.ndarray]], common: Mapping[str, np.ndarray]) -> Sketch:
    """The sketch of a table from the words of its columns, or their numbers as float64, block by block.

    `common` are those words of each masked column that say nothing about a record.
    """
    samples: _Samples | None = None
    records = 0
    for words in blocks:
        if samples is None:
            samples = _Samples(list(words), common)
        records += next(iter(words.values())).size
        samples.add(words)
    return Sketch(records, [] if samples is None else samples.all())


def _levels(tokens: np.ndarray) -> np.ndarray:
    """How many bits 0 each sum begins with."""
    return np.asarray(64 - np.ceil(np.log2(tokens.astype(np.float64) + 1.0)).astype(np.uint8))


class _Samples:
    """Samples of records by set of columns, as blocks of them come."""

    def __init__(self, names: list[str], common: Mapping[str, np.ndarray]) -> None:
        at = {name: c for c, name in enumerate(names)}
        sets = [[at[name] for name in columns] for columns in sets_of_columns(names, list(common))]
        self._words = np.empty((len(names), 0), dtype=np.uint64)
        self._columns = np.concatenate(sets)
        self._ends = np.cumsum([0, *map(len, sets)])
        self._masked = np.array([name in common for name in names])
        self._common = np.full((len(names), 1 + max(map(len, common.values()))), ABSENT)
        for name, words in common.items():
            self._common[at[name], : words.size] = words
        self._levels, self._wholes = np.zeros((2, len(sets)), dtype=np.uint64)
        self._sizes = np.zeros(len(sets), dtype=np.int64)
        self._tokens = np.empty((len(sets), 2 * MOST), dtype=np.uint64)
        self._counts = np.zeros(self._tokens.shape, dtype=np.uint8)

    def add(self, words: Mapping[str, np.ndarray]) -> None:
        size = next(iter(words.values())).size
        if size != self._words.shape[1]:
            self._words = np.empty((len(words), size), dtype=np.uint64)
        for row, column in zip(self._words, words.values(), strict=True):
            if column.dtype == np.float64:
                number_words(column.view(np.uint64), row)
            else:
                row[:] = column
        add_records(
            self._words, self._masked, self._common, self._columns, self._ends,
            self._levels, self._wholes, self._sizes, self._tokens, self._counts,
        )  # fmt: skip

    def all(self) -> list[Sample]:
        return [self._sample(s) for s in range(self._sizes.size)]

    def _sample(self, s: int) -> Sample:
        kept = np.flatnonzero(self._counts[s])
        kept = kept[np.argsort(self._tokens[s, kept])]
        tokens, counts = self._tokens[s, kept], self._counts[s, kept].astype(np.int64)
        return Sample(int(self._levels[s]), int(self._wholes[s]), tokens, _levels(tokens), counts)


def overlap(new: Sketch, old: Sketch) -> Overlap:
    """What two files have in common, by the set of columns that shows most."""
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
    """The number of kinds of single records that two different files may share: `SHARED`, and by chance."""
    a, b = (float(np.sum(count == 2)) + 1.0 for count in counts)
    chance = 2.0 * sqrt(a * b)
    return SHARED * drawn + chance + DEVIATIONS * sqrt(chance + a + b)


def keyed(sketch: Sketch, key: bytes) -> Sketch:
    """The sketch with its sums hashed under a key, in an order that reveals nothing about them."""
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
