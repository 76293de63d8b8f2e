"""Slow, plain truth: what the package must give, from NumPy and Python integers alone.

Nothing here imports condmask (tests/test_architecture.py sees to it). Every function follows the
words of the documentation, with loops, exact fractions and integers of any length, and no care for
speed. First part: masking, by the draw contract.
"""

import hashlib
from fractions import Fraction

import numpy as np
from randomgen import AESCounter

# --- masking: the draw contract -------------------------------------------------------------------

ROWS_PER_BLOCK = 65_536
COINS, DONORS, NOISES = 0, 1, 2


def working_secret(seed, columns):
    """The 16 bytes under which ``columns`` are masked together where rng is a whole number."""
    root = hashlib.blake2b(str(seed).encode(), digest_size=16, person=b"condmask seed").digest()
    return derived_secret(root, columns)


def derived_secret(root, columns):
    """The same where rng is a key: the columns, hashed, are the labels of its use."""
    message = b""
    for column in columns:
        message += (32).to_bytes(8, "little") + hashlib.sha256(np.array(column, "<f8").tobytes()).digest()
    return hashlib.blake2b(message, key=root, digest_size=16, person=b"condmask").digest()


def aes(secret, block, lane, column=0):
    counter = block * 2**64 + lane * 2**56 + column * 2**40
    return AESCounter(key=int.from_bytes(secret, "little"), counter=counter)


def raw_words(secret, block, lane, count):
    return [int(word) for word in aes(secret, block, lane).random_raw(count)]


def block_ranges(n):
    return [range(start, min(start + ROWS_PER_BLOCK, n)) for start in range(0, n, ROWS_PER_BLOCK)]


def swapped_rows(secret, p, n):
    """Rows whose coin word lies below p 2^64, in file order."""
    swapped = []
    for block, rows in enumerate(block_ranges(n)):
        words = raw_words(secret, block, COINS, len(rows))
        swapped += [row for row, word in zip(rows, words, strict=True) if word < Fraction(p) * 2**64]
    return swapped


def donor_words(secret, swapped, n):
    """One word for every swapped row, drawn block by block."""
    words = {}
    for block, rows in enumerate(block_ranges(n)):
        inside = [row for row in swapped if row in rows]
        words.update(zip(inside, raw_words(secret, block, DONORS, len(inside)), strict=True))
    return words


def pools(columns, strata):
    """The pool of each row: its stratum and which columns are there; None for a row without any."""
    n = len(columns[0])
    there = [tuple(bool(x[row] == x[row]) for x in columns) for row in range(n)]
    stratum = [None] * n if strata is None else list(strata)
    return [(stratum[row], there[row]) if any(there[row]) else None for row in range(n)]


def donor_rows(secret, p, columns, strata, donors):
    """{swapped row: the row it takes its values from}; None where the row is in no pool."""
    n = len(columns[0])
    swapped = swapped_rows(secret, p, n)
    words = donor_words(secret, swapped, n)
    pool = pools(columns, strata)
    members = {}
    for row in range(n):
        members.setdefault(pool[row], []).append(row)
    position = {row: k for rows in members.values() for k, row in enumerate(rows)}

    chosen = {}
    for row in swapped:
        if pool[row] is None:
            chosen[row] = None
            continue
        mates = members[pool[row]]
        k = words[row] * (len(mates) - 1) >> 64
        chosen[row] = mates[k + (k >= position[row])]
    if donors == "permutation":
        cycles = {}
        for row in swapped:
            if pool[row] is not None:
                cycles.setdefault(pool[row], []).append(row)
        for cycle in cycles.values():
            cycle.sort(key=lambda row: (words[row], row))
            if len(cycle) > 1:
                chosen.update(zip(cycle, cycle[1:] + cycle[:1], strict=True))
    return chosen


def noise(secret, p, n, law, column):
    """{kept row: its noise}, in file order."""
    name, sigma, decimals = law
    swapped = set(swapped_rows(secret, p, n))
    drawn = {}
    for block, rows in enumerate(block_ranges(n)):
        kept = [row for row in rows if row not in swapped]
        stream = np.random.Generator(aes(secret, block, NOISES, column))
        if name == "normal":
            values = sigma * stream.standard_normal(len(kept))
        else:
            values = stream.laplace(0.0, sigma / np.sqrt(2.0), len(kept))
        if decimals is not None:
            values = np.rint(values * 10.0**decimals)
        drawn.update(zip(kept, values, strict=True))
    return drawn


def to_grid(value, decimals):
    """A value in whole steps of its grid."""
    return float(round(Fraction(value) * Fraction(10) ** decimals)) if value == value else value


def from_grid(steps, decimals):
    return float(Fraction(steps) / Fraction(10) ** decimals) if steps == steps else steps


def masked(secret, p, columns, laws, *, strata=None, donors="sample"):
    """The release of ``columns`` under a working secret; a law is (noise, sigma, decimals)."""
    n = len(columns[0])
    taken = donor_rows(secret, p, columns, strata, donors)
    released = []
    for number, (x, law) in enumerate(zip(columns, laws, strict=True)):
        decimals = law[2]
        values = [float(v) for v in x] if decimals is None else [to_grid(float(v), decimals) for v in x]
        added = noise(secret, p, n, law, number)
        z = []
        for row in range(n):
            if row in taken:
                z.append(float("nan") if taken[row] is None else values[taken[row]])
            else:
                z.append(float(values[row] + added[row]))
        released.append(np.array(z if decimals is None else [from_grid(v, decimals) for v in z]))
    return released
