"""Fixtures that every part of the tests may use."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

# No test asserts a time: on a busy machine any example may take long.
settings.register_profile("labelkit", deadline=None)
settings.load_profile("labelkit")

pytest_plugins = ["tests.fake_server.plugin", "tests.databases"]

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of handed-over facts and real data beside the checkout."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"needs the reference data in {folder.name}/ beside the checkout")
    return folder
