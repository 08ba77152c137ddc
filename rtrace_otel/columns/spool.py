"""Batches that wait on disk. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa


class Spool:
    """Takes batches of one table, and gives them back in their order; close it, or use it as a context.

    Args:
        path: A file of its own, which is not there yet. Whoever named it removes it.
    """

    def __init__(self, path: Path) -> None:
        """Begin without a batch."""
        self._path = path
        self._writer: Any = None

    def append(self, batch: Any, /) -> None:
        """Write a batch (``pyarrow.RecordBatch``)."""
        if self._writer is None:
            self._writer = pa.ipc.new_stream(str(self._path), batch.schema)
        self._writer.write_batch(batch)

    def __iter__(self) -> Iterator[Any]:
        """Read the batches, one at a time; no more can be written."""
        if self._writer is None:
            return
        self.close()
        with pa.OSFile(str(self._path)) as file:
            yield from pa.ipc.open_stream(file)

    def __enter__(self) -> Self:
        """The spool itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """End the file; closing twice does nothing."""
        if self._writer is not None:
            self._writer.close()
