"""Label Studio and Argilla take items and labels in, and give them back: nothing is lost."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.message import Message
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.errors import InputError
from labelkit.store import Store
from labelkit.store.labels import commit_labels, labels_of
from labelkit.store.raters import add_rater, add_rubric, raters
from labelkit.store.reports import trace_table
from labelkit.store.traces import add_traces
from labelkit.workflows.ingest import import_file
from labelkit.workflows.rating_target import rating_target
from labelkit.workflows.release.as_argilla import argilla_record
from labelkit.workflows.release.as_label_studio import label_studio_config, label_studio_task
from labelkit.workflows.release.contents import moment
from labelkit.workflows.release.exchange import Writer, exchange
from labelkit.workflows.release.export import Exported
from labelkit.workflows.release.tables import read_table
from tests.workflows.release.building import NAMES
from tests.workflows.review import desk

Made = tuple[Path, Exported, Rubric, Sample]


def test_label_studio_holds_every_label_in_force(made: Made, source: Store, tmp_path: Path) -> None:
    _, released, rubric, _ = made
    done = exchange(source, rubric, tmp_path / "out.json", label_studio_task)
    tasks = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    # 12 rule labels, 8 of the judge that could be read, 12 of people.
    assert (done.items, done.labels) == (12, 12 + 8 + 12)
    assert done.left_out == {"labels without a value": 4}
    names = {row["digest"]: row["name"] for row in read_table(released.folder, "raters")}
    wanted = {
        (row["trace"], names[row["rater"]], row["value"])
        for row in read_table(released.folder, "labels")
        if row["value"] is not None
    }
    held = set()
    for task in tasks:
        for one in task["annotations"]:
            (result,) = [r for r in one["result"] if r["type"] == "choices"]
            who = one["completed_by"]["email"].removesuffix("@labelkit.invalid")
            held.add((task["data"]["trace"], who, result["value"]["choices"][0]))
        for one in task["predictions"]:
            choice, reason = one["result"]
            held.add((task["data"]["trace"], one["model_version"], choice["value"]["choices"][0]))
            assert reason["value"]["text"] == [f"because of {one['model_version']}"]
    assert held == wanted
    text = (tmp_path / "out.json").read_text(encoding="utf-8")
    assert not any(name in text for name in NAMES)


def test_argilla_suggests_one_machine_and_tells_of_the_others(
    made: Made, source: Store, tmp_path: Path
) -> None:
    rubric = made[2]
    done = exchange(source, rubric, tmp_path / "out.json", argilla_record("rule"))
    records = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert (done.items, done.labels) == (12, 12 + 12)
    assert done.left_out == {
        "labels of further machines": 8,
        "labels without a value": 4,
        "rationales": 12,
    }
    assert {record["suggestions"]["q"]["agent"] for record in records} == {"rule"}
    people = [answer["user_id"] for r in records for answer in r["responses"].get("q", ())]
    assert len(people) == 12
    assert len(set(people)) == 2
    assert {record["status"] for record in records} == {"completed", "pending"}
    first = exchange(source, rubric, tmp_path / "first.json", argilla_record(None))
    assert first.left_out["labels of further machines"] == 8  # the judge comes first by name


@pytest.mark.parametrize("writer", [label_studio_task, argilla_record(None)])
def test_a_blank_round_holds_the_drawn_items_and_no_label(
    made: Made, source: Store, tmp_path: Path, writer: Writer
) -> None:
    _, _, rubric, sample = made
    out = tmp_path / "out.json"
    done = exchange(source, rubric, out, writer, sample=sample, blank=True)
    assert (done.items, done.labels, dict(done.left_out)) == (6, 0, {})
    rows = json.loads(out.read_text(encoding="utf-8"))
    drawn = {item["trace"] for item in sampled(made)}
    assert {row.get("metadata", row.get("data"))["trace"] for row in rows} == drawn
    for row in rows:
        assert not row.get("annotations")
        assert not row.get("predictions")
        assert not row.get("responses")
        assert not row.get("suggestions")


def sampled(made: Made) -> list[dict[str, str]]:
    text = (made[1].folder / "sampling.json").read_text(encoding="utf-8")
    items: list[dict[str, str]] = json.loads(text)["samples"][0]["items"]
    return items


def test_unlabelled_traces_and_an_empty_store_are_written_too(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as store:
        rubric = desk.rubric()
        empty = exchange(store, rubric, tmp_path / "empty.json", label_studio_task)
        desk.fill(store, 3, rubric)
        done = exchange(store, rubric, tmp_path / "three.json", label_studio_task)
    assert (empty.items, done.items, done.labels) == (0, 3, 0)
    assert json.loads((tmp_path / "empty.json").read_text(encoding="utf-8")) == []
    assert done.guarded == ("demo",)  # nobody has said that its texts may be passed on
    with (
        Store.open(f"sqlite:///{tmp_path / 'a.db'}") as store,
        pytest.raises(InputError, match="exists already"),
    ):
        exchange(store, rubric, tmp_path / "three.json", label_studio_task)


def test_hostile_texts_are_printable_and_reasoning_stays_inside(tmp_path: Path) -> None:
    said = "<think>secret plan</think>Hi \x00 \ud800 \u202e <script>alert(1)</script>"
    rubric = desk.rubric()
    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as store:
        add_rubric(store, rubric)
        add_traces(store, [desk.trace(1, messages=(Message(role="assistant", content=said),))])
        exchange(store, rubric, tmp_path / "out.json", label_studio_task)
    (task,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    (turn,) = task["data"]["conversation"]
    assert turn["text"] == r"Hi \x00 \ud800 \u202e <script>alert(1)</script>"


def test_machines_of_one_name_are_told_apart_and_repeats_are_counted(tmp_path: Path) -> None:
    rubric = desk.rubric()
    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as store:
        (trace,) = desk.fill(store, 1, rubric)
        for number in range(2):
            spec = {"rubric": "r", "rubric_digest": rubric.digest, "seed": number}
            rater = Rater(kind="judge", name="j", version="1", spec=spec)
            add_rater(store, rater)
            labels = [
                Label(
                    trace=trace.digest,
                    rater=rater.digest,
                    question="q",
                    outcome=Outcome.LABELLED,
                    value="good",
                    repeat=repeat,
                    created_at=desk.START + timedelta(seconds=number),
                )
                for repeat in range(2)
            ]
            commit_labels(store, labels)
        done = exchange(store, rubric, tmp_path / "out.json", label_studio_task)
        known = {f"j {rater.digest[:8]}" for rater in raters(store)}
    (task,) = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert {one["model_version"] for one in task["predictions"]} == known
    assert done.left_out == {"repeated labels": 2}


def test_the_interface_offers_exactly_the_asked_labels() -> None:
    counted = desk.yes_no("counted").model_copy(update={"asked_of": ("rule",)})
    scheme = desk.DERIVED.model_copy(update={"questions": (counted, *desk.DERIVED.questions)})
    view = ET.fromstring(label_studio_config(scheme))
    offered = {
        choices.get("name"): [choice.get("value") for choice in choices]
        for choices in view.iter("Choices")
    }
    assert offered == {"asserts": ["yes", "no"], "warns": ["yes", "no"]}


def test_derived_labels_are_counted_not_sent(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as store:
        traces = desk.fill(store, 2, desk.DERIVED)
        desk.judge(store, traces, ["F", "N"], desk.DERIVED, question="honesty")
        desk.judge(store, traces, ["yes", "no"], desk.DERIVED, question="asserts")
        done = exchange(store, desk.DERIVED, tmp_path / "out.json", label_studio_task)
    assert done.labels == 2
    assert done.left_out == {"labels that follow from other answers or from counts": 2}


@pytest.mark.parametrize("tool", ["label-studio", "argilla"])
def test_every_person_and_label_comes_back(
    made: Made, source: Store, tmp_path: Path, tool: str
) -> None:
    """Trace, name, kind and value of all that was sent; Label Studio keeps reason and time too."""
    rubric, out = made[2], tmp_path / "out.json"
    writer = label_studio_task if tool == "label-studio" else argilla_record("rule")
    sent = exchange(source, rubric, out, writer)
    with Store.open(f"sqlite:///{tmp_path / 'b.db'}", create=True) as other:
        desk.fill(other, 12, rubric)
        target = rating_target(rubric, None)
        came = import_file(other, out, target=lambda *_: target)
        assert (came.format, came.labels_new, came.traces_new) == (tool, sent.labels, 0)
        assert import_file(other, out, target=lambda *_: target).labels_new == 0
        back = given_in(other)
    names = {row["digest"]: row["name"] for row in read_table(made[1].folder, "raters")}
    wanted = {
        (row["trace"], names[row["rater"]], row["value"])
        for row in read_table(made[1].folder, "labels")
        if row["value"] is not None and (tool == "label-studio" or names[row["rater"]] != "judge")
    }
    assert {(label.trace, rater.name, label.value) for rater, label in back} == wanted
    people = [(rater, label) for rater, label in back if rater.kind == "person"]
    assert len(people) == 12
    assert {rater.kind for rater, _ in back} == {"person", "judge"}
    if tool == "label-studio":
        first = {
            (row["trace"], names[row["rater"]]): row["created_at"]
            for row in read_table(made[1].folder, "labels")
        }
        for rater, label in people:
            assert moment(label.created_at) == first[label.trace, rater.name]
        machines = [(rater, label) for rater, label in back if rater.kind == "judge"]
        for rater, label in machines:
            assert label.rationale == f"because of {rater.name}"


def given_in(store: Store) -> list[tuple[Rater, Label]]:
    """Every label of every rater."""
    known = {rater.digest: rater for rater in raters(store)}
    digests = trace_table(store, digests=True).digest
    assert digests is not None
    return [
        (known[label.rater], label)
        for trace in digests.tolist()
        for label in labels_of(store, trace)
    ]
