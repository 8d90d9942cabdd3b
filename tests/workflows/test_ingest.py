"""Files into the store: what a path means, and that twice changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelkit.store import Store
from labelkit.store.reports import counts
from labelkit.workflows.ingest import import_file
from tests.conftest import ROOT

SET = ROOT / "datasets" / "tool-failure-mini"


@pytest.mark.parametrize("path", [SET, SET / "tasks.jsonl", str(SET)])
def test_a_task_set_is_read_as_tasks_and_never_as_traces(path: Path | str, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'x.db'}", create=True) as store:
        first = import_file(store, path)
        again = import_file(store, path)
        assert (first.format, first.tasks_new, first.traces_new) == ("task-set", 24, 0)
        assert (again.tasks_new, again.tasks_known) == (0, 24)
        assert counts(store).traces == 0
