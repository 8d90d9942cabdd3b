"""A filled store, and the pages run in this process over it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.opened import STORE, browser
from labelkit.errors import StoreError
from labelkit.store import Store
from tests.app.stores import Filled, fill
from tests.conftest import ROOT


@pytest.fixture
def filled(tmp_path: Path) -> Filled:
    return fill(tmp_path)


@pytest.fixture
def open_app(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """Start the pages over a store; ``trace`` goes into the address."""
    urls: list[str] = []

    def start(url: str, trace: str | None = None) -> AppTest:
        monkeypatch.setenv(STORE, url)
        urls.append(url)
        page = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=30)
        if trace is not None:
            page.query_params["trace"] = trace
        return page.run()

    yield start
    for url in urls:
        with contextlib.suppress(StoreError):  # a test may be about a store that is not there
            browser(url).close()
    browser.cache_clear()


@pytest.fixture
def empty_url(tmp_path: Path) -> str:
    url = f"sqlite:///{tmp_path / 'labelkit.db'}"
    with Store.open(url, create=True):
        return url
