"""Keys from the operating system, and one stream of random words per (purpose, block).

A release is only as private as its randomness, so the words come from AES-128 in counter mode
under a key of 128 bits. A key is derived, never reused: the working key of a release comes from
the root key and all that is released under it, so that two columns, or one column under two
schemes, share neither coins (swap status) nor noise even under one seed (`release_key`). With the
same noise y under two sigmas, z = x + y and z = x + 2 y would give x away.

The counter of a stream starts at ``(block << 64) | (lane << 56) | (column << 40)``. Each step of
the counter yields two words, so a stream has 2^41 words before it reaches its neighbour.

==========  ====================================================
lane        what is drawn from it, per block of 65,536 rows
==========  ====================================================
COIN        one word for every row: swapped where below p 2^64
DONOR       one word for every swapped row
NOISE       the noise of every row that is not swapped, per column
WHOLE       in block 0, all that a scheme draws which masks a
            column at once, per column
==========  ====================================================
"""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, Protocol

import numpy as np
from randomgen import AESCounter

from condmask import _checks
from condmask.errors import ArgumentError, ArgumentTypeError

COIN = 0
DONOR = 1
NOISE = 2
WHOLE = 3
SEED_BITS = 48  # of a seed that is drawn for a study


class Secret(bytes):
    """Bytes that are used but never shown: this is all that printing them, or what holds them,
    reveals."""

    def __repr__(self) -> str:
        return "<secret>"

    __str__ = __repr__


class Key:
    """A secret of 128 bits that is never shown.

    Parameters
    ----------
    secret : bytes of length 16, optional
        Drawn from the operating system by default.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes | None = None) -> None:
        if secret is None:
            secret = secrets.token_bytes(16)
        sound = isinstance(secret, (bytes, bytearray))
        given = len(secret) if sound else type(secret).__name__
        if given == 16:
            self._secret = Secret(secret)
            return
        del secret  # a traceback may show what a function holds
        raise (ArgumentError if sound else ArgumentTypeError)(
            f"secret must be 16 bytes, got {given}"
        )

    def __repr__(self) -> str:
        return "<Key: secret>"

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError(
            "a Key cannot be pickled, so it cannot end up in a file or a log by accident"
        )

    def __getstate__(self) -> object:
        """Refuse, as `__reduce__` does: the default, which every object has, returns the slots."""
        return self.__reduce__()

    def derive(self, *labels: bytes) -> "Key":
        """Return the key of one use: a keyed hash of the labels."""
        digest = hashlib.blake2b(key=self._secret, digest_size=16, person=b"condmask")
        for label in labels:
            digest.update(len(label).to_bytes(8, "little") + label)
        return Key(Secret(digest.digest()))

    def stream(self, block: int, lane: int, column: int = 0) -> np.random.Generator:
        """Return a generator of the random words of one lane of one block."""
        counter = (block << 64) | (lane << 56) | (column << 40)
        return np.random.Generator(
            AESCounter(key=int.from_bytes(self._secret, "little"), counter=counter)
        )


# all that `check_rng` accepts
Randomness = (
    int
    | np.integer[Any]
    | np.random.Generator
    | np.random.BitGenerator
    | np.random.SeedSequence
    | Key
    | None
)


class WithKeyEntries(Protocol):
    """A scheme, with the parameters that enter the key of a release."""

    def key_entries(self) -> dict[str, Any]:
        """Return the parameters for JSON."""


class WithLeaders(Protocol):
    """Donor pools, with the first row of each record's pool."""

    def leaders(self) -> np.ndarray:
        """Return the first row of each record's pool, of shape (n,)."""


def group_name() -> str:
    """Return a random name for columns that are masked together.

    It comes from the operating system even where there is a seed: one that is guessed could be
    tried on a name that comes from it.
    """
    return secrets.token_hex(8)


def words(stream: np.random.Generator, count: int) -> np.ndarray:
    """Return ``count`` raw words of 64 bits."""
    # Generator.integers over the full range hands out the raw words, without holding the GIL;
    # random_raw holds it.
    return stream.integers(2**64, size=count, dtype=np.uint64)


def seeded_key(seed: int, use: bytes = b"seed") -> Key:
    """Return the key that a whole number stands for, another one for each use."""
    return Key(
        hashlib.blake2b(repr(seed).encode(), digest_size=16, person=b"condmask " + use).digest()
    )


def release_key(
    rng: Randomness,
    schemes: Mapping[str, WithKeyEntries],
    columns: Sequence[np.ndarray],
    pools: WithLeaders | None = None,
) -> Key:
    """Return the key under which columns are released together.

    None takes a new key from the operating system. A Key stands for the same key each time, as do
    a whole number and a SeedSequence, so all that must make a difference is hashed into the
    working key:

    - the columns that are masked together, and how: their names (of a single column without one
      "") and whole schemes, as JSON with sorted entries;
    - the data: the SHA-256 of each column as it is masked, and of who may give a value to whom in
      pools.
    """
    if rng is None:
        return Key()
    described = [[name, scheme.key_entries()] for name, scheme in schemes.items()]
    label = json.dumps(described, sort_keys=True, separators=(",", ":")).encode()
    data = columns if pools is None else [*columns, pools.leaders()]
    digests = [hashlib.sha256(np.ascontiguousarray(each).data).digest() for each in data]
    return root_key(rng).derive(b"mask", label, *digests)


def root_key(rng: Randomness) -> Key:
    """Return the key that a source of randomness stands for."""
    if isinstance(rng, Key):
        return rng
    if isinstance(rng, (int, np.integer)):
        return seeded_key(int(rng))
    return Key(np.random.default_rng(rng).bytes(16))


def study_seed(rng: Randomness) -> int:
    """Return the seed of a study, which is reported with its result.

    None draws one from the operating system; a Generator, BitGenerator or SeedSequence from its
    stream.
    """
    if rng is None:
        return secrets.randbits(SEED_BITS)
    if isinstance(rng, (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence)):
        return int(np.random.default_rng(rng).integers(2**SEED_BITS))
    rule = "rng must be None, a whole number of at least 0 or a NumPy Generator"
    known = isinstance(rng, (int, np.integer)) and not isinstance(rng, bool)
    _checks.require(known, rule, rng, ArgumentTypeError)
    return _checks.integer(rng, "rng", least=0)


def check_rng(value: Randomness) -> Randomness:
    """Check a source of randomness: all that `numpy.random.default_rng` takes, or a Key."""
    kinds = (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence, Key)
    if value is None or isinstance(value, kinds):
        return value
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        given = type(value).__name__  # it may be a secret
        raise ArgumentTypeError(
            f"rng must be None, a whole number, a Generator or a Key, got {given}"
        )
    number = int(value)
    _checks.require(number >= 0, "rng must be at least 0", number)
    return number
