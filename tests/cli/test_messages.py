"""``--verbose`` says what is done, and nothing of the data. Oracle: sentinels in values, labels and names."""

import logging

import numpy as np
import pandas as pd
import pytest
from command_line import MASK

from condmask.cli import parser

VALUE, LABEL, COLUMN = "71", "Wilhelmine", "Einkommen"


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """A file whose values, labels and names of columns nobody could write by chance."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(5)
    digits = random.integers(10, 99, 600)
    pd.DataFrame({
        COLUMN: [f"{VALUE}{k}{VALUE}.{VALUE}" for k in digits],
        "Ort": [f"{LABEL}-{k % 3}" for k in range(600)],
        f"{VALUE}{VALUE}": digits,
    }).to_csv("a.csv", index=False)  # fmt: skip
    return "a.csv"


def commands(secret):
    mask = ("-c", COLUMN, *MASK, "--decimals", "2", "--strata", "Ort")
    yield "audit", secret, *mask
    yield "mask", secret, "b.csv", *mask, "--accept-visible-coins"
    yield "mask", secret, "c.csv", *mask, "--again", "--accept-visible-coins"
    yield "estimate", "b.csv", "--group", "Ort", "--other", f"{VALUE}{VALUE}"
    yield "info", "b.csv"
    yield "plan", secret, "-c", COLUMN, "--p", ".6", "--sigma", "300", "--within", "50"
    yield "risk", secret, "-c", COLUMN, "--within", "50", "--release", "b.csv"
    yield "report", "b.csv", "r.html", "--public"


@pytest.mark.filterwarnings("ignore")
def test_what_is_done_is_said_and_nothing_of_the_data(run, secret):
    said = {}
    for command in commands(secret):
        code, _, err = run(*command, "--verbose")
        assert code == 0, err
        lines = [line for line in err.splitlines() if not line.startswith("warning: ")]
        assert lines[-1].endswith(" s  done")
        text = "\n".join(line.partition(" s  ")[2] for line in lines)
        for sentinel in (VALUE, LABEL, COLUMN, "Ort"):
            assert sentinel not in text
        said[command[0]] = text

    assert "600 records of a.csv" in said["mask"]
    assert "published c.csv" in said["mask"]
    assert "auditing 600 records" in said["audit"]
    assert "trying 2 schemes on 600 records" in said["plan"]
    assert "wrote r.html" in said["report"]


def test_nothing_is_said_without_it_and_nothing_stays(run, secret):
    mask = ("-c", COLUMN, *MASK, "--decimals", "2", "--accept-visible-coins", "--no-log")
    logger = logging.getLogger("condmask")
    before = [*logger.handlers], logger.level

    assert " s  " in run("mask", secret, "b.csv", *mask, "--verbose")[2]
    assert " s  " not in run("mask", secret, "c.csv", *mask)[2]
    assert ([*logger.handlers], logger.level) == before


def test_every_command_has_it():
    (commands,) = (action.choices for action in parser()._actions if action.choices)

    assert len(commands) >= 12
    assert all("--verbose" in command.format_help() for command in commands.values())
