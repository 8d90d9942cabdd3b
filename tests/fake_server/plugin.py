"""The fixtures ``fake_server`` (one test) and ``make_endpoint`` (an endpoint that points to it)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from labelkit.domain.endpoint import Endpoint
from tests.fake_server.server import FakeServer


@pytest.fixture(scope="session")
def _running_fake_server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


@pytest.fixture
def fake_server(_running_fake_server: FakeServer) -> Iterator[FakeServer]:
    """An OpenAI-compatible server on loopback, in its initial state."""
    _running_fake_server.reset()
    yield _running_fake_server
    fell = _running_fake_server.fell
    _running_fake_server.reset()
    if fell:
        raise fell[0]


@pytest.fixture
def make_endpoint(fake_server: FakeServer) -> Callable[..., Endpoint]:
    """Build an endpoint that points to the fake server; keywords override its fields."""

    def make(**fields: Any) -> Endpoint:
        values: dict[str, Any] = {
            "name": "fake",
            "model": "fake-model",
            "base_url": fake_server.base_url,
        }
        return Endpoint(**{**values, **fields})

    return make
