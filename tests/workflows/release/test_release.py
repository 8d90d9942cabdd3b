"""A release of a reviewed store: round trip, verification, tampering, withheld texts, versions."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from labelkit.domain.message import Message
from labelkit.domain.person import Person, Role
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample
from labelkit.errors import FormatError, InputError
from labelkit.store import Store
from labelkit.store.labels import append_label, labels_of
from labelkit.store.people import people
from labelkit.store.raters import add_rubric, raters
from labelkit.store.reports import trace_table
from labelkit.store.samples import sample as kept_sample
from labelkit.store.terms import note_terms
from labelkit.store.traces import add_traces
from labelkit.workflows.release.checksums import write_sums
from labelkit.workflows.release.contents import sample_named
from labelkit.workflows.release.difference import difference
from labelkit.workflows.release.export import Exported, FindingsError, Wanted, export
from labelkit.workflows.release.load import load_release
from labelkit.workflows.release.results import recomputing
from labelkit.workflows.release.tables import parquet_rows, read_table
from labelkit.workflows.release.verify import verify
from labelkit.workflows.release.versions import next_version
from labelkit.workflows.review import adjudicate, annotate, assignment
from labelkit.workflows.review.adjudicate import Verdict
from tests.acceptance.inprocess import Cli, cli
from tests.workflows.release.building import MAY, NAMES, bytes_of, open_case, reviewed
from tests.workflows.review import desk

__all__ = ["cli"]


def test_export_import_export_gives_the_same_bytes(
    released: tuple[Exported, Rubric, Sample], source: Store, tmp_path: Path
) -> None:
    done, rubric, _ = released
    again = export(source, rubric, tmp_path / "again")
    assert bytes_of(done.folder) == bytes_of(again.folder)
    with Store.open(f"sqlite:///{tmp_path / 'b.db'}", create=True) as other:
        for _ in range(2):
            load_release(done.folder, other)
        back = export(other, rubric, tmp_path / "back")
    assert bytes_of(back.folder) == bytes_of(done.folder)


def test_a_release_verifies_and_holds_what_it_says(
    released: tuple[Exported, Rubric, Sample],
) -> None:
    done, _, sample = released
    verdict = verify(done.folder)
    assert verdict.faults == ()
    assert verdict.numbers > 100
    # 12 traces x (rule + judge) and 6 items x 2 people.
    assert done.rows["labels"] == 12 * 2 + 6 * 2
    assert done.rows["gold"] + done.undecided == 6
    assert done.rows["disagreements"] == done.undecided + 1
    sampling = json.loads((done.folder / "sampling.json").read_text(encoding="utf-8"))
    (drawn,) = sampling["samples"]
    assert (drawn["id"], drawn["frame_rows"], len(drawn["items"])) == (sample.id, 12, 6)
    assert {item["probability"] for item in drawn["items"]} == {0.5}
    results = json.loads((done.folder / "results.json").read_text(encoding="utf-8"))
    (question,) = results["questions"]
    (bad,) = [r for r in question["report"]["rates"] if r["group"] == "all"]
    # Rule and judge say good 4, bad 4; where the judge failed the row is dropped and counted.
    assert (bad["hits"], bad["scored"], bad["planned"]) == (4, 8, 12)
    assert results["samples"][0]["questions"][0]["n_labels"] == 12


def test_people_are_pseudonyms_and_nothing_else(
    released: tuple[Exported, Rubric, Sample],
) -> None:
    folder = released[0].folder
    everything = b"".join(bytes_of(folder).values())
    for name in NAMES:
        assert name.encode() not in everything
        assert name.split()[0].encode() not in everything
    people = [row["name"] for row in read_table(folder, "raters") if row["kind"] == "person"]
    assert len(set(people)) == 2
    assert all(name.startswith("annotator-") for name in people)
    decided = {row["person"] for row in read_table(folder, "decisions")}
    assert len(decided) == 1
    assert not decided & set(people)


TAMPERED = {
    "traces.jsonl": ("forty-two", "forty-twe"),
    "labels.jsonl": ('"value":"bad"', '"value":"odd"'),
    "gold.jsonl": ('"value":"good"', '"value":"odd"'),
    "decisions.jsonl": ("the answer is wrong", "the answer is wrung"),
    "results.json": ('"scored": 8', '"scored": 9'),
    "sampling.json": ('"probability": 0.5', '"probability": 0.4'),
    "README.md": ("pseudonyms", "pseudonims"),
    "rubric/guideline.md": ("Read", "Reed"),
    "rubric/rubric.json": ("Which?", "Whish?"),
    "release.json": ("1.0.0", "1.0.1"),
    "croissant.json": ("labels", "lapels"),
    "SHA256SUMS": ("labels.jsonl", "labels.jsonk"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_one_changed_character_is_caught_and_located(
    released: tuple[Exported, Rubric, Sample], name: str
) -> None:
    path = released[0].folder / name
    text = path.read_text(encoding="utf-8")
    old, new = TAMPERED[name]
    assert old in text
    at = text.index(old)
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    faults = verify(released[0].folder).faults
    named = "labels.jsonl" if name == "SHA256SUMS" else name
    assert any(fault.file == named for fault in faults), faults
    if name.endswith(".jsonl"):
        line = text[:at].count("\n") + 1
        assert any(f.file == name and f.place == f"line {line}" for f in faults), faults
    if name == "results.json":
        assert any(f.place.endswith("scored") and "rows give 8" in f.what for f in faults), faults


def test_a_changed_parquet_and_a_missing_or_added_file_are_caught(
    released: tuple[Exported, Rubric, Sample],
) -> None:
    folder = released[0].folder
    damaged = bytearray((folder / "labels.parquet").read_bytes())
    damaged[len(damaged) // 3] ^= 1
    (folder / "labels.parquet").write_bytes(bytes(damaged))
    (folder / "gold.parquet").unlink()
    (folder / "extra.txt").write_text("x", encoding="utf-8")
    caught = {(fault.file, fault.what.split(" (")[0]) for fault in verify(folder).faults}
    assert ("labels.parquet", "is not the published file") in caught
    assert ("gold.parquet", "is missing") in caught
    assert ("extra.txt", "is not part of the release") in caught


def test_a_label_that_was_swapped_in_every_file_is_still_caught_by_the_numbers(
    released: tuple[Exported, Rubric, Sample],
) -> None:
    """Somebody who also mends the sums cannot mend the numbers without the rows."""
    folder = released[0].folder
    path = folder / "results.json"
    text = path.read_text(encoding="utf-8").replace('"hits": 4', '"hits": 5', 1)
    path.write_text(text, encoding="utf-8")
    write_sums(folder)
    (fault,) = verify(folder).faults
    assert fault.file == "results.json"
    assert fault.what == "says 5, the rows give 4"


def test_texts_that_may_not_be_passed_on_are_withheld_and_numbers_still_follow(
    opened: Store, tmp_path: Path
) -> None:
    rubric, _ = reviewed(opened, terms=None)
    done = export(opened, rubric, tmp_path / "out")
    assert any("texts withheld" in line for line in done.licences)
    everything = b"".join(bytes_of(done.folder).values())
    # Words of questions, results, answers, rationales and of the decision's reason.
    for word in (b"forty-two", b"question 1", b"result 1", b"because of", b"answer is wrong"):
        assert word not in everything
    assert all(row["withheld"] for row in read_table(done.folder, "traces"))
    assert verify(done.folder).faults == ()
    with (
        Store.open(f"sqlite:///{tmp_path / 'b.db'}", create=True) as other,
        pytest.raises(FormatError, match="withheld"),
    ):
        load_release(done.folder, other)


def test_the_scan_stops_an_export_until_somebody_says_go(opened: Store, tmp_path: Path) -> None:
    rubric, _ = reviewed(opened)
    told = Message(role="user", content="write to jane.doe@example.org")
    add_traces(opened, [desk.trace(99, messages=(told, Message(role="assistant", content="ok")))])
    with pytest.raises(FindingsError, match="1 e-mail") as caught:
        export(opened, rubric, tmp_path / "out")
    assert "jane.doe" not in str(caught.value)
    assert list(tmp_path.glob("*out*")) == []
    done = export(opened, rubric, tmp_path / "out", wanted=Wanted(accept_findings=True))
    assert done.scan.counts == {"e-mail": 1}
    privacy = (done.folder / "privacy.json").read_text(encoding="utf-8")
    assert "jane.doe" not in privacy


def test_a_sample_brings_its_frame_and_later_traces_stay_out(opened: Store, tmp_path: Path) -> None:
    rubric, sample = reviewed(opened)
    later = [desk.trace(n) for n in range(50, 53)]
    add_traces(opened, later)
    desk.judge(opened, later, ["good"] * 3)
    named = sample_named(opened, sample.id[:8])
    assert named is not None
    done = export(opened, rubric, tmp_path / "sample", sample=named)
    assert done.rows["traces"] == 12
    whole = export(opened, rubric, tmp_path / "whole")
    assert whole.rows["traces"] == 15
    for folder in (done.folder, whole.folder):
        assert verify(folder).faults == ()
        (drawn,) = json.loads((folder / "sampling.json").read_text("utf-8"))["samples"]
        assert drawn["frame_rows"] == 12
    with Store.open(f"sqlite:///{tmp_path / 'b.db'}", create=True) as other:
        load_release(whole.folder, other)
        back = export(other, rubric, tmp_path / "back")
    assert bytes_of(back.folder) == bytes_of(whole.folder)


def test_versions_follow_what_changed(opened: Store, tmp_path: Path) -> None:
    rubric, sample = reviewed(opened)
    first = export(opened, rubric, tmp_path / "v1")
    same = export(opened, rubric, tmp_path / "same", wanted=Wanted(previous=first.folder))
    assert same.version == "1.0.0"
    later = [desk.trace(n) for n in range(50, 53)]
    add_traces(opened, later)
    desk.judge(opened, later, ["good"] * 3)
    minor = export(opened, rubric, tmp_path / "v2", wanted=Wanted(previous=first.folder))
    assert minor.version == "1.1.0"
    cleo = next(p for p in people(opened) if p.role is Role.ADJUDICATOR)
    verdict = Verdict(
        "d2", sample.id, open_case(opened, cleo, sample), "q", "odd", "neither of the two", ()
    )
    adjudicate.decide(opened, cleo, verdict, now=desk.START + timedelta(days=3))
    more = export(opened, rubric, tmp_path / "v3", wanted=Wanted(previous=minor.folder))
    assert more.version == "1.2.0"  # a gold label came in addition
    ada = next(p for p in people(opened) if p.name == NAMES[0])
    _change_a_label(opened, ada, sample)
    major = export(opened, rubric, tmp_path / "v4", wanted=Wanted(previous=more.folder))
    assert major.version == "2.0.0"
    changes = difference(more.folder, major.folder)
    assert {change.old for change in changes.labels} == {"good"}
    assert {change.new for change in changes.labels} == {"odd"}


def _change_a_label(store: Store, who: Person, sample: Sample) -> None:
    """Take the last label back and give another one."""
    annotate.undo(store, who, sample.id, "undo-1")
    offer = assignment.next_item(store, who, sample.id)
    assert offer is not None
    desk.answer(store, who, offer, "odd", active_ms=10)


def test_people_of_another_store_are_nobodys_labels(
    released: tuple[Exported, Rubric, Sample], opened: Store, tmp_path: Path, cli: Cli
) -> None:
    """The same work in a second store: only the judge's changed label is a changed label."""
    first = released[0].folder
    rubric, _ = reviewed(opened)
    (judge,) = [one for one in raters(opened) if one.kind == "judge"]
    labels = [
        one for trace in read_table(first, "traces") for one in labels_of(opened, trace["digest"])
    ]
    label = next(one for one in labels if one.rater == judge.digest and one.value == "good")
    digest = label.trace
    append_label(opened, label.model_copy(update={"value": "odd"}))
    second = export(opened, rubric, tmp_path / "second").folder
    found = difference(first, second)
    assert found.strangers
    assert [(c.trace, c.rater, c.new) for c in found.labels] == [(digest, judge.digest, "odd")]
    assert found.gold == ()
    assert found.rates != ()
    assert "no person is the same in both" in cli("diff", str(first), str(second)).out
    assert not difference(first, first).strangers
    assert "no person" not in cli("diff", str(first), str(first)).out
    unlike = replace(found, labels=(), files=("labels.jsonl",))
    assert next_version("1.0.0", unlike) == "2.0.0"  # labels went away under their names


