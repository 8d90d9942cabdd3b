"""Releases by the command line: out, checked, in again, compared; and the exchange with others."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from labelkit.workflows.release.checksums import SUMS, files_of, write_sums
from labelkit.workflows.release.working_place import working_place
from tests.acceptance.conftest import Workplace, make_workplace
from tests.acceptance.inprocess import Cli, cli
from tests.formats.writing import write_lines

__all__ = ["cli", "make_workplace"]

SAID = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


@pytest.fixture
def place(make_workplace: object, cli: Cli) -> Path:
    """A folder whose store holds twelve traces, labelled by the rule."""
    work: Workplace = make_workplace()  # type: ignore[operator]
    work.write_traces(12)
    for words in (
        ("init",),
        ("import", "traces.jsonl", "--task-set", "demo"),
        ("terms", "demo", "--licence", "CC-BY-4.0", "--redistributable", "--source", "us"),
        ("judge", "--rubric", "./politeness", "--rule-only"),
    ):
        assert cli(*words).code == 0, words
    return work.folder


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (*files_of(folder), SUMS)}


def other_folder(place: Path, cli: Cli, name: str = "other") -> str:
    """A second working folder with an empty store of its own."""
    (place / name).mkdir()
    assert cli("init", "--in", name).code == 0
    return name


def test_a_release_goes_out_is_checked_comes_in_and_goes_out_the_same(
    place: Path, cli: Cli
) -> None:
    done = cli("export", "./politeness", "rel")
    assert done.code == 0, done.err
    assert "version 1.0.0, 12 traces, 1 raters, 12 labels" in done.out
    assert "demo: CC-BY-4.0, texts included" in done.out
    assert "cannot be imported again" not in done.out
    checked = cli("verify", "rel")
    assert (checked.code, checked.out.split(" (")[0]) == (0, "rel: intact")
    other = other_folder(place, cli)
    first = cli("import", "rel", "--in", other)
    assert "release; traces 12 new, 0 known; tasks 0 new, 0 known; labels 12 new" in first.out
    again = cli("import", "rel", "--in", other)
    assert "traces 0 new, 12 known; tasks 0 new, 0 known; labels 0 new, 12 known" in again.out
    # The rubric came with the release: its name is enough, without the folder.
    back = cli("export", "politeness", "back", "--in", other)
    assert back.code == 0, back.err
    assert bytes_of(place / "back") == bytes_of(place / "rel")


def test_what_was_imported_can_be_labelled_and_reported(place: Path, cli: Cli) -> None:
    cli("export", "./politeness", "rel")
    other = other_folder(place, cli)
    cli("import", "rel", "--in", other)
    labelled = cli("judge", "--rubric", "./politeness", "--rule-only", "--in", other)
    assert labelled.code == 0, labelled.err
    said = json.loads(cli("report", "--rubric", "./politeness", "--json", "--in", other).out)
    here = json.loads(cli("report", "--rubric", "./politeness", "--json").out)
    assert said["rates"] == here["rates"]
    assert said["rates"][0]["scored"] == 12


def test_a_changed_release_and_one_without_texts_are_not_imported(place: Path, cli: Cli) -> None:
    cli("export", "./politeness", "rel")
    other = other_folder(place, cli)
    labels = place / "rel" / "labels.jsonl"
    labels.write_text(labels.read_text("utf-8").replace("polite", "rude", 1), encoding="utf-8")
    refused = cli("import", "rel", "--in", other)
    assert refused.code == 2
    assert "labels.jsonl is not the published file" in refused.sentence
    cli("terms", "demo", "--not-redistributable")
    done = cli("export", "./politeness", "bare")
    assert "texts withheld (ids, tags and labels only)" in done.out
    refused = cli("import", "bare", "--in", other)
    assert refused.code == 2
    assert "the texts of 12 traces are withheld" in refused.sentence
    assert "cannot be imported again" in done.out
    assert "`labelkit terms demo --licence NAME --redistributable`" in done.out
    (place / "fresh").mkdir()
    assert "are withheld" in cli("import", "bare", "--in", "fresh").sentence
    assert list((place / "fresh").iterdir()) == []
    report = cli("import", "rel/README.md", "--in", other)
    assert report.code == 2  # a file of a release is none


def test_verify_says_where_with_exit_code_1_and_needs_no_store(place: Path, cli: Cli) -> None:
    cli("export", "./politeness", "rel")
    for name in ("labelkit.db", "labelkit.yaml"):
        (place / name).unlink()
    shutil.rmtree(place / "politeness")
    assert cli("verify", "rel").code == 0
    path = place / "rel" / "results.json"
    path.write_text(path.read_text("utf-8").replace('"scored": 12', '"scored": 13', 1), "utf-8")
    found = cli("verify", "rel")
    assert found.code == 1
    assert "results.json: is not the published file" in found.out
    assert "scored: says 13, the rows give 12" in found.out
    assert "2 differences" in found.out
    refused = cli("verify", "politics")
    assert refused.code == 2
    head = place / "rel" / "release.json"
    head.write_text(head.read_text("utf-8").replace('"format": 1', '"format": 2'), "utf-8")
    assert cli("verify", "rel").code == 1  # not what was published
    write_sums(place / "rel")
    newer = cli("verify", "rel")
    assert newer.code == 2
    assert "is of release format 2" in newer.sentence


def test_diff_names_labels_rates_ranks_and_the_version_that_follows(place: Path, cli: Cli) -> None:
    write_lines(
        place / "rude.jsonl",
        [
            {"model": model, "messages": [{"role": "assistant", "content": content}]}
            for model, content in (("alpha", ""), ("beta", "hello"))
        ],
    )
    cli("export", "./politeness", "v1")
    same = cli("diff", "v1", "v1")
    assert "the version that follows: 1.0.0" in same.out
    cli("import", "rude.jsonl", "--task-set", "demo")
    cli("judge", "--rubric", "./politeness", "--rule-only")
    cli("export", "./politeness", "v2", "--previous", "v1")
    found = json.loads(cli("diff", "v1", "v2", "--json").out)
    assert (found["new_traces"], found["lost_traces"]) == (2, 0)
    assert found["next_version"] == "1.1.0"
    assert {change["old"] for change in found["labels"]} == {None}
    assert json.loads((place / "v2" / "release.json").read_text("utf-8"))["version"] == "1.1.0"
    shown = cli("diff", "v2", "v1").out
    assert "traces: 0 new, 2 gone" in shown
    assert "the version that follows: 2.0.0" in shown
    assert "2.0.0" in cli("export", "--help").out


def test_folders_that_cannot_be_compared_are_told_in_one_sentence(place: Path, cli: Cli) -> None:
    cli("export", "./politeness", "v1")
    for name, harm in (
        ("cut", lambda folder: (folder / "labels.jsonl").unlink()),
        ("bad", lambda folder: (folder / "labels.jsonl").write_text("{", encoding="utf-8")),
        ("odd", lambda folder: (folder / "results.json").write_text("nan?", encoding="utf-8")),
        ("none", lambda folder: (folder / "release.json").unlink()),
    ):
        harm(shutil.copytree(place / "v1", place / name))
        for words in (("v1", name), (name, "v1")):
            refused = cli("diff", *words)
            assert refused.code == 2, name
            assert len(refused.err.splitlines()) == 1
            assert name in refused.sentence
    other = shutil.copytree(place / "v1", place / "other") / "release.json"
    text = other.read_text(encoding="utf-8").replace('"name": "politeness"', '"name": "manners"')
    other.write_text(text, encoding="utf-8")
    refused = cli("diff", "v1", "other")
    assert refused.code == 2
    assert "v1 is a release of the rubric politeness, other of manners" in refused.sentence


def test_terms_are_told_kept_and_changed(place: Path, cli: Cli) -> None:
    shown = cli("terms")
    assert shown.code == 0
    assert [word for word in ("demo", "CC-BY-4.0", "yes", "us") if word not in shown.out] == []
    assert "no" in cli("terms", "demo", "--not-redistributable").out
    kept = cli("terms", "demo", "--licence", "MIT").out
    assert "MIT" in kept
    assert "us" in kept
    assert "what are the terms of demo?" in cli("terms", "demo").sentence
    assert "nothing is known about new yet" in cli("terms", "new", "--licence", "MIT").sentence


def test_sets_without_terms_are_listed_and_odd_licences_told(place: Path, cli: Cli) -> None:
    write_lines(place / "m.jsonl", [{"model": "m", "messages": SAID, "task_set": "mine"}])
    assert cli("import", "m.jsonl").code == 0
    assert re.search(r"│ mine +│ not said +│ no ", cli("terms").out) is not None
    words = ("terms", "mine", "--redistributable", "--licence")
    odd = cli(*words, "my own")
    assert odd.code == 0
    assert "'my own' does not look like an SPDX identifier" in odd.err
    plain = cli(*words, "GPL-2.0+")
    assert "SPDX" not in plain.err
    assert "not said" not in plain.out


def test_targets_that_cannot_be_written_are_told_in_a_sentence(place: Path, cli: Cli) -> None:
    (place / "full").mkdir()
    (place / "full" / "x").write_text("x", encoding="utf-8")
    for target in ("full", "full/x"):
        refused = cli("export", "./politeness", target)
        assert refused.code == 2
        assert "exists already" in refused.sentence
    below = cli("export", "./politeness", "full/x/rel")
    assert below.code == 2
    assert "cannot be written" in below.sentence
    unknown = cli("export", "nobody", "out")
    assert unknown.code == 2
    assert not (place / "out").exists()


@pytest.mark.parametrize("more", [(), ("--as", "argilla"), ("--as", "label-studio")])
def test_what_a_killed_export_left_is_cleared_away_and_told(
    place: Path, cli: Cli, more: tuple[str, ...]
) -> None:
    with working_place(place / "rel") as working:
        (working / "half").write_text("x", encoding="utf-8")
        left = shutil.copytree(working, place / ".rel-12345678")
    done = cli("export", "./politeness", "rel", *more)
    assert done.code == 0, done.err
    told = "cleared away what an export that was killed had left: .rel-12345678"
    assert done.out.splitlines()[0] == told
    assert not left.exists()
    again = cli("export", "./politeness", "rel2", *more)
    assert "cleared away" not in again.out


@pytest.mark.parametrize("tool", ["label-studio", "argilla"])
def test_labels_make_the_round_trip_through_another_tool(place: Path, cli: Cli, tool: str) -> None:
    """Release to a second store, labels through the other tool's file: trace, value and reason."""
    done = cli("export", "./politeness", "out.json", "--as", tool)
    assert done.code == 0, done.err
    assert "out.json: 12 items, 12 labels" in done.out
    beside = {"label-studio": "out.config.xml", "argilla": "out.settings.json"}[tool]
    assert (place / beside).exists()
    assert beside in done.out
    other = other_folder(place, cli)
    cli("import", "traces.jsonl", "--task-set", "demo", "--in", other)
    came = cli("import", "out.json", "--rubric", "./politeness", "--in", other)
    assert came.code == 0, came.err
    assert "labels 12 new" in came.out
    assert "traces 0 new" in came.out
    said = cli("export", "./politeness", "back.json", "--as", tool, "--in", other)
    assert said.code == 0, said.err
    first, second = (
        json.loads((place / name).read_text(encoding="utf-8")) for name in ("out.json", "back.json")
    )
    assert second == first
    blank = cli("export", "./politeness", "blank.json", "--as", tool, "--blank")
    assert "blank.json: 12 items, 0 labels" in blank.out
    assert "say which with --as" in cli("export", "./politeness", "x.json", "--blank").sentence
