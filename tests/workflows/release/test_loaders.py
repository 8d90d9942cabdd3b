"""A release is read by the loaders its users have, and neither of them needs a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.rubric import Question
from labelkit.domain.terms import Terms
from labelkit.store import Store
from labelkit.store.raters import add_rubric
from labelkit.store.terms import note_terms
from labelkit.store.traces import add_traces
from labelkit.workflows.release.export import Wanted, export
from labelkit.workflows.release.tables import TABLES, parquet_rows
from labelkit.workflows.release.verify import verify
from tests.workflows.release.building import MAY, reviewed
from tests.workflows.review import desk

pytestmark = pytest.mark.skipif(
    find_spec("mlcroissant") is None or find_spec("datasets") is None,
    reason="needs mlcroissant and datasets, of the extra `test`",
)
ROOT = Path(__file__).resolve().parents[3]


STEPS = Question(
    id="how_sure",
    type="ordinal",
    text="Wie sicher? 確か",
    labels=(desk.definition("1 wenig", "1"), desk.definition("2 много", "2")),
)


def reviewed_release(place: Path) -> Path:
    with Store.open(f"sqlite:///{place / 'a.db'}", create=True) as store:
        rubric, _ = reviewed(store)
        return export(store, rubric, place / "out").folder


def one_trace(place: Path) -> Path:
    """One trace, an ordinal question, names in other scripts; nobody drew or decided anything."""
    rubric = desk.rubric(STEPS, name="gefühl", title="Gefühl 感情")
    with Store.open(f"sqlite:///{place / 'a.db'}", create=True) as store:
        add_rubric(store, rubric)
        traces = [desk.trace(1, model="modèle 模型", task_set="الف", tags={"domain": "Ünï"})]
        add_traces(store, traces)
        note_terms(store, Terms(name="الف", licence="CC-BY-4.0", redistributable=True, source="é"))
        for name in ("Zoë", "李"):
            desk.judge(store, traces, ["1 wenig"], rubric, name, "how_sure", "person")
        return export(store, rubric, place / "out", wanted=Wanted(name="Gefühl 感情")).folder


def undecided(place: Path) -> Path:
    """People disagree on every item and nobody has decided: no gold, no decisions."""
    rubric = desk.rubric()
    with Store.open(f"sqlite:///{place / 'a.db'}", create=True) as store:
        traces = desk.fill(store, 4, rubric)
        note_terms(store, MAY)
        for name, label in (("ann", "good"), ("ben", "bad")):
            desk.judge(store, traces, [label] * 4, rubric, name, kind="person")
        return export(store, rubric, place / "out").folder


def withheld(place: Path) -> Path:
    """Texts that may not be passed on, whose terms nobody has told."""
    with Store.open(f"sqlite:///{place / 'a.db'}", create=True) as store:
        rubric, _ = reviewed(store, terms=None)
        return export(store, rubric, place / "out").folder


@pytest.fixture(scope="module", params=[reviewed_release, one_trace, undecided, withheld])
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    make: Callable[[Path], Path] = request.param
    folder = make(tmp_path_factory.mktemp("release"))
    assert verify(folder).faults == ()
    return folder


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