def test_both_forms_of_every_table_hold_the_same_rows(
    released: tuple[Exported, Rubric, Sample],
) -> None:
    folder = released[0].folder
    for name in ("traces", "labels", "raters", "reviews", "decisions", "gold", "disagreements"):
        lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == list(parquet_rows(folder, name)), name


def test_hostile_texts_survive_the_round_trip(opened: Store, tmp_path: Path) -> None:
    rubric = desk.rubric()
    add_rubric(opened, rubric)
    texts = ("json:looks like ours", "NUL \x00 inside", "lone \ud800 surrogate", "\u202e bidi", "")
    traces = [
        desk.trace(
            n,
            messages=(Message(role="user", content=text), Message(role="assistant", content=text)),
            model=f"m {text}",
            tags={"domain": text},
        )
        for n, text in enumerate(texts)
    ]
    add_traces(opened, traces)
    desk.judge(opened, traces, ["good"] * len(traces))
    note_terms(opened, MAY)
    done = export(opened, rubric, tmp_path / "out")
    assert verify(done.folder).faults == ()
    with Store.open(f"sqlite:///{tmp_path / 'b.db'}", create=True) as other:
        load_release(done.folder, other)
        back = export(other, rubric, tmp_path / "back")
    assert bytes_of(back.folder) == bytes_of(done.folder)


