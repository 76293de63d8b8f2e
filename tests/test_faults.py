"""Faults are put in one at a time, where the lists say, and tested by what ought to notice them first."""

from pathlib import Path

import pytest

from fuzz.faults.copy import Copy
from fuzz.faults.listed import AgedError, Fault, listed, rooms
from fuzz.faults.runner import Result, turns
from fuzz.faults.table import table

FAULT = Fault("files", "files/atomic.py", "one", "two", "a reason")


def test_a_fault_takes_the_place_of_a_text_that_stands_there_once():
    assert FAULT.put_into("a one b") == "a two b"
    for text in ("none", "one one"):
        with pytest.raises(AgedError, match=r"files/atomic.py: 'one' stands there [02] times"):
            FAULT.put_into(text.replace("none", ""))


def test_lists_name_files_that_exist_and_each_fault_once():
    faults = [fault for room in rooms() for fault in listed(room)]

    assert len({fault.name for fault in faults}) == len(faults) >= 150
    assert all(fault.path.is_file() and fault.was != fault.now and fault.why for fault in faults)


def test_own_tests_come_first_then_those_that_import_the_module_then_the_folder():
    first, using, folder = turns(FAULT)

    assert first == [Path("tests/files/test_atomic.py")]
    assert using
    assert all("atomic" in path.read_text() for path in using)
    assert {path.parent for path in folder} == {Path("tests/files")}
    assert turns(FAULT._replace(tests=("tests/files/test_csv.py",)))[:2] == [
        [Path("tests/files/test_csv.py")],
        first,
    ]


def test_a_file_is_as_before_once_its_fault_was_tried(tmp_path):
    copy = object.__new__(Copy)
    copy.folder, copy._times = tmp_path, iter(range(1, 9))
    place = tmp_path / FAULT.path
    place.parent.mkdir(parents=True)
    place.write_text("one")
    before = place.stat().st_mtime_ns

    with copy.with_fault(FAULT):
        # of the same size: bytecode of the one must not pass for that of the other
        assert (place.read_text(), place.stat().st_mtime_ns) == ("two", 10**9)

    assert (place.read_text(), place.stat().st_mtime_ns) == ("one", before)


def test_kernels_run_as_plain_python():
    kernel = FAULT._replace(file="kernels/pairs.py")

    assert [fault.settings for fault in (FAULT, kernel)] == [{}, {"NUMBA_DISABLE_JIT": "1"}]


def test_survivors_are_in_the_table_with_what_explains_them():
    other = FAULT._replace(now="three", explained="the same")

    lines = table([FAULT, other], [Result("tests/test_x.py::test_y", 1.0), Result("", 2.0)]).splitlines()

    assert lines[-8:] == [
        "   * - files",
        "     - 2",
        "     - 1",
        "     - ``files/atomic.py``, a reason: the same",
        "   * - all",
        "     - 2",
        "     - 1",
        "     - -",
    ]
