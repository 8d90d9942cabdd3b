"""What servers of other tools do to a file on its way: the shapes they give back, written here.

Seen at Label Studio 1.23 (import over its API, plain export and export snapshot) and at version 2.8
of Argilla's library (records to disk, flattened, and as a data set).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.rubric import Question, Rubric
from labelkit.domain.trace import Trace
from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater
from labelkit.workflows.ingest import Imported, import_file
from labelkit.workflows.rating_target import rating_target
from labelkit.workflows.release.as_argilla import argilla_record, argilla_settings
from labelkit.workflows.release.as_label_studio import label_studio_task
from labelkit.workflows.release.contents import contents
from labelkit.workflows.release.exchange import exchange
from tests.workflows.release.test_exchange import given_in
from tests.workflows.review import desk

STEPS = Question(
    id="how_sure",
    type="ordinal",
    text='How <sure> & "why"?',
    labels=(desk.definition("1 low", "1"), desk.definition('3 é<&"high', "3")),
)
RUBRIC = desk.rubric(desk.CHOICE, STEPS)
Said = set[tuple[str, str, str, str, str | None, str | None, str]]
"""(trace, rater, kind, question, value, reason, time) of every label."""


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Said]:
    """Two people and two judges on six items, and one judge's answers alone on a second question.

    Returns the folder with both tools' files, and what they say.
    """
    place = tmp_path_factory.mktemp("sent")
    with Store.open(f"sqlite:///{place / 'a.db'}", create=True) as store:
        traces = desk.fill(store, 6, RUBRIC)
        give(store, traces, "ann", "person", "q", ["good", "bad", "odd"] * 2, 'why "é"\nשלום')
        give(store, traces, "ann", "person", "how_sure", ["1 low", '3 é<&"high'] * 3, None, 200)
        give(store, traces, "ben", "person", "q", ["good", "bad", "bad"] * 2, None, 10)
        give(store, traces, "judge-a", "judge", "q", ["odd"] * 6, "a judge's reason")
        give(store, traces, "judge-b", "judge", "q", ["good", "bad"] * 3, None)
        give(store, traces, "judge-b", "judge", "how_sure", ["1 low"] * 6, "unsure", 100)
        exchange(store, RUBRIC, place / "studio.json", label_studio_task)
        exchange(store, RUBRIC, place / "argilla.json", argilla_record("judge-b"))
        names = contents(store, RUBRIC).raters
        said = facts([(names[rater.digest], label) for rater, label in given_in(store)])
    assert len(said) == 36
    return place, said


def give(
    store: Store,
    traces: list[Trace],
    name: str,
    kind: Any,
    question: str,
    values: list[str],
    why: str | None,
    minutes: int = 0,
) -> None:
    """Every second label has the reason."""
    spec = {"rubric": RUBRIC.name, "rubric_digest": RUBRIC.digest}
    rater = Rater(kind=kind, name=name, version="1", spec=spec)
    add_rater(store, rater)
    labels = [
        Label(
            trace=trace.digest,
            rater=rater.digest,
            question=question,
            outcome=Outcome.LABELLED,
            value=value,
            rationale=why if number % 2 else None,
            created_at=desk.START + timedelta(minutes=minutes, microseconds=number),
        )
        for number, (trace, value) in enumerate(zip(traces, values, strict=True))
    ]
    commit_labels(store, labels)


def facts(given: list[tuple[Rater, Label]]) -> Said:
    return {
        (one.trace, rater.name, rater.kind, one.question, one.value, one.rationale,
         one.created_at.isoformat())
        for rater, one in given
    }  # fmt: skip


def came_back(path: Path) -> tuple[Imported, Said]:
    """Import into a second store that has the traces; a second time changes nothing."""
    with Store.open(f"sqlite:///{path.with_suffix('.db')}", create=True) as store:
        desk.fill(store, 6, RUBRIC)
        target = rating_target(RUBRIC, None)
        done = import_file(store, path, target=lambda *_: target)
        assert done.traces_new == 0
        assert import_file(store, path, target=lambda *_: target).labels_new == 0
        return done, facts(given_in(store))


# --- Label Studio ----------------------------------------------------------------------------


def served(tasks: list[dict[str, Any]], *, members: bool, snapshot: bool) -> list[dict[str, Any]]:
    """What a server makes of tasks: numbers for people, its own times, predictions by number.

    Without members everybody is whoever imported. A snapshot names people and predictions in full.
    """
    emails = sorted({a["completed_by"]["email"] for t in tasks for a in t["annotations"]})
    ids = {email: number if members else 1 for number, email in enumerate(emails, start=2)}
    count = iter(range(1, 1000))
    stamps = {"created_at": "2026-11-30T12:58:40.761816Z", "updated_at": "2026-11-30T12:58:41Z"}
    given = []
    for task in tasks:
        annotations = [
            annotation
            | stamps
            | {
                "id": next(count),
                "completed_by": person(annotation["completed_by"]["email"], ids, snapshot),
                "updated_by": None,
                "parent_annotation": None,
                "lead_time": None,
            }
            for annotation in task["annotations"]
        ]
        predictions = [
            prediction | stamps | {"id": next(count), "score": None} if snapshot else next(count)
            for prediction in task["predictions"]
        ]
        row = {"id": next(count), "annotations": annotations, "drafts": []}
        given.append({**row, "predictions": predictions, "data": task["data"], "meta": {}})
    return given


def person(email: str, ids: dict[str, int], snapshot: bool) -> Any:
    shown = email if ids[email] > 1 else "importer@example.com"
    return {"id": ids[email], "email": shown} if snapshot else ids[email]


@pytest.mark.parametrize("snapshot", [False, True], ids=["plain", "snapshot"])
@pytest.mark.parametrize("members", [False, True], ids=["strangers", "members"])
def test_label_studio_gives_back_whose_label_when_and_why(
    sent: tuple[Path, Said], tmp_path: Path, members: bool, snapshot: bool
) -> None:
    place, said = sent
    tasks = json.loads((place / "studio.json").read_text(encoding="utf-8"))
    path = tmp_path / "back.json"
    path.write_text(json.dumps(served(tasks, members=members, snapshot=snapshot)), "utf-8")
    done, back = came_back(path)
    assert back == {one for one in said if snapshot or one[2] == "person"}
    lost = [(line.kind, line.count) for line in done.losses.lines]
    assert lost == ([] if snapshot else [("lost", 6)])


def test_one_annotation_per_person_and_a_valid_address(sent: tuple[Path, Said]) -> None:
    tasks = json.loads((sent[0] / "studio.json").read_text(encoding="utf-8"))
    for task in tasks:
        emails = [one["completed_by"]["email"] for one in task["annotations"]]
        assert len(emails) == len(set(emails)) == 2
        assert all(email.count("@") == 1 and email.endswith(".invalid") for email in emails)
        assert len({one["model_version"] for one in task["predictions"]}) == 2
        for one in (*task["annotations"], *task["predictions"]):
            ids = [result["id"] for result in one["result"]]
            assert len(ids) == len(set(ids))


def altered(annotation: dict[str, Any]) -> dict[str, Any]:
    """Somebody there changed the label: the mark is still in it."""
    (result,) = (one for one in annotation["result"] if one["from_name"] == "q")
    result["value"] = {"choices": ["odd"]}
    return annotation | {"updated_by": 1}


def copied(annotation: dict[str, Any]) -> dict[str, Any]:
    return annotation | {"completed_by": 1, "updated_by": 1, "parent_annotation": annotation["id"]}


@pytest.mark.parametrize("change", [altered, copied])
def test_what_was_changed_or_copied_there_is_whose_it_says_there(
    sent: tuple[Path, Said],
    tmp_path: Path,
    change: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    tasks = json.loads((sent[0] / "studio.json").read_text(encoding="utf-8"))
    rows = served(tasks, members=True, snapshot=False)
    annotations = rows[0]["annotations"]
    annotations[0] = change(annotations[0])
    whose = str(annotations[0]["completed_by"])
    path = tmp_path / "back.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    done, back = came_back(path)
    changed = {one for one in back if one[1] == whose}
    number = sum(result["type"] == "choices" for result in annotations[0]["result"])
    assert len(changed) == number
    assert back - changed < sent[1]
    odd = [line.what for line in done.losses.lines if line.kind == "odd"]
    assert odd == ["a label from labelkit was changed or copied there; it is whose it says there"]


# --- Argilla ---------------------------------------------------------------------------------


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """A record as the library flattens it for a table."""
    row = {"id": record["id"], "status": "pending", **record["fields"], **record["metadata"]}
    for question, answers in record["responses"].items():
        row[f"{question}.responses"] = [answer["value"] for answer in answers]
        row[f"{question}.responses.users"] = [answer["user_id"] for answer in answers]
        row[f"{question}.responses.status"] = [answer["status"] for answer in answers]
    for question, given in record["suggestions"].items():
        row[f"{question}.suggestion"] = given["value"]
        row[f"{question}.suggestion.agent"] = given["agent"]
        row[f"{question}.suggestion.score"] = None
    return row


def to_disk(records: list[dict[str, Any]], path: Path) -> None:
    """The library writes records without the status of their responses."""
    for record in records:
        for answers in record["responses"].values():
            for answer in answers:
                del answer["status"]
    path.write_text(json.dumps(records), encoding="utf-8")


def flattened(records: list[dict[str, Any]], path: Path) -> None:
    path.write_text(json.dumps([flat(record) for record in records]), encoding="utf-8")


def as_data_set(records: list[dict[str, Any]], path: Path) -> None:
    """A suggestion is a code there; its name stands in the metadata of the file."""
    rows = [flat(record) for record in records]
    features: dict[str, Any] = {"id": {"dtype": "string", "_type": "Value"}}
    for column in ("q.suggestion", "how_sure.suggestion"):
        names = sorted({row[column] for row in rows}, reverse=True)
        features[column] = {"names": names, "_type": "ClassLabel"}
        for row in rows:
            row[column] = names.index(row[column])
    table = pa.Table.from_pylist(rows)
    noted = json.dumps({"info": {"features": features}})
    pq.write_table(table.replace_schema_metadata({"huggingface": noted}), path)


@pytest.mark.parametrize("write", [to_disk, flattened, as_data_set])
def test_argilla_gives_every_label_back_in_each_of_its_forms(
    sent: tuple[Path, Said],
    tmp_path: Path,
    write: Callable[[list[dict[str, Any]], Path], None],
) -> None:
    place, said = sent
    path = tmp_path / ("back.parquet" if write is as_data_set else "back.json")
    write(json.loads((place / "argilla.json").read_text(encoding="utf-8")), path)
    done, back = came_back(path)
    assert (done.format, done.losses.lines) == ("argilla", ())
    # Neither reasons nor times have a place there, nor have labels of a second machine.
    assert {one[:5] for one in back} == {one[:5] for one in said if one[1] != "judge-a"}


def test_people_are_ids_that_argilla_takes_and_responses_are_submitted(
    sent: tuple[Path, Said],
) -> None:
    records = json.loads((sent[0] / "argilla.json").read_text(encoding="utf-8"))
    answers = list(responses(records))
    assert len(answers) == 18
    assert {answer["status"] for answer in answers} == {"submitted"}
    assert {UUID(answer["user_id"]).version for answer in answers} == {8}
    assert len({answer["user_id"] for answer in answers}) == 2


def responses(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for record in records:
        for answers in record["responses"].values():
            yield from answers


def test_the_settings_offer_exactly_the_asked_labels() -> None:
    settings = argilla_settings(RUBRIC)
    asked = {
        question["name"]: [option["value"] for option in question["settings"]["options"]]
        for question in settings["questions"]
    }
    assert asked == {"q": ["good", "bad", "odd"], "how_sure": ["1 low", '3 é<&"high']}
    assert [field["name"] for field in settings["fields"]] == ["conversation"]
    assert settings["guidelines"] == RUBRIC.guideline
    derived: Rubric = desk.DERIVED
    assert [q["name"] for q in argilla_settings(derived)["questions"]] == ["asserts", "warns"]