def test_bad_targets_and_bad_folders_are_refused_in_one_sentence(
    source: Store, released: tuple[Exported, Rubric, Sample], tmp_path: Path
) -> None:
    done, rubric, _ = released
    with pytest.raises(InputError, match="exists already"):
        export(source, rubric, done.folder)
    with pytest.raises(FormatError, match="give the folder of a release"):
        verify(tmp_path)
    broken = tmp_path / "broken"
    shutil.copytree(done.folder, broken)
    (broken / "SHA256SUMS").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(FormatError, match="SHA256SUMS:1: not a checksum"):
        verify(broken)
    with pytest.raises(InputError, match="nothing was labelled"):
        export(source, rubric.model_copy(update={"version": "9"}), tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_frame_of_texts_and_withheld_texts_is_recomputed_exactly(
    opened: Store, tmp_path: Path
) -> None:
    """Half the traces may not be passed on: the sample's frame is still the first twelve."""
    rubric, sample = reviewed(opened)
    later = [desk.trace(n, task_set="closed" if n % 2 else "demo") for n in range(50, 58)]
    add_traces(opened, later)
    desk.judge(opened, later, ["good"] * 8)
    second = desk.drawn(opened, 10, rubric, seed=5)
    third = [desk.trace(n, task_set="closed" if n % 2 else "demo") for n in range(80, 88)]
    add_traces(opened, third)
    desk.judge(opened, third, ["bad"] * 8)
    done = export(opened, rubric, tmp_path / "out")
    withheld = [row["withheld"] for row in read_table(done.folder, "traces")]
    # By frame: the first twelve all have texts, then eight and eight, half of them without.
    assert withheld == [False] * 12 + ([False] * 4 + [True] * 4) * 2
    sampling = json.loads((done.folder / "sampling.json").read_text(encoding="utf-8"))
    frames = {drawn["id"]: drawn["frame_rows"] for drawn in sampling["samples"]}
    assert frames == {sample.id: 12, second.id: 20}
    assert verify(done.folder).faults == ()
    with recomputing(done.folder) as (copy, _):
        for sample_id, rows in frames.items():
            last = kept_sample(copy, sample_id).frame_last
            assert int((trace_table(copy).id <= last).sum()) == rows


def test_changed_labels_change_rates_and_ranks(opened: Store, tmp_path: Path) -> None:
    """m0 is bad in 2 of 2, m1 in 0 of 2; an erratum turns that around."""
    rubric = desk.rubric()
    traces = desk.fill(opened, 4, rubric)
    judge = desk.judge(opened, traces, ["bad", "good"] * 2)
    old = export(opened, rubric, tmp_path / "old").folder
    for trace, value in zip(traces, ["good", "bad"] * 2, strict=True):
        label = labels_of(opened, trace.digest)[0]
        append_label(opened, label.model_copy(update={"value": value}))
    new = export(opened, rubric, tmp_path / "new").folder
    found = difference(old, new)
    assert {(c.rater, c.old, c.new) for c in found.labels} == {
        (judge.digest, "bad", "good"),
        (judge.digest, "good", "bad"),
    }
    rates = {change.name: (change.old, change.new) for change in found.rates}
    # Domain d0 holds one trace of either model: half of them are bad before and after.
    assert rates == {
        "q BAD[All] model=m0": (1.0, 0.0),
        "q BAD[All] model=m1": (0.0, 1.0),
        "q BAD[All] domain=d1": (0.0, 1.0),
        "q BAD[All] domain=d2": (1.0, 0.0),
    }
    ranks = {(change.group, change.old, change.new) for change in found.ranks}
    assert ranks == {("model=m0", 1, 2), ("model=m1", 2, 1)}
    assert next_version("1.4.2", found) == "2.0.0"
