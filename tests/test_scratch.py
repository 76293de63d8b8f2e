"""Arrays in temporary files.

Oracle: the map of the process, which names the file behind an array.
"""

import tempfile
from pathlib import Path

import numpy as np
import pytest

import condmask as cm
from condmask import _blocks, _scratch, draws


def files_behind(array):
    """The temporary files that are mapped where an array lies."""
    address = array.ctypes.data
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, last = (int(end, 16) for end in line.split()[0].split("-"))
        if first <= address < last:
            return line.split(maxsplit=5)[5:]
    return []


@pytest.mark.parametrize("n", [0, 5, 3 * _blocks.BLOCK + 1])
def test_functions_of_entries_are_taken_block_by_block(n):
    lengths = []

    def doubled(part):
        lengths.append(part.size)
        return 2.0 * part

    values = np.arange(float(n))
    found = _scratch.by_block(doubled, values, np.int64)

    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, 2 * np.arange(n))
    assert max(lengths, default=0) <= _blocks.BLOCK


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(_scratch, "LARGE", 4096)


def test_a_large_array_lies_in_a_file_without_a_name(small):
    array = _scratch.empty((100, 10), np.float64)
    array[:] = 3.0
    assert array.shape == (100, 10)
    assert type(array) is np.ndarray
    (name,) = files_behind(array)
    assert "(deleted)" in name


def test_a_small_array_has_no_file(small):
    assert all("condmask" not in name for name in files_behind(_scratch.empty(10, np.int64)))
    assert _scratch.empty(0).size == 0


def test_where_there_is_no_room_an_array_lies_in_memory(small, monkeypatch):
    """Room is taken at once: a disk that is full later would kill the process by a signal."""
    monkeypatch.setattr(
        _scratch.os, "posix_fallocate", lambda *args: (_ for _ in ()).throw(OSError(28, "No space left"))
    )
    array = _scratch.empty(10_000)
    array[:] = 3.0
    assert all("condmask" not in name for name in files_behind(array))


def test_entries_are_selected(small):
    array = np.arange(150_000)
    where = array % 3 == 1
    assert np.array_equal(_scratch.selected(array, where), array[where])
    assert _scratch.selected(array, array < 0).size == 0


PARTS = [np.arange(first, first + 700) for first in range(0, 7_000, 700)]


def test_parts_are_joined_in_a_file(small):
    array = _scratch.joined(iter(PARTS))
    assert np.array_equal(array, np.arange(7_000))
    assert array.dtype == PARTS[0].dtype
    assert "(deleted)" in files_behind(array)[0]
    alone = _scratch.joined([PARTS[0][:9]])
    assert not np.shares_memory(alone, PARTS[0])
    assert files_behind(alone) != files_behind(array)


@pytest.mark.parametrize("room", [3_000, 5_600, 20_001])  # in the midst of a part, after one, in a later one
def test_parts_are_joined_in_memory_where_the_disk_is_full(small, room):
    """Oracle: a limit to the length of files, at which a write first stops short and then fails."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        array, other = _scratch.joined(iter(PARTS)), _scratch.empty(7_000, np.int64)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert np.array_equal(array, np.arange(7_000))
    assert all("condmask" not in name for column in (array, other) for name in files_behind(column))


def test_parts_are_joined_in_memory_where_no_file_can_be_made(small, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert np.array_equal(_scratch.joined(iter(PARTS)), np.arange(7_000))


def test_what_fails_between_parts_is_no_full_disk(small):
    def parts():
        yield from PARTS[:3]
        raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input/output error"):
        _scratch.joined(parts())


def test_nothing_stays_in_the_folder(small, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    array = _scratch.empty(10_000)
    array[:] = 1.0
    assert not list(tmp_path.iterdir())


N = 150_000  # records, in three blocks
REVERSED = {"reverse_mapping": True, "aggregate_ends": 3}
ONE_BY_ONE = {"missing": (-9.0, None), "missing_as": "null"}
GAPS = {"missing": (-9.0, None)}


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (["x"], {}),
        (["x"], {"donors": "sample"}),
        (["x"], {"strata": ["age", "region"]}),
        (["x", "y"], ONE_BY_ONE),
        (["x"], REVERSED),
        (["zeros"], {**REVERSED, "scale": "log"}),
        (["x", "y"], {**REVERSED, **GAPS}),
        (["y"], {**REVERSED, **GAPS, "strata": ["age", "region"], "small_strata": "merge"}),
        (["heaped"], {**REVERSED, "strata": ["age", "region"]}),
    ],
)
def test_a_release_is_the_same_from_memory_and_from_files(columns, options, monkeypatch):
    rng = np.random.default_rng(3)
    table = {
        "x": rng.normal(50.0, 10.0, N),
        "y": np.where(rng.random(N) < 0.1, -9.0, rng.normal(50.0, 10.0, N)),
        "zeros": np.where(rng.random(N) < 0.3, 0.0, rng.lognormal(3.0, 1.0, N)),
        "heaped": rng.normal(50.0, 10.0, N).round(),
        "age": rng.integers(0, 50, N) ** 2 // 50,
        "region": rng.integers(0, 3, N),
    }
    sigma = 0.5 if "scale" in options else 5.0
    schemes = {name: cm.ConditionalMasking(0.6, sigma, **options) for name in columns}

    def mask():
        return cm.mask_table(table, schemes, rng=1, workers=2, accept_visible_coins=True)

    monkeypatch.setattr(draws, "LONG", 1 << 10)
    in_memory = mask()
    monkeypatch.setattr(_scratch, "LARGE", 64)
    made = []
    create = tempfile.TemporaryFile
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **named: made.append(1) or create(**named))
    from_files = mask()
    assert len(made) >= 3 or options == {"donors": "sample"}
    for name in columns:
        assert np.array_equal(from_files.data[name], in_memory.data[name], equal_nan=True)
        assert not np.array_equal(in_memory.data[name], table[name], equal_nan=True)
