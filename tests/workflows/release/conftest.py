"""A release of a reviewed store."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.store import Store
from labelkit.workflows.release.export import Exported, export
from tests.workflows.release.building import reviewed


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as store:
        yield store


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Exported, Rubric, Sample]:
    """A reviewed store and its release, never changed: tests take copies."""
    place = tmp_path_factory.mktemp("made")
    with Store.open(f"sqlite:///{place / 'a.db'}", create=True) as store:
        rubric, sample = reviewed(store)
        return place, export(store, rubric, place / "out"), rubric, sample


@pytest.fixture
def released(
    made: tuple[Path, Exported, Rubric, Sample], tmp_path: Path
) -> tuple[Exported, Rubric, Sample]:
    """A copy of the release that a test may harm."""
    _, done, rubric, sample = made
    folder = shutil.copytree(done.folder, tmp_path / "out")
    return replace(done, folder=folder), rubric, sample


@pytest.fixture
def source(made: tuple[Path, Exported, Rubric, Sample], tmp_path: Path) -> Iterator[Store]:
    """A copy of the store that was released."""
    copied = shutil.copy(made[0] / "a.db", tmp_path / "source.db")
    with Store.open(f"sqlite:///{copied}") as store:
        yield store
