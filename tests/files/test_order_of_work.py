"""All that is seen at once is said together, before the attack; nothing is written until all is
settled.

Oracle: files with faults that were put in by hand, each of which a plain count knows. That no
attack was tried shows in an attack that raises.
"""

import os
import stat
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import condmask as cm
from condmask import cli
from condmask.cli import text
from condmask.disclosure import audit

N = 3_000
FEW = 7
SOME = 30  # records with rare gaps: fewer than 10, fewer than 50


def people(seed=1):
    """Incomes, rents and bonuses in no order, with no faults."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(7.5, 0.4, N).round()
    return pd.DataFrame(
        {
            "income": income,
            "rent": (300.0 + rng.normal(0.0, 60.0, N)).round(1),
            "bonus": (500.0 + rng.normal(0.0, 90.0, N)).round(1),
            "region": rng.choice(["north", "south"], N),
        }
    )


def with_rare_gaps(frame):
    """Leave out a bonus in seven records and a rent in thirty others: three patterns."""
    changed = frame.copy()
    rows = np.random.default_rng(2).permutation(N)
    changed.loc[rows[:FEW], "bonus"] = np.nan
    changed.loc[rows[FEW : FEW + SOME], "rent"] = np.nan
    return changed


MASKED = ["income", "rent", "bonus"]


def command(capsys, *words):
    """The exit code of a command, and the lines that it wrote on standard error."""
    code = cli.main([str(word) for word in words])
    return code, capsys.readouterr().err.splitlines()


def faulty(folder):
    """A file that was released before, with five faults and an identifier in clear; and its
    target."""
    source = folder / "people.parquet"
    target = folder / "masked.parquet"
    frame = with_rare_gaps(people().sort_values("income", ignore_index=True))
    frame.loc[np.arange(50, N, 60), "rent"] = 99_999.0
    frame.insert(0, "person", [f"P{7 * k}" for k in range(N)])
    frame.to_parquet(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cm.mask_file(source, target, ["income"], accept="all")
    return source, target


FAULTS = [
    "masked.parquet exists; it is replaced only with --force",
    "'income': the same values are in",
    "missing must say whether 99999 in rent (50 records",
    "patterns of missing values must have at least 50 records each",
    "income: rows are in the order of their values",
]


def attack_is_an_error(monkeypatch):
    """Make an attack, and the choice of schemes, raise what no refusal is."""

    def reached(*_):
        raise AssertionError("an attack was tried")

    monkeypatch.setattr(audit, "audit_figures_and_findings", reached)
    monkeypatch.setattr("condmask.publish.job.choose", reached)


def test_five_faults_are_said_together_before_an_attack(tmp_path, capsys, monkeypatch):
    source, target = faulty(tmp_path)
    before = target.read_bytes()
    attack_is_an_error(monkeypatch)

    code, lines = command(capsys, "mask", source, target, *(f"-c{name}" for name in MASKED))

    assert code == 1
    assert lines[-1].startswith("condmask: error: 5 problems were found: ")
    assert [fault in lines[-1] for fault in FAULTS] == [True] * 5
    assert "pass --again." in lines[-1]
    assert any(line.startswith("warning: C20 person has a different value") for line in lines)
    assert target.read_bytes() == before


def test_wrong_arguments_are_said_together_with_the_target(tmp_path, monkeypatch):
    source = tmp_path / "people.parquet"
    people().to_parquet(source)
    attack_is_an_error(monkeypatch)

    with pytest.raises(cm.CondmaskError) as caught:
        cm.mask_file(
            source,
            tmp_path / "none/b.parquet",
            ["income"],
            workers=0,
            max_lift=2.0,
            rare_gaps="keep",
            log=False,
        )
    said = str(caught.value)
    assert said.startswith("4 problems were found: (1) ")
    for part in (
        "none: no such directory",
        "workers must be",
        "max_lift must",
        "rare_gaps must be one of",
    ):
        assert part in said


@pytest.mark.parametrize("kind", ["table", "file"])
def test_gaps_have_one_threshold_and_the_message_counts_all_of_them(kind, tmp_path, monkeypatch):
    frame = with_rare_gaps(people())
    attack_is_an_error(monkeypatch)
    frame.to_parquet(tmp_path / "a.parquet")

    calls = {
        "table": lambda: cm.mask_table(frame, MASKED),
        "file": lambda: cm.mask_file(
            tmp_path / "a.parquet", tmp_path / "b.parquet", MASKED, log=False
        ),
    }
    with pytest.raises(ValueError, match="patterns of missing values") as caught:
        calls[kind]()
    counts = f"2 with fewer ({FEW + SOME} records in all, the smallest with {FEW} without bonus)"
    assert f"must have at least 50 records each, got {counts}; " in str(caught.value)
    assert 'pass rare_gaps="drop"' in str(caught.value)


SCHEMES = dict.fromkeys(MASKED, cm.ReverseMapping(0.6, 90.0))
DROPPED = (
    f'{FEW + SOME} of 3,000 records were left out, whose gaps too few share (rare_gaps="drop")'
)


def dropped(call):
    """The release of a call that leaves records out, and says so."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release = call()
    assert DROPPED in [str(each.message) for each in caught]
    return release


