"""``condmask completion``. Oracle: what the shells themselves make of the script."""

import shutil
import subprocess

import pytest

from condmask import cli


def script(capsys, shell):
    assert cli.main(["completion", shell]) == 0
    return capsys.readouterr().out


def completed(text, *words):
    """What bash offers for the last of these words."""
    quoted = " ".join(f"'{word}'" for word in words)
    asked = (
        f"{text}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMP_LINE='{' '.join(words)}'; "
        "COMP_POINT=${#COMP_LINE}; function_of=$(complete -p condmask | sed 's/.*-F \\([^ ]*\\).*/\\1/'); "
        f"$function_of condmask '{words[-1]}' '{words[-2]}' 2>/dev/null; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=False)
    return [word.strip() for word in done.stdout.splitlines() if word.strip()]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")
def test_bash_completes_commands_options_and_choices(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("a\n1\n")
    text = script(capsys, "bash")

    assert completed(text, "condmask", "ma") == ["mask"]
    assert set(completed(text, "condmask", "")) >= {"plan", "audit", "mask", "completion"}
    assert completed(text, "condmask", "mask", "--accept") == ["--accept-visible-coins"]
    assert completed(text, "condmask", "mask", "a", "b", "--noise", "") == ["normal", "laplace"]
    assert completed(text, "condmask", "plan", "a", "--scale", "lo") == ["log"]
    assert completed(text, "condmask", "mask", "peo") == ["people.csv"]
    assert completed(text, "condmask", "completion", "z") == ["zsh"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_scripts(capsys, tmp_path, shell):
    text = script(capsys, shell)

    for word in ("mask", "accept-visible-coins", "laplace", "quantile"):
        assert word in text
    if shutil.which(shell) is not None:
        (tmp_path / "script").write_text(text)
        read = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True, check=False)
        assert (read.returncode, read.stderr) == (0, "")


def test_a_shell_that_is_unknown_is_wrong_usage(run):
    assert run("completion", "cmd") == (
        2, "", "condmask: error: SHELL must be one of 'bash', 'zsh', 'fish', got 'cmd'\n"
    )  # fmt: skip
