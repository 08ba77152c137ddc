"""The documentation says what is true: links resolve, code runs, output is what the programs print."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest

from rtrace_otel.cli.main import COMMANDS
from rtrace_otel.version import __version__
from tests.generate import FILES

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
CODE = [
    (page, code)
    for page in PAGES
    for code in re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
]


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("name", FILES)
def test_derived_files_are_up_to_date(name: str) -> None:
    """What is derived from code or stored runs equals what is on disk; ``python -m tests.generate`` writes it."""
    assert FILES[name]() == (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    """Every relative link leads to a file of the project, and every anchor to a heading."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        name, _, anchor = unquote(target).partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {_anchor(heading) for heading in headings}, target


@pytest.mark.parametrize(("page", "code"), CODE, ids=[f"{page.name}-{n}" for n, (page, _) in enumerate(CODE)])
def test_python_blocks_run(page: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each example runs as it stands, after the examples before it on its page."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for other, earlier in CODE:
        if other == page:
            exec(compile(earlier, page.name, "exec"), names)
        if earlier == code:
            break


def test_the_recording_example_computes_what_its_comment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The counts and the age of the recording guide are the ones that its code gives."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(next(code for page, code in CODE if page.name == "recording.md"), names)
    assert {3: 40, 4: 110} == names["counts"]
    assert pytest.approx(4 - (3 * 40 + 4 * 110) / 150) == names["age"]


def test_readme_has_exactly_two_set_up_commands() -> None:
    """One command installs and runs the demo, the other runs the tests."""
    commands = re.findall(
        r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert ['pip install -e ".[demo]" && rtrace demo\n', 'pip install -e ".[dev]" && pytest\n'] == commands


def test_every_command_is_documented() -> None:
    """The page of commands has a section for each, and no other."""
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert list(COMMANDS) == re.findall(r"^## rtrace (\w+)$", text, re.MULTILINE)


def test_printed_next_commands_exist() -> None:
    """Each command that the README's output tells people to type is one of ours."""
    typed = re.findall(r"^  (rtrace \S+.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert typed
    assert {shlex.split(line)[1] for line in typed} <= COMMANDS.keys()


def test_changelog_has_this_version() -> None:
    """The changelog's newest version is the package's."""
    versions = re.findall(r"^## (\d+\.\d+\.\d+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == __version__


def test_every_extra_of_the_readme_exists() -> None:
    """The extras that the commands install are in the project file."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(re.findall(r'pip install -e "\.\[(\w+)\]"', (ROOT / "README.md").read_text(encoding="utf-8"))) <= set(
        extras
    )
