"""Files into the store: what a path means, that twice changes nothing, that one cannot stop all."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelkit.formats.reader import ReadOptions
from labelkit.store import Store
from labelkit.store.reports import counts
from labelkit.workflows.ingest import (
    Imported,
    Refused,
    SecondNameError,
    import_file,
    import_files,
)
from tests.conftest import ROOT
from tests.formats.writing import write_lines

SET = ROOT / "datasets" / "tool-failure-mini"


@pytest.mark.parametrize("path", [SET, SET / "tasks.jsonl", str(SET)])
def test_a_task_set_is_read_as_tasks_and_never_as_traces(path: Path | str, tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'x.db'}", create=True) as store:
        first = import_file(store, path)
        again = import_file(store, path)
        lines = (SET / "tasks.jsonl").read_text("utf-8").splitlines()
        assert (first.format, first.tasks_new, first.traces_new) == ("task-set", len(lines), 0)
        assert (again.tasks_new, again.tasks_known) == (0, len(lines))
        assert counts(store).traces == 0


def said(text: str, **fields: object) -> dict[str, object]:
    return {"messages": [{"role": "assistant", "content": text}], "task_id": text, **fields}


NAMES = [
    ({}, {"model": "m"}, "model 'unknown', now 'm'"),
    ({"model": "m"}, {}, "model 'm', now 'unknown'"),
    ({}, {"task_set": "s"}, "task set None, now 's'"),
    ({"condition": "a"}, {"condition": "b"}, "condition 'a', now 'b'"),
]


@pytest.mark.parametrize(("first", "second", "says"), NAMES)
def test_a_file_known_under_other_names_is_refused_until_both_are_wanted(
    first: dict[str, str], second: dict[str, str], says: str, store: Store, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "t.jsonl", [said("a"), said("b")])
    import_file(store, path, options=ReadOptions(**first))
    with pytest.raises(SecondNameError, match="--again") as caught:
        import_file(store, path, options=ReadOptions(**second))
    assert says in str(caught.value)
    assert counts(store).traces == 2
    both = import_file(store, path, options=ReadOptions(**second), again=True)
    assert (both.traces_new, counts(store).traces) == (2, 4)
    for options in (first, second):
        assert import_file(store, path, options=ReadOptions(**options)).traces_new == 0


def test_another_file_of_the_same_name_is_no_second_name(store: Store, tmp_path: Path) -> None:
    for number, texts in enumerate((("a", "b"), ("a", "c"))):
        (tmp_path / str(number)).mkdir()
        path = write_lines(tmp_path / str(number) / "t.jsonl", [said(t) for t in texts])
        done = import_file(store, path, options=ReadOptions(model=f"m{number}"))
        assert done.traces_new == 2


def test_one_unreadable_file_keeps_no_other_out(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    (folder / ".git").mkdir(parents=True)
    write_lines(folder / ".git" / "t.jsonl", [said("hidden")])
    write_lines(folder / "b.jsonl", [said("b")])
    (folder / "notes.txt").write_text("what these are", encoding="utf-8")
    last = write_lines(tmp_path / "c.jsonl", [said("c")])
    done = list(import_files(store, [tmp_path / "missing.jsonl", folder, last]))
    assert [(Path(d.path).name, type(d)) for d in done] == [
        ("missing.jsonl", Refused),
        ("b.jsonl", Imported),
        ("notes.txt", Refused),
        ("c.jsonl", Imported),
    ]
    assert [d.named for d in done if isinstance(d, Refused)] == [True, False]
    assert counts(store).traces == 2


def test_an_empty_folder_is_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (done,) = import_files(store, [tmp_path / "empty"])
    assert isinstance(done, Refused)
    assert "is a folder without files" in str(done.error)
