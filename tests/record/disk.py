"""A disk that fails as the test asks, for one file of this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


class FaultyDisk:
    """Stands between the recorder and ``os.write`` and ``os.fdatasync``; other files are left alone.

    Attributes:
        writes: What was asked to be written to the file, call by call.
        synced: How many writes had been made at each forced write to the disk.
        on_write: Called instead of ``os.write``, with the real one in reach as :attr:`real_write`.
        on_sync: Called before each forced write to the disk.
    """

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take the place of the functions until the test ends."""
        self._file = str(file)
        self.writes: list[bytes] = []
        self.synced: list[int] = []
        self.real_write = os.write
        self.on_write: Callable[[int, bytes], int] = os.write
        self.on_sync: Callable[[], None] = lambda: None
        real_syncs = {name: getattr(os, name) for name in ("fsync", "fdatasync")}
        monkeypatch.setattr(os, "write", self._write)
        for name, real in real_syncs.items():
            monkeypatch.setattr(os, name, self._syncing(real))

    def is_ours(self, fd: int) -> bool:
        """Whether a descriptor is one of the file."""
        try:
            return str(Path(f"/proc/self/fd/{fd}").readlink()).startswith(self._file)
        except OSError:
            return False

    def _write(self, fd: int, data: bytes) -> int:
        if not self.is_ours(fd):
            return self.real_write(fd, data)
        self.writes.append(bytes(data))
        return self.on_write(fd, bytes(data))

    def _syncing(self, real: Callable[[int], None]) -> Callable[[int], None]:
        def sync(fd: int) -> None:
            if self.is_ours(fd):
                self.synced.append(len(self.writes))
                self.on_sync()
            real(fd)

        return sync
