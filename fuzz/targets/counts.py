"""The bytes of counts: what is accepted is written again as it was, and its estimates are finite."""

import math

import condmask as cm

SCHEMES = {
    "plain": cm.ConditionalMasking(0.6, 3.0, decimals=1),
    "mapped": cm.ConditionalMasking(0.6, 3.0, reverse_mapping=True),
}


def one(data):
    check(data)


def check(data):
    """What accepted bytes must fulfil."""
    counts = cm.Counts.from_bytes(data)
    assert cm.Counts.from_bytes(counts.to_bytes()).to_bytes() == counts.to_bytes()
    assert counts.n >= 0
    assert counts.nbytes >= 0
    repr(counts)
    scheme = SCHEMES["plain" if counts.mapped is None else "mapped"]
    estimate = scheme.estimate(counts)  # refused for those of another scheme
    assert math.isfinite(estimate.mean())
    total = counts + counts
    assert total.n == 2 * counts.n
    assert math.isclose(scheme.estimate(total).mean(), estimate.mean(), rel_tol=1e-9, abs_tol=1e-9)


def seeds():
    for scheme in SCHEMES.values():
        counts = cm.Counts(scheme)
        counts.update([1.5, 2.5, 2.5, -7.0, 100.0])
        yield counts.to_bytes()
    paired = cm.Counts(SCHEMES["plain"])
    paired.update([1.5, 2.5, 9.0], [1.0, 2.0, 4.0])
    yield paired.to_bytes()
