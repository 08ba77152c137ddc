"""What ``import rtrace_otel`` promises: these names, documented, and next to no cost."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import rtrace_otel
from rtrace_otel import trace as drop_in

HEAVY = ("opentelemetry", "click", "rich", "msgspec", "numpy", "aiohttp", "torch", "asyncio")
SOURCE = Path(inspect.getfile(rtrace_otel))


def _python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=600)
    return done.stdout.strip()


def test_all_is_exactly_what_is_exported() -> None:
    """A star import gives the names of ``__all__`` and nothing else; none stands twice."""
    code = "from rtrace_otel import *; print(sorted(n for n in dir() if n == '__version__' or n[:2] != '__'))"

    assert str(sorted(rtrace_otel.__all__)) == _python(code)
    assert len(set(rtrace_otel.__all__)) == len(rtrace_otel.__all__)


def test_dir_shows_the_public_names_before_they_are_used() -> None:
    """Completion in a fresh interpreter works although names are imported late."""
    assert str(sorted(rtrace_otel.__all__)) == _python("import rtrace_otel; print(dir(rtrace_otel))")


def test_type_checkers_see_the_same_names() -> None:
    """The imports that only type checkers run name what the late ones give."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    static = {
        alias.asname: (node.module, alias.name)
        for block in tree.body if isinstance(block, ast.If)
        for node in block.body if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }  # fmt: skip

    assert set(rtrace_otel.__all__) - {"__version__"} == set(static)
    for exported, (module, name) in static.items():
        assert exported == name
        assert getattr(importlib.import_module(str(module)), name) is getattr(rtrace_otel, name)


@pytest.mark.parametrize("name", rtrace_otel.__all__)
def test_every_name_is_importable_alone_and_documented(name: str) -> None:
    """Each comes from a fresh interpreter; functions, classes and their methods have a docstring of their own."""
    assert "True" == _python(f"import rtrace_otel; print(rtrace_otel.{name} is rtrace_otel.{name})")
    value = getattr(rtrace_otel, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        members = (
            [value, *(m for n, m in vars(value).items() if callable(m) and n[0] != "_")]
            if inspect.isclass(value)
            else [value]
        )
        assert [] == [member for member in members if not (member.__doc__ or "").strip()]


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A spelling mistake says so as for any module."""
    with pytest.raises(AttributeError, match=r"^module 'rtrace_otel' has no attribute 'RolloutTracer'$"):
        _ = rtrace_otel.RolloutTracer


def test_importing_the_package_imports_nothing_heavy() -> None:
    """A controller pays for what it uses: neither the SDK nor the command line's libraries nor the decoder."""
    code = f"import rtrace_otel, sys; print([n for n in {HEAVY} if n in sys.modules])"

    assert "[]" == _python(code)


def test_a_recorder_does_not_load_the_command_line() -> None:
    """The process that is traced loads no library that only the reading side needs."""
    code = f"from rtrace_otel import RolloutTrace; import sys; print([n for n in {HEAVY[1:3]} if n in sys.modules])"

    assert "[]" == _python(code)


@pytest.mark.parametrize(
    "name",
    ["RefitCuts", "tokens_by_version", "batch_age_group_metrics", "pop_batch_age", "batch_age_by_step",
     "ROLLOUT_TRACE_FILENAME", "BATCH_AGE_TOKENS_METRIC", "BATCH_AGE_VERSION_SUM_METRIC", "main", "RolloutTrace",
     "read_events"],
)  # fmt: skip
def test_the_package_exports_what_the_drop_in_does(name: str) -> None:
    """One object under both names."""
    assert getattr(drop_in, name) is getattr(rtrace_otel, name)


@pytest.mark.parametrize(
    "name", ["rebuild_refit_cuts", "recomputed_tokens_by_version", "ReadReport", "validate_row", "RTraceError"]
)
def test_what_goes_beyond_the_drop_in_is_exported_too(name: str) -> None:
    """The names that the guides use come from the package."""
    assert name in rtrace_otel.__all__


def test_the_version_is_that_of_the_distribution() -> None:
    """``__version__`` and the installed package agree."""
    assert importlib.import_module("importlib.metadata").version("rtrace-otel") == rtrace_otel.__version__
