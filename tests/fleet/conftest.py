"""The object stores, each started once for all tests that use it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.fleet.proxy import pass_on
from tests.fleet.stores import KINDS, Store, store


@pytest.fixture(scope="session")
def store_s3() -> Iterator[Store]:
    """The one that speaks S3."""
    with store("s3") as made:
        yield made


@pytest.fixture(scope="session")
def store_gs() -> Iterator[Store]:
    """The one that speaks the JSON API of Google Cloud Storage."""
    with store("gs") as made:
        yield made


@pytest.fixture(params=KINDS)
def bucket(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """Each of the stores, with what a user has in the environment, and a proxy that passes on; others use it too."""
    made: Store = request.getfixturevalue(f"store_{request.param}")
    for name, value in made.env().items():
        monkeypatch.setenv(name, value)
    made.proxy.asked.clear()
    yield made
    made.proxy.act = pass_on
