"""Keys and streams.

Oracles: the AES-128 vectors of FIPS 197 (appendix C.1) and NIST SP 800-38A (F.1.1), counting, and
the promises of the documentation themselves.
"""

import base64
import copy
import functools
import inspect
import json
import pickle
import pprint
import reprlib
import traceback
from itertools import product

import numpy as np
import pytest
import reference
from columns import GENERIC
from randomgen import AESCounter

import condmask as cm
from condmask._randomness import COIN, DONOR, NOISE, Key, release_key, words

pytestmark = pytest.mark.usefixtures("unaudited")

SECRET = bytes(range(0xA0, 0xB0))

AES_128 = [  # key, plaintext block, ciphertext block
    "000102030405060708090a0b0c0d0e0f 00112233445566778899aabbccddeeff 69c4e0d86a7b0430d8cdb78070b4c55a",
    "2b7e151628aed2a6abf7158809cf4f3c 6bc1bee22e409f96e93d7e117393172a 3ad77bb40d7a3660a89ecaf32466ef97",
    "2b7e151628aed2a6abf7158809cf4f3c ae2d8a571e03ac9c9eb76fac45af8e51 f5d3d58503b9699de785895a96fdbaaf",
]


@pytest.mark.parametrize("vector", AES_128)
def test_the_words_are_aes_128_of_the_counter(vector):
    key, plain, cipher = vector.split()
    counter = int.from_bytes(bytes.fromhex(plain), "little")

    drawn = AESCounter(key=int.from_bytes(bytes.fromhex(key), "little"), counter=counter).random_raw(2)

    assert drawn.astype("<u8").tobytes().hex() == cipher


def test_neighbouring_blocks_lanes_and_columns_share_no_word():
    key = Key(SECRET)
    cells = list(product(range(3), (COIN, DONOR, NOISE), range(3)))

    drawn = np.concatenate([words(key.stream(*cell), 2_000) for cell in cells])

    # 5e4 words: two are equal by chance with probability (5e4)^2 / 2^65 = 1e-10 over keys.
    # Streams one counter step apart, the trap of AESCounter, would share 99.9% of their words
    assert len(cells) == 27
    assert np.unique(drawn).size == drawn.size


def test_derived_keys_share_no_word_with_each_other_or_their_root():
    root = Key(SECRET)
    labels = ([], [b""], [b"a"], [b"a", b"b"], [b"ab"])
    keys = [root, *(root.derive(*own) for own in labels)]

    drawn = np.concatenate([words(key.stream(0, COIN), 10_000) for key in keys])

    assert np.unique(drawn).size == drawn.size  # by chance: 6e4^2 / 2^65 = 1e-10


def test_the_operating_system_gives_distinct_keys():
    # a generator seeded with 8 or 16 bits would repeat itself: 16 bits give thousands of pairs
    keys = {Key()._secret for _ in range(30_000)}

    assert len(keys) == 30_000
    assert {len(secret) for secret in keys} == {16}


def test_two_releases_without_rng_share_nothing():
    scheme = cm.ConditionalMasking(0.5, 1.0)
    x = np.random.default_rng(1).normal(size=4_000)

    first, second = scheme.mask(x), scheme.mask(x)

    # chance of a common value: same donor in both, p^2/(n-1) a row, so 0.25 rows on average.
    # 12 or more: Poisson tail 1e-16. One key twice gives 4,000
    assert np.sum(first == second) < 12


def told(call):
    """What a call gives, or its traceback with the locals of every function but this one."""
    try:
        return f"{call()!r}"
    except Exception as error:
        frames = traceback.TracebackException.from_exception(error, capture_locals=True)
        frames.stack[:1] = []
        return "".join(frames.format())


def holders():
    """All that holds a key."""
    key = Key(SECRET)
    yield from (key, key._secret, key.derive(b"a"), functools.partial(key.stream, 0))


def looks(thing):
    """What comes of looking at a thing, and at each of its attributes."""
    yield from (f"{thing}", repr([thing]), reprlib.repr(thing), pprint.pformat({"thing": thing}))
    for look in (vars, json.dumps, inspect.getmembers, inspect.getmembers_static):
        yield told(functools.partial(look, thing))
    for name in dir(thing):
        attribute = getattr(thing, name, None)
        yield f"{attribute!r} {attribute}"
        yield told(attribute) if name in ("__getstate__", "__dir__", "__sizeof__") else ""


def refused():
    """Calls with a key, or something like one, that fail."""
    scheme, key = cm.ConditionalMasking(0.5, 1.0), Key(SECRET)
    for bad in (
        {"x": [1.0, np.inf]},
        {"x": GENERIC, "rows": (5, 2)},
        {"x": GENERIC, "workers": map},
    ):
        yield told(functools.partial(scheme.mask, **bad, rng=key))
    yield from (told(functools.partial(Key, bad)) for bad in (SECRET + b"more", SECRET.hex(), list(SECRET)))


def forms(secret):
    """How bytes may be written."""
    yield from (secret.hex(), secret.hex().upper(), secret.hex(" "), repr(secret)[2:-1])
    yield from (str(list(secret))[1:-1], base64.b64encode(secret).decode().rstrip("="))
    yield from (str(int.from_bytes(secret, order)) for order in ("little", "big"))
    yield from (hex(int.from_bytes(secret, order)) for order in ("little", "big"))
    yield secret.decode("latin1")


@pytest.mark.filterwarnings("ignore")  # of attributes that are about to go
def test_a_key_shows_its_bytes_nowhere():
    printed = "\n".join([*(text for thing in holders() for text in looks(thing)), *refused()])

    assert "<Key: secret>" in printed
    assert "<secret>" in printed
    # a key cut short shows half of it: so do its first and its last eight bytes
    known = [SECRET, SECRET[:8], SECRET[8:], bytes(Key(SECRET).derive(b"a")._secret)]
    assert not [form for secret in known for form in forms(secret) if form in printed]


def test_a_key_neither_pickles_nor_is_copied():
    key = Key(SECRET)
    for attack in (pickle.dumps, copy.copy, copy.deepcopy, vars, json.dumps, Key.__getstate__):
        with pytest.raises(TypeError):
            attack(key)


def first_words(key):
    return words(key.stream(0, COIN), 4).tolist()


SCHEME = cm.ConditionalMasking(0.5, 1.0)


def key_of(rng, columns, names="ab"):
    schemes = {name: SCHEME for name, _ in zip(names, columns, strict=False)}
    return release_key(rng, schemes, columns)


def test_the_working_key_is_that_of_the_contract():
    x, y = GENERIC, GENERIC[::-1].copy()

    for columns in ([x], [y], [x, y], [y, x]):
        described = [(name, SCHEME.to_dict()) for name, _ in zip("ab", columns, strict=False)]
        seeded, keyed = key_of(7, columns), key_of(Key(SECRET), columns)
        assert first_words(seeded) == first_words(Key(reference.working_secret(7, described, columns)))
        assert first_words(keyed) == first_words(Key(reference.derived_secret(SECRET, described, columns)))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.PCG64], ids=["Generator", "BitGenerator"])
def test_a_generator_moves_on_from_call_to_call(make):
    rng = make(5)

    first, second = key_of(rng, [GENERIC]), key_of(rng, [GENERIC])

    assert first_words(first) != first_words(second)
    assert first_words(first) == first_words(key_of(make(5), [GENERIC]))
