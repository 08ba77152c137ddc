"""Imports point one way, and modules stay small and documented."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "rtrace_otel"
FILES = {
    ".".join(("rtrace_otel", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
PACKAGES = {name for name, path in FILES.items() if path.name == "__init__.py"}
GENERATED = {"rtrace_otel.record.typed"}

LEAVES = {"events", "fields", "errors", "validation", "version", "text"}
MAY_IMPORT: dict[str, set[str]] = {
    "events": {"fields"},
    "fields": set(),
    "errors": set(),
    "version": set(),
    "text": set(),
    "validation": {"events", "fields", "errors"},
    "spans": LEAVES,
    "record": LEAVES | {"spans"},
    "testing": {"events", "fields", "errors"},
    "analysis": LEAVES | {"spans"},
    "columns": LEAVES | {"spans", "analysis"},
    "fleet": LEAVES | {"spans", "analysis"},
    "report": LEAVES | {"spans", "analysis", "columns", "fleet"},
    "demo": LEAVES | {"record", "spans", "analysis", "report"},
    "cli": LEAVES | {"spans", "analysis", "columns", "fleet", "report", "demo"},
    "trace": LEAVES | {"record", "analysis", "report"},
    "loaded": LEAVES | {"analysis", "columns", "report"},
    "": LEAVES | {"record", "spans", "analysis", "report", "trace", "loaded"},
    "__main__": {"cli"},
}
"""Layer: the layers below it. ``""`` is the package root, on top with the drop-in."""


def _tree(module: str) -> ast.Module:
    return ast.parse(FILES[module].read_text(encoding="utf-8"))


def _layer(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _imports(module: str) -> Iterator[str]:
    """Every module of the package that a module imports: at its top, in a function, or for type checkers."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "rtrace_otel")
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = module.split(".") if module in PACKAGES else module.split(".")[:-1]
                base = ".".join([*parent[: len(parent) - node.level + 1], *filter(None, [base])])
            if base.split(".")[0] == "rtrace_otel":
                yield from (f"{base}.{alias.name}" if f"{base}.{alias.name}" in FILES else base for alias in node.names)


IMPORTS = {module: sorted(set(_imports(module))) for module in FILES}


@pytest.mark.parametrize("module", FILES)
def test_imports_point_one_way(module: str) -> None:
    """From the command line over reports and analysis to the vocabulary; recording and analysis never meet."""
    layer = _layer(module)
    assert layer in MAY_IMPORT, f"{module} has no place in the layout"
    allowed = MAY_IMPORT[layer] | {layer}

    assert [] == [name for name in IMPORTS[module] if _layer(name) not in allowed]


@pytest.mark.parametrize("module", sorted(set(FILES) - {"rtrace_otel"}))
def test_no_module_imports_a_package(module: str) -> None:
    """Only modules that hold code are imported: the package root and the ``__init__`` of its parts are for users."""
    assert [] == [name for name in IMPORTS[module] if name in PACKAGES]


def test_no_module_imports_itself_by_a_detour() -> None:
    """There is an order in which every module comes after those that it imports."""
    try:
        cycle = []
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        cycle = error.args[1]

    assert [] == cycle


def test_names_that_are_imported_late_are_where_the_layers_allow() -> None:
    """The package root imports by name at run time; those names are modules of the package."""
    (homes,) = [
        node.value for node in _tree("rtrace_otel").body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "_HOMES"
    ]  # fmt: skip

    assert set() == {f"rtrace_otel.{home}" for home in ast.literal_eval(homes).values()} - set(FILES)


def _undocumented(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            overload = any(isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list)
            if not overload and not (ast.get_docstring(node) or "").strip():
                yield f"{prefix}.{node.name}"
            if isinstance(node, ast.ClassDef):
                yield from _undocumented(node.body, f"{prefix}.{node.name}")


@pytest.mark.parametrize("module", FILES)
def test_everything_public_has_a_docstring(module: str) -> None:
    """Modules, and the classes, functions and methods whose name has no underscore."""
    tree = _tree(module)

    assert (ast.get_docstring(tree) or "").strip()
    assert [] == list(_undocumented(tree.body, module))


@pytest.mark.parametrize("module", sorted(set(FILES) - GENERATED))
def test_files_have_at_most_three_hundred_lines(module: str) -> None:
    """What is longer is two things."""
    assert len(FILES[module].read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "report" / "html" / "assets").rglob("*.*")), ids=lambda path: path.name
)
def test_scripts_and_styles_of_pages_are_short(path: Path) -> None:
    """As modules are."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


@pytest.mark.parametrize("module", FILES)
def test_nothing_prints_outside_the_command_line(module: str) -> None:
    """A library speaks through return values and the log; commands speak for themselves."""
    calls = [node.func for node in ast.walk(_tree(module)) if isinstance(node, ast.Call)]
    prints = [call.id for call in calls if isinstance(call, ast.Name) and call.id == "print"]

    assert [] == prints or _layer(module) in {"cli", "demo", "trace"}
