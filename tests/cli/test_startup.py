"""The program starts fast, and the library never loads what only the program needs."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import rtrace_otel
from tests.cli.program import RTRACE, environment
from tests.pace import within

PACKAGE = Path(rtrace_otel.__file__).parent
LIBRARY = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for part in ("analysis", "report", "record")
    for path in (PACKAGE / part).rglob("*.py")
    if path.parent.name != "plots"
)
"""Pictures need matplotlib, which comes with an extra."""


def _cpu_s(command: list[str]) -> float:
    """Seconds of processor that a program takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_the_version_is_told_with_the_work_of_four_empty_programs() -> None:
    """The least of several runs each, taken in turn: noise only ever adds."""

    def measured() -> tuple[None, float]:
        pairs = [(_cpu_s([RTRACE, "--version"]), _cpu_s([sys.executable, "-c", "pass"])) for _ in range(9)]
        return None, min(own for own, _ in pairs) / min(empty for _, empty in pairs)

    within(4.0, measured)


def _loaded(code: str) -> set[str]:
    """Top-level names of the modules that a program has loaded at its end."""
    program = f"import sys\n{code}\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment()
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import rtrace_otel",
        "import rtrace_otel\n[getattr(rtrace_otel, name) for name in rtrace_otel.__all__]",
        "import rtrace_otel.trace",
        f"import {', '.join(LIBRARY)}",
    ],
    ids=["root", "every public name", "drop-in", "every module of the library"],
)
def test_the_library_loads_nothing_of_the_command_line(code: str) -> None:
    """Click and rich come with the commands, aiohttp and numpy with the demo, and none with the library."""
    assert set() == _loaded(code) & {"click", "rich", "aiohttp", "numpy"}


def test_the_library_has_the_modules_that_are_checked() -> None:
    """The list is not empty by mistake."""
    assert {"rtrace_otel.analysis.age.ages", "rtrace_otel.report.formats", "rtrace_otel.record.trace"} <= set(LIBRARY)


def test_the_version_loads_no_library() -> None:
    """That is why it is fast."""
    code = "from rtrace_otel.cli.main import main\ntry: main(['--version'])\nexcept SystemExit: pass"

    assert set() == _loaded(code) & {"click", "rich", "msgspec", "asyncio"}


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["age", "--help"], ["nonsense"]], ids=" ".join)
def test_the_module_is_the_program(arguments: list[str]) -> None:
    """``python -m rtrace_otel`` does what ``rtrace`` does, where scripts are not on the path."""
    script, module = (
        subprocess.run([*command, *arguments], capture_output=True, env=environment(), check=False)
        for command in ([RTRACE], [sys.executable, "-m", "rtrace_otel"])
    )

    assert (script.returncode, script.stdout, script.stderr) == (module.returncode, module.stdout, module.stderr)
