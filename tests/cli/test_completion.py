"""The completion script in a real, interactive bash: keys are pressed, and the line that comes of it is run."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.program import LIMIT_S, RTRACE, environment, rtrace
from tests.cli.pseudo import terminal

RC = f"""
PATH={Path(RTRACE).parent}:$PATH
PS1='ready> '
bind 'set enable-bracketed-paste off'
eval "$(_RTRACE_COMPLETE=bash_source rtrace)"
rtrace() {{ printf '\\nran=%s;\\n' "$*"; }}
"""
"""Completion asks the real program; the line itself is shown instead of run."""


def typed(keys: str, folder: Path) -> tuple[str, str]:
    """The arguments of the command line that these keys and Return make, and all that was on the screen before."""
    (folder / "rc").write_text(RC)
    command = ["bash", "--noprofile", "--rcfile", "rc", "-i"]
    with terminal(200) as screen, subprocess.Popen(
        command, stdin=screen.tty, stdout=screen.tty, stderr=screen.tty, cwd=folder, env=environment(),
        start_new_session=True,
    ) as bash:  # fmt: skip
        _await(screen.drawn, "ready> ")
        screen.drawn.clear()
        os.write(screen.keyboard, keys.encode() + b"\n")
        shown = _await(screen.drawn, r"ran=[^;]*;")
        os.write(screen.keyboard, b"exit\n")
        bash.wait(LIMIT_S)
    before, _, after = shown.partition("ran=")
    return after.partition(";")[0], before


def _await(drawn: list[bytes], pattern: str) -> str:
    """The screen, once the pattern is on it."""
    deadline = time.monotonic() + LIMIT_S
    while not re.search(pattern, text := b"".join(drawn).decode(errors="replace")):
        assert time.monotonic() < deadline, text
        time.sleep(0.01)
    return text


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("rtrace su\t", "summary"),
        ("rtrace ag\t", "age"),
        ("rtrace dem\t", "demo"),
        ("rtrace def\t", "definitions"),
        ("rtrace ch\t", "check"),
        ("rtrace age f --form\tj\t", "age f --format json"),
        ("rtrace age f --format c\t", "age f --format csv"),
        ("rtrace age --str\t f", "age --strict f"),
        ("rtrace age rollout\t", "age rollout_trace.jsonl"),
        ("rtrace summary --format md rollout\t", "summary --format md rollout_trace.jsonl"),
        ("rtrace age f -o ans\t", "age f -o answer.csv"),
    ],
    ids=lambda value: value.replace("\t", "<TAB>"),
)
def test_keys_become_a_whole_command_line(keys: str, line: str, tmp_path: Path) -> None:
    """Commands, options, their values and files are completed."""
    (tmp_path / "rollout_trace.jsonl").touch()
    (tmp_path / "answer.csv").touch()

    assert line == typed(keys, tmp_path)[0].strip()


def test_completing_after_a_wrong_command_writes_nothing_on_the_screen(tmp_path: Path) -> None:
    """An error message in the middle of what one types destroys the line."""
    _, shown = typed("rtrace nonsense \t", tmp_path)

    assert "rtrace nonsense" == " ".join(shown.replace("\a", "").split())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(shell: str) -> None:
    """As the page of commands says."""
    found = rtrace(env={"_RTRACE_COMPLETE": f"{shell}_source"})

    assert (0, "", True) == (found.code, found.err, "rtrace" in found.out)
