"""``rtrace demo`` as a command: what it prints, and what it says where it cannot run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from rtrace_otel.events import ROLLOUT_TRACE_FILENAME
from tests.cli.program import Result, rtrace


def test_the_demo_explains_itself_and_says_what_to_type(tmp_path: Path) -> None:
    """Progress on standard error, findings on standard output, and commands that work."""
    found = rtrace("demo", "--dir", "logs", "--seed", "3", cwd=tmp_path)
    titles = [line for line in found.out.splitlines() if line.startswith(("Demo", "Summary of", "Batch age of"))]
    trace = f"logs/{ROLLOUT_TRACE_FILENAME}"
    commands = re.findall(r"^  rtrace (.*)$", found.out.partition("Next:\n")[2], re.MULTILINE)

    assert (0, ["Demo", f"Summary of {trace}", f"Batch age of {trace}"], 4) == (
        found.code, titles, found.err.count("\n"),
    )  # fmt: skip
    assert len(commands) >= 2
    assert [0] * len(commands) == [rtrace(*shlex.split(command), cwd=tmp_path).code for command in commands]


@pytest.mark.parametrize("package", ["aiohttp", "numpy"])
def test_a_demo_without_its_extra_says_how_to_install_it(package: str, tmp_path: Path) -> None:
    """One line with the command to type, before anything is started or written."""
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('no {package}', name='{package}')")
    found = rtrace("demo", "--dir", tmp_path / "logs", env={"PYTHONPATH": str(tmp_path)})

    assert (
        Result(1, "", f"error: rtrace demo needs {package}. Install it with: pip install 'rtrace-otel[demo]'\n")
        == found
    )
    assert not (tmp_path / "logs").exists()


def test_a_folder_that_holds_a_trace_is_refused(job: Path) -> None:
    """Nothing is appended to somebody's trace."""
    before = job.read_bytes()

    assert Result(1, "", f"error: {job}: already there. Choose another folder with --dir\n") == (
        rtrace("demo", "--dir", job.parent)
    )
    assert before == job.read_bytes()


@pytest.mark.parametrize("where", ["/proc/none", "/dev/null/logs"])
def test_a_folder_that_cannot_be_made(where: str) -> None:
    """Status 1 and one line that names the folder."""
    found = rtrace("demo", "--dir", where)

    assert (1, "", 1, True) == (found.code, found.out, found.err.count("\n"), where in found.err)
