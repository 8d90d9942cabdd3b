"""A release is read by the loaders its users have, and neither of them needs a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.workflows.release.export import Exported
from labelkit.workflows.release.tables import TABLES, parquet_rows

pytestmark = pytest.mark.skipif(
    find_spec("mlcroissant") is None or find_spec("datasets") is None,
    reason="needs mlcroissant and datasets, of the extra `test`",
)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def release(made: tuple[Path, Exported, Rubric, Sample]) -> Path:
    return made[1].folder


@pytest.fixture(scope="module")
def loaded(release: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What both loaders said, in a process that cannot reach a network."""
    cache = tmp_path_factory.mktemp("cache")
    done = subprocess.run(
        [sys.executable, "-m", "tests.workflows.release.loading", str(release), str(cache)],
        cwd=ROOT,
        env={**os.environ, "HF_HOME": str(cache), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_mlcroissant_finds_nothing_wrong_and_reads_every_record(
    release: Path, loaded: dict[str, Any]
) -> None:
    said = loaded["croissant"]
    assert (said["errors"], said["warnings"]) == ([], [])
    tables = [name for name in TABLES if (release / f"{name}.parquet").exists()]
    assert sorted(said["records"]) == sorted(tables)
    for name in tables:
        wanted = list(parquet_rows(release, name))
        records = said["records"][name]
        assert len(records) == len(wanted) > 0
        for record, row in zip(records, wanted, strict=True):
            assert {f"{name}/{key}": row[key] for key in row if not isinstance(row[key], list)} == (
                record
            ), name


def test_datasets_loads_both_forms_of_every_table(release: Path, loaded: dict[str, Any]) -> None:
    tables = loaded["datasets"]["tables"]
    assert {Path(name).suffix for name in tables} == {".jsonl", ".parquet"}
    for name in [name for name in tables if name.endswith(".parquet")]:
        stem = Path(name).stem
        assert tables[name] == list(parquet_rows(release, stem))
        assert len(tables[f"{stem}.jsonl"]) == len(tables[name])


def test_the_card_offers_every_table_as_a_configuration(
    release: Path, loaded: dict[str, Any]
) -> None:
    rows = {
        name: sum(1 for _ in parquet_rows(release, name))
        for name in TABLES
        if (release / f"{name}.parquet").exists()
    }
    assert loaded["datasets"]["configs"] == rows
