"""Records that files have in common, by sketches of 2,048 of them.

Oracles: files made to share a given part, SipHash's published vectors, and independent files, of which at
most one in a hundred may look alike.
"""

import numpy as np
import pytest

from condmask.releases import sketch as module
from condmask.releases.sketch import common_values, keyed, overlap, siphash, sketch
from condmask.releases.value_hash import number_words

KEY = bytes(range(16))


def sketched(columns, masked=("income",), block=5_000, key=KEY, hashed=number_words):
    n = len(next(iter(columns.values())))
    common = {name: number_words(common_values(columns[name].astype(float))) for name in masked}

    def parts():
        for start in range(0, n, block):
            yield {name: hashed(x[start : start + block].astype(float)) for name, x in columns.items()}

    return keyed(sketch(parts(), common), key)


def people(seed, n=20_000):
    rng = np.random.default_rng(seed)
    return {
        "income": np.round(rng.lognormal(7, 0.5, n), 2),
        "age": rng.integers(18, 90, n),
        "region": rng.integers(0, 16, n),
        "hours": np.round(rng.normal(40, 8, n)),
    }


def part(columns, rows):
    return {name: x[rows] for name, x in columns.items()}


def joined(*tables):
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0]}


FIRST = people(1)
KNOWN = sketched(FIRST)


def with_typo():
    other = dict(FIRST)
    other["income"] = other["income"].copy()
    other["income"][7] *= 10
    return other


SAME = {
    "itself": FIRST,
    "other order": part(FIRST, np.random.default_rng(3).permutation(20_000)),
    "a typo": with_typo(),
    "columns renamed": {f"col{k}": x for k, x in enumerate(FIRST.values())} | {"income": FIRST["income"]},
    "columns added": FIRST | {"a": np.arange(20_000), "b": np.arange(20_000) % 7},
    "a column left out": {name: x for name, x in FIRST.items() if name != "age"},
    "ages a year later": FIRST | {"age": FIRST["age"] + 1},
    "next year's rows": joined(FIRST, people(2, 10_000)),
    "a tenth of it": part(FIRST, slice(0, 2_000)),
}


@pytest.mark.parametrize("name", SAME)
def test_records_that_were_released_are_known_again(name):
    verdict = overlap(sketched(SAME[name]), KNOWN)

    assert verdict.shared
    assert not verdict.unclear
    assert verdict.share == pytest.approx(1.0, abs=0.1)


def test_a_column_masked_in_one_and_clear_in_the_other():
    new = sketched({**FIRST, "income": FIRST["income"]}, masked=("hours",))

    assert overlap(new, KNOWN).shared


@pytest.mark.parametrize("share", [0.05, 0.15, 0.3, 0.6])
def test_the_share_is_that_of_the_smaller_file(share):
    common = int(share * 20_000)
    new = joined(part(FIRST, slice(0, common)), people(4, 20_000 - common))
    verdict = overlap(sketched(new), KNOWN)

    # of at least 1,024 records in the sketch: five standard errors
    assert verdict.shared == (share > 0.1)
    if share > 0.1:
        assert verdict.share == pytest.approx(share, abs=5 * np.sqrt(share / 1_024))


def heaped(rng, n, kind):
    """Independent files whose values agree by chance."""
    if kind == "incomes in hundreds":
        return {"income": np.round(rng.lognormal(7, 0.5, n), -2), "age": rng.integers(18, 90, n)}
    if kind == "many columns":
        return {
            "income": np.round(rng.lognormal(7, 0.5, n), -1),
            **{f"c{k}": rng.integers(0, 5, n) for k in range(6)},
        }
    if kind == "numbered rows":
        return {"income": np.round(rng.lognormal(7, 0.5, n), -2), "row": np.arange(n)}
    zeros = rng.random(n) < 0.4
    return {"income": np.where(zeros, 0.0, np.round(rng.lognormal(6, 1, n), -1)), "day": np.arange(n) % 3_000}


@pytest.mark.parametrize("kind", ["incomes in hundreds", "many columns", "numbered rows", "zeros by day"])
def test_independent_files_are_not_alike(kind):
    rng = np.random.default_rng(5)
    pairs = 100
    alarms = 0
    for k in range(pairs):
        n, m = ([300, 3_000, 3_000], [300, 3_000, 600])[0][k % 3], ([300, 3_000, 600])[k % 3]
        new, old = (sketched(heaped(rng, size, kind)) for size in (n, m))
        alarms += overlap(new, old).shared

    # the share of alarms is at most .01: four or more of a hundred have a chance of .02
    assert alarms <= 3


def test_ages_alone_cannot_tell():
    old, new = (sketched({"age": np.random.default_rng(k).integers(18, 90, 5_000)}, ["age"]) for k in (1, 2))

    verdict = overlap(new, old)
    assert (verdict.shared, verdict.unclear) == (False, True)
    assert not overlap(new, KNOWN).unclear  # of quite other records it can


def test_the_whole_file_is_known_again_however_much_its_records_are_alike():
    ages = np.random.default_rng(1).integers(18, 90, 5_000)

    assert overlap(sketched({"age": ages[::-1]}, ["age"]), sketched({"age": ages}, ["age"])).shared


@pytest.mark.parametrize("options", [{"block": 777}, {"hashed": np.asarray}])
def test_blocks_do_not_matter_nor_who_hashes_numbers(options):
    for one, other in zip(sketched(FIRST, **options).samples, KNOWN.samples, strict=True):
        assert (one.level, one.whole) == (other.level, other.whole)
        assert np.array_equal(one.tokens, other.tokens)
        assert np.array_equal(one.counts, other.counts)


def test_a_sketch_keeps_few_records_and_counts_them():
    for sample in KNOWN.samples:
        assert module.MOST / 4 < sample.tokens.size <= module.MOST
        assert sample.levels.min() >= sample.level
    twice = sketched(joined(FIRST, FIRST))
    whole = next(s for s in twice.samples if s.counts.size and s.counts.min() == 2)
    assert set(whole.counts.tolist()) <= {2, 3}


def test_two_keys_have_nothing_in_common():
    assert not overlap(sketched(FIRST, key=bytes(16)), KNOWN).shared


def test_siphash_has_its_published_values():
    # Aumasson and Bernstein's vectors: the message of 8 bytes 00 01 ... 07 under the key 00 01 ... 0f
    message = np.array([int.from_bytes(bytes(range(8)), "little")], dtype=np.uint64)

    assert int(siphash(message, KEY)[0]) == 0x93F5F5799A932462


def test_common_values_say_nothing_of_a_record():
    x = np.array([0.0] * 30 + [1.0, 2.0, np.nan] + list(range(10, 100)))

    assert common_values(x).tolist() == [0.0]
    assert [sample.tokens.size for sample in sketched({"income": x}).samples] == [92]


def test_some_columns_are_enough_where_no_single_one_tells():
    rng = np.random.default_rng(8)
    first = {"income": np.round(rng.lognormal(7, 0.5, 5_000), -2)}
    first |= {f"c{k}": rng.integers(0, 20, 5_000) for k in range(8)}
    other = first | {"c3": rng.integers(0, 20, 5_000), "new": np.arange(5_000)}
    # every set with the income alone holds the same heaps, and whole records differ
    other["income"] = np.where(np.arange(5_000) < 50, 1_500.0, other["income"])

    assert overlap(sketched(other), sketched(first)).shared
