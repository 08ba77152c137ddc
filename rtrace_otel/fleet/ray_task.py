"""What a worker of a Ray cluster does with a trace, and what it has to know of the environment of who asks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from rtrace_otel.fleet.analyse import analyse_file
from rtrace_otel.fleet.results import encode
from rtrace_otel.fleet.sources import begun
from rtrace_otel.fleet.stores import Stores

_STORE_VARIABLES: Final = ("AWS_", "FSSPEC_", "GCE_", "GCSFS_", "GOOGLE_", "NO_GCE_CHECK", "STORAGE_EMULATOR_HOST")
"""How the names begin of what s3fs, gcsfs and fsspec read from the environment."""


def store_variables() -> dict[str, str]:
    """The variables of this process's environment that say where stores are, and who asks."""
    return {name: value for name, value in os.environ.items() if name.startswith(_STORE_VARIABLES)}


def answer(path: str, where: str) -> bytes:
    """What comes of a trace, as it travels.

    Args:
        path: Its path.
        where: Where to open it: a path that does not depend on the folder that the worker runs in.
    """
    return encode(analyse_file(path, where))


def answer_from_store(path: str, patience_s: float, variables: Mapping[str, str]) -> bytes:
    """What comes of a trace in a store, as it travels.

    Args:
        path: Its address.
        patience_s: How long the store is waited for, in seconds.
        variables: Of the environment of who asks. The worker is theirs alone, and keeps them. Where one names a file
            that this node does not have, the node's own credentials are taken.
    """
    for name, value in variables.items():
        if not value.startswith("/") or Path(value).exists():
            os.environ[name] = value
    return encode(analyse_file(path, stream=begun(path, _stores(patience_s))))


@cache
def _stores(patience_s: float) -> Stores:
    """Those of this process: it is given many traces."""
    return Stores(patience_s)
