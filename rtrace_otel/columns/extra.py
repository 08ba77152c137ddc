"""Whether the packages that tables need are there. A leaf."""

from __future__ import annotations

from importlib.util import find_spec

from rtrace_otel.errors import MissingExtraError


def require(what: str, *modules: str) -> None:
    """Make sure that optional packages are installed.

    Args:
        what: What needs them, as the user calls it.
        modules: Names of their modules, all of the extra ``sql``.

    Raises:
        MissingExtraError: One is not.
    """
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtraError(what, "sql", module)
