"""Keys from the operating system, and one stream of random words per (purpose, block).

A release is only as private as its randomness, so the words come from AES-128 in counter mode under
a key of 128 bits. A key is derived, never reused: the working key of a call comes from the root key,
a label of the data and the columns masked together, so that two columns masked under the same seed
share neither coins nor noise.

The counter of a stream starts at ``(block << 64) | (lane << 56) | (column << 40)``. Each step of the
counter yields two words, so a stream has 2^41 words before it reaches its neighbour.

==========  ====================================================
lane        what is drawn from it, per block of 65,536 rows
==========  ====================================================
COIN        one word for every row: swapped where below p 2^64
DONOR       one word for every swapped row
NOISE       the noise of every row that is not swapped, per column
==========  ====================================================
"""

import hashlib
import numbers
import operator
import secrets
from typing import Any, NoReturn

import numpy as np
from randomgen import AESCounter

COIN, DONOR, NOISE = 0, 1, 2

ALL_ONES = np.iinfo(np.uint64).max


class Key:
    """A secret of 128 bits that shows itself nowhere.

    Parameters
    ----------
    secret : bytes of length 16, optional
        Drawn from the operating system by default.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secrets.token_bytes(16) if secret is None else _secret_bytes(secret)

    def __repr__(self) -> str:
        return "<Key: secret>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Key does not pickle, so that it cannot end in a file or a log by accident")

    def derive(self, *labels: bytes) -> "Key":
        """The key of one use: a keyed hash of the labels."""
        digest = hashlib.blake2b(key=self._secret, digest_size=16, person=b"condmask")
        for label in labels:
            digest.update(len(label).to_bytes(8, "little") + label)
        return Key(digest.digest())

    def stream(self, block: int, lane: int, column: int = 0) -> np.random.Generator:
        """The random words of one lane of one block."""
        counter = (block << 64) | (lane << 56) | (column << 40)
        return np.random.Generator(AESCounter(key=int.from_bytes(self._secret, "little"), counter=counter))

    def transport(self) -> "KeyTransport":
        """The one way in which a key travels to another process."""
        return KeyTransport(self._secret)


class KeyTransport:
    """A key on its way to a worker process; it pickles, and its repr stays silent."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def __repr__(self) -> str:
        return "<KeyTransport: secret>"

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyTransport, (self._secret,)

    def open(self) -> Key:
        return Key(self._secret)


def words(stream: np.random.Generator, count: int) -> np.ndarray:
    """``count`` raw words of 64 bits."""
    # Generator.integers over the full range hands out the raw words, without holding the GIL;
    # random_raw holds it.
    return stream.integers(0, ALL_ONES, size=count, dtype=np.uint64, endpoint=True)


def working_key(rng: Any, columns: list[np.ndarray]) -> Key:
    """The key under which these columns are masked together.

    None takes a new key from the operating system. A whole number or a SeedSequence stands for the
    same key each time, so the data themselves are hashed into the working key: other columns, other
    coins.
    """
    if rng is None:
        return Key()
    if isinstance(rng, Key):
        root = rng
    elif isinstance(rng, (int, np.integer)):
        root = Key(hashlib.blake2b(repr(int(rng)).encode(), digest_size=16, person=b"condmask seed").digest())
    else:
        root = Key(np.random.default_rng(rng).bytes(16))
    return root.derive(*(hashlib.sha256(np.ascontiguousarray(column).data).digest() for column in columns))


def check_rng(value: Any) -> Any:
    """What `numpy.random.default_rng` takes, or a Key."""
    kinds = (np.random.Generator, np.random.BitGenerator, np.random.SeedSequence, Key)
    if value is None or isinstance(value, kinds):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"rng must be None, a whole number, a Generator or a Key, got {type(value).__name__}")
    if value < 0:
        raise ValueError(f"rng must be at least 0, got {value!r}")
    return int(value)


def check_rows(value: Any, n: int, random: Any) -> tuple[int, int]:
    """A half-open range of rows, which only a key that is the same next time can serve."""
    if value is None:
        return 0, n
    if not (isinstance(random, (int, Key))):
        given = "None" if random is None else f"a {type(random).__name__}"
        raise ValueError(
            f"rng must be a whole number or a Key where rows are given, got {given}: every part of the "
            "file would be masked under another key"
        )
    try:
        start, stop = (operator.index(bound) for bound in value)
    except (TypeError, ValueError):
        raise TypeError(f"rows must be a pair (start, stop), got {value!r}") from None
    if not 0 <= start < stop <= n:
        raise ValueError(f"rows must be a pair 0 <= start < stop <= {n}, got {value!r}")
    return start, stop


def _secret_bytes(value: Any) -> bytes:
    """The 16 bytes of a key. The wording names their number, never the bytes."""
    if not isinstance(value, (bytes, bytearray)):
        raise TypeError(f"secret must be 16 bytes, got {type(value).__name__}")
    if len(value) != 16:
        raise ValueError(f"secret must be 16 bytes, got {len(value)}")
    return bytes(value)
