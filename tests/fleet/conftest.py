"""The object stores, started once for all tests that use them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fleet.proxy import pass_on
from tests.fleet.stores import KINDS, Store, store


@pytest.fixture(scope="session", params=KINDS)
def _running(request: pytest.FixtureRequest) -> Iterator[Store]:
    with store(request.param) as made:
        yield made


@pytest.fixture
def bucket(_running: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Each of the stores, with what a user has in the environment, and a proxy that passes on; others use it too."""
    for name, value in _running.env().items():
        monkeypatch.setenv(name, value)
    _running.proxy.asked.clear()
    yield _running
    _running.proxy.act = pass_on
