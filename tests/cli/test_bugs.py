"""A bug shows where it is, and nothing that it was about. Oracle: sentinels in the messages of exceptions."""

import pytest

from condmask.cli import bugs, info
from condmask.errors import ArgumentError, MissingPackageError

SENTINEL = "1204.50 of Ada"


def raiser(error):
    def broken(_):
        raise error

    return broken


def first_then(error):
    def broken(_):
        try:
            float(SENTINEL)
        except ValueError as first:
            raise error from first

    return broken


@pytest.mark.parametrize(
    "bug",
    [
        KeyError(SENTINEL),
        ValueError(SENTINEL),
        TypeError(SENTINEL),
        OSError(SENTINEL),
        ImportError(SENTINEL, name="secrets"),
        ZeroDivisionError(SENTINEL),
        NotImplementedError(SENTINEL),
        ExceptionGroup(SENTINEL, [ValueError(SENTINEL)]),
    ],
    ids=lambda bug: type(bug).__name__,
)
@pytest.mark.parametrize("broken", [raiser, first_then])
def test_every_other_exception_is_a_bug_and_shows_where(run, source, monkeypatch, bug, broken):
    monkeypatch.setattr(info, "run", broken(bug))

    code, out, err = run("info", source)

    assert (code, out) == (70, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert "test_bugs.py" in err
    assert f"\n{type(bug).__name__}\n" in err
    assert "raise error" in err
    assert err.splitlines()[-1] == bugs.LAST
    assert "1204" not in err
    if broken is first_then:
        assert err.count("Traceback") == 2
        assert "float(SENTINEL)" in err


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ArgumentError("p must lie"), 1, "--p must lie"),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 1, "a.csv: No such file or directory"),
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (MissingPackageError("a bar needs tqdm"), 1, "a bar needs tqdm"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_the_user_can_mend_is_one_line(run, source, monkeypatch, error, code, line):
    from condmask.cli import mask

    monkeypatch.setattr(mask, "run", raiser(error))

    found = run("mask", source, "b.csv", "-c", "income", "--p", ".5", "--sigma", "9")

    assert found == (code, "", f"condmask: error: {line}\n")


def test_an_exception_that_is_its_own_cause_comes_to_an_end():
    error = ValueError("x")
    error.__cause__ = error

    assert [*bugs.chain(error)] == [error]


def test_a_context_that_was_left_out_stays_out():
    error = ValueError("x")
    error.__context__, error.__suppress_context__ = KeyError("y"), True

    assert [*bugs.chain(error)] == [error]