def test_records_with_rare_gaps_are_left_out_of_a_table():
    frame = with_rare_gaps(people())
    release = dropped(lambda: cm.mask_table(frame, MASKED, rare_gaps="drop"))
    complete = frame.dropna()

    assert release.records == len(complete) == N - FEW - SOME
    assert release.data["region"].tolist() == complete["region"].tolist()
    assert release.data[MASKED].notna().all(axis=None)


@pytest.mark.parametrize("source", ["a.parquet", "a.csv", "folder", "parts"])
def test_records_with_rare_gaps_are_left_out_of_files(source, tmp_path):
    frame = with_rare_gaps(people())
    options = {
        "nan_policy": "omit",
        "accept": "all",
        "log": False,
        "rare_gaps": "drop",
    }
    place = tmp_path / source
    target = tmp_path / f"masked-{source}"
    gaps = frame[MASKED].isna()
    if source == "folder":
        place.mkdir()
        frame[:2_000].to_parquet(place / "1.parquet")
        frame[2_000:].to_parquet(place / "2.parquet")
    elif source == "a.csv":
        frame.to_csv(place, index=False)
    else:
        place = tmp_path / "a.parquet"
        target = tmp_path / "b.parquet"
        frame.to_parquet(place)
    if source == "parts":
        options["part_rows"] = 1_500
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        release = cm.mask_file(place, target, SCHEMES, **options)

    # without an audit a pool needs 10 records: of the two halves each has about 15 records without
    # a rent
    halves = [gaps[:1_500], gaps[1_500:]] if source == "parts" else [gaps]
    lost = []
    for part in halves:
        pattern = part.astype(str).agg("".join, axis=1)
        lost.append(pattern.map(pattern.value_counts()) < 10)
    kept = frame[~pd.concat(lost)]
    assert 0 < N - len(kept) < FEW + SOME
    assert f"{N - len(kept)} of 3,000 records were left out" in " ".join(
        str(each.message) for each in caught
    )
    assert release.records == len(kept)
    assert list(cm.read_column(target, "region")) == kept["region"].tolist()
    if source == "folder":
        counts = [len(pd.read_parquet(target / name)) for name in ("1.parquet", "2.parquet")]
        assert counts == [int((kept.index < 2_000).sum()), int((kept.index >= 2_000).sum())]


def test_gaps_are_not_blamed_for_a_small_stratum():
    frame = with_rare_gaps(people())
    frame["region"] = np.where(np.arange(N) < 5, "tiny", frame["region"])
    schemes = dict.fromkeys(MASKED, cm.ReverseMapping(0.6, 90.0, strata="region"))

    with pytest.raises(
        ValueError, match="strata must have at least 50 records each, got 5 in stratum 'tiny'"
    ):
        dropped(lambda: cm.mask_table(frame, schemes, nan_policy="omit", rare_gaps="drop"))


@pytest.mark.parametrize(("p", "least"), [(0.6, 50), (0.7, 67), (0.8, 100), (0.1, 100)])
def test_the_threshold_is_that_of_the_audit(p, least):
    """A pool of one record less is refused, by the strata as by the audit of a column without
    any."""
    x = np.random.default_rng(3).permutation(np.linspace(0.0, 1.0, 1_000 + least - 1))
    group = np.where(np.arange(x.size) < least - 1, "a", "b")
    scheme = cm.ReverseMapping(p, 0.5, strata="g")

    with pytest.raises(
        ValueError, match=f"at least {least} records each, got {least - 1} in stratum 'a'"
    ):
        scheme.mask(x, strata=group)
    for n, refused in ((least - 1, True), (least, False)):
        found = cm.audit(x[:n], cm.ReverseMapping(p, 0.5)).findings
        assert any("donor pool" in each.text for each in found if each.refuses) == refused


# --- a dry run, and what the exit code says ---


def test_a_dry_run_of_what_was_released_says_what_would_be(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    source = tmp_path / "a.parquet"
    target = tmp_path / "b.parquet"
    people().to_parquet(source)
    assert command(capsys, "mask", source, target, "-c", "rent", "--dry-run")[0] == 0
    assert sorted(tmp_path.iterdir()) == [source]  # no log, no key

    assert command(capsys, "mask", source, target, "-c", "rent")[0] == 0
    state = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, lines = command(capsys, "mask", source, target, "-c", "rent", "--dry-run")
    assert code == 3
    would = [line for line in lines if line.startswith("warning: the release would be refused: ")]
    assert ["--force" in line for line in would] == [True, False]
    assert ["--again" in line for line in would] == [False, True]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == state
    assert command(capsys, "mask", source, target, "-c", "rent")[0] == 1
    assert command(capsys, "mask", source, target, "-c", "rent", "--force", "--again")[0] == 0


def test_a_warning_comes_before_the_file_and_the_exit_code_says_so(tmp_path, capsys, monkeypatch):
    source = tmp_path / "a.parquet"
    target = tmp_path / "b.parquet"
    people().assign(person=[f"P{7 * k}" for k in range(N)]).to_parquet(source)
    there = []
    real = text.say
    monkeypatch.setattr(
        text, "say", lambda line: (there.append((line, target.exists())), real(line))
    )

    assert command(capsys, "mask", source, target, "-c", "rent", "--no-log")[0] == 3
    assert [existed for line, existed in there if line.startswith("warning: C20 person has")] == [
        False
    ]
    assert target.exists()
    with pytest.warns(cm.ReleaseWarning, match="person has a different value"):
        cm.mask_file(source, tmp_path / "c.parquet", ["rent"], log=False)


def test_a_table_that_is_written_is_refused_for_the_target_and_the_log_together(tmp_path):
    frame = people()
    scheme = {"rent": cm.ConditionalMasking(0.6, 60.0, decimals=1)}
    target = tmp_path / "a.parquet"
    cm.mask_table(frame, scheme).write(target)

    with pytest.raises(
        cm.CondmaskError,
        match=r"^2 problems .* force=True; .*'rent': the same values .* again=True",
    ):
        cm.mask_table(frame, scheme).write(target)
    cm.mask_table(frame, scheme).write(target, force=True, again=True)


# --- no home to write in ---


def blocked_home(tmp_path, monkeypatch, kind):
    """A place for the user's data in which nothing can be written; who is root may write in any
    folder."""
    home = tmp_path / "home"
    if kind == "a file":
        home.write_text("")
    else:
        home.mkdir()
        real = os.access
        monkeypatch.setattr(
            os, "access", lambda path, mode: Path(path) != home and real(path, mode)
        )
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    return home


@pytest.mark.parametrize("kind", ["a file", "a folder of others"])
@pytest.mark.parametrize("own", [False, True])
def test_without_a_writable_home_the_place_of_the_log_is_named(
    kind, own, tmp_path, capsys, monkeypatch
):
    source = tmp_path / "a.parquet"
    target = tmp_path / "b.parquet"
    people().to_parquet(source)
    home = blocked_home(tmp_path, monkeypatch, kind)
    attack_is_an_error(monkeypatch)
    own_log = ("--log", tmp_path / "mine.jsonl") if own else ()  # whose key is at home still

    code, lines = command(capsys, "mask", source, target, "-c", "rent", *own_log)

    assert code == 1
    named = home / "condmask" / ("log.key" if own else "log.jsonl")
    assert lines[-1].startswith(
        f"condmask: error: {named}, the {'key of the log' if own else 'log of releases'}, "
    )
    assert "pass --no-log, which" in lines[-1]
    assert sorted(tmp_path.iterdir()) == sorted([source, home])
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    assert command(capsys, "mask", source, target, "-c", "rent", "--no-log")[0] == 0


def test_a_user_without_a_home_gets_the_same_advice(tmp_path, monkeypatch):
    people().to_parquet(tmp_path / "a.parquet")
    monkeypatch.delenv("XDG_DATA_HOME")

    def nowhere(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", nowhere)
    with pytest.raises(cm.FileError, match=r"there is no home folder.* pass log=False"):
        cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", ["rent"])
    assert not (tmp_path / "b.parquet").exists()


def test_a_log_that_only_others_may_write_is_no_log(tmp_path, monkeypatch):
    log = tmp_path / "log.jsonl"
    log.write_text("")
    log.chmod(stat.S_IRUSR)
    people().to_parquet(tmp_path / "a.parquet")
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != log and real(path, mode))

    with pytest.raises(
        cm.FileError,
        match=r"log\.jsonl, the log of releases, cannot be written \(permission denied",
    ):
        cm.mask_file(tmp_path / "a.parquet", tmp_path / "b.parquet", ["rent"], log=log)
