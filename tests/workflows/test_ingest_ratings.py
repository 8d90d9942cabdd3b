"""Ratings into the store: labels once, changes as versions, items that are no traces, rubrics."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.label import Outcome
from labelkit.errors import InputError
from labelkit.formats.reader import ReadOptions
from labelkit.store import Store
from labelkit.store.labels import labels_of
from labelkit.store.raters import raters
from labelkit.store.reports import counts
from labelkit.store.traces import rows
from labelkit.workflows.ingest import Imported, import_file
from labelkit.workflows.rating_target import Targets, label_of, rating_target, slug
from labelkit.workflows.rubric_ratings import ratings_of_rubric
from tests.formats.writing import one_file, write_lines


def table(path: Path, *lines: str) -> Path:
    path.write_text("item,rater,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def load(store: Store, path: Path, targets: Targets, **options: str) -> Imported:
    return import_file(store, path, options=ReadOptions(**options), target=targets.target)


def values(store: Store) -> Counter[tuple[str, str, str | None]]:
    """(item, rater, label in force) of everything in the store."""
    names = {rater.digest: rater.name for rater in raters(store)}
    found: Counter[tuple[str, str, str | None]] = Counter()
    for trace, _ in rows(store):
        latest = {}
        for label in labels_of(store, trace.digest):
            latest[label.rater, label.question] = label
        for label in latest.values():
            found[str(trace.task_id), names[label.rater], label.value] += 1
    return found


def test_a_table_alone_becomes_items_labels_and_a_rubric(store: Store, tmp_path: Path) -> None:
    path = table(tmp_path / "My ratings.csv", "a,r1,yes", "a,r2,no", "b,r1,no", "b,r2,no")
    targets = Targets(tmp_path)
    first = load(store, path, targets)
    assert (first.traces_new, first.labels_new, first.losses.ratings) == (2, 4, 4)
    rubric = load_rubric(tmp_path / "my-ratings")
    assert targets.made == [tmp_path / "my-ratings"]
    assert [d.name for d in rubric.primary.labels] == ["yes", "no"]
    assert rubric.primary.type == "boolean"
    ((rated,), _) = ratings_of_rubric(store, rubric)
    assert rated.table.raters == ("r1", "r2")
    (trace, _), _ = rows(store)
    assert trace.tags == {"source": "ratings"}
    assert (trace.messages[0].role, trace.messages[0].content) == ("assistant", trace.task_id)
    before = values(store)
    again = load(store, path, Targets(tmp_path))
    assert (again.traces_new, again.labels_new, again.labels_known) == (0, 0, 4)
    assert values(store) == before


def test_a_changed_rating_is_the_next_version(store: Store, tmp_path: Path) -> None:
    targets = Targets(tmp_path)
    load(store, table(tmp_path / "t.csv", "a,r,yes", "b,r,no"), targets)
    done = load(store, table(tmp_path / "t.csv", "a,r,no", "b,r,no"), targets)
    assert (done.labels_new, done.labels_known) == (1, 1)
    (item,) = [trace for trace, _ in rows(store) if trace.task_id == "a"]
    history = labels_of(store, item.digest, history=True)
    assert [(label.version, label.value) for label in history] == [(0, "yes"), (1, "no")]


def test_ratings_of_known_traces_are_put_on_them(store: Store, tmp_path: Path) -> None:
    said = [{"messages": [{"role": "assistant", "content": t}], "model": "m", "task_id": t}
            for t in ("one", "two", "two", "three")]  # fmt: skip
    said[2]["repeat"] = 1
    import_file(store, write_lines(tmp_path / "t.jsonl", said))
    digest = {trace.task_id: trace.digest for trace, _ in rows(store)}
    path = table(
        tmp_path / "r.csv", "one,r,a", f"{digest['three']},r,b", f"{digest['three'][:12]},q,b",
        "two,r,a", "four,r,a",
    )  # fmt: skip
    done = load(store, path, Targets(tmp_path))
    assert (done.labels_new, done.traces_new) == (4, 1)
    assert values(store) == {
        ("one", "r", "a"): 1, ("three", "r", "b"): 1, ("three", "q", "b"): 1, ("four", "r", "a"): 1,
    }  # fmt: skip
    assert [(line.kind, line.records) for line in done.losses.lines] == [("broken", (5,))]
    assert "several traces" in done.losses.lines[0].what


def test_an_item_rated_twice_by_one_rater_is_told_and_not_a_change(
    store: Store, tmp_path: Path
) -> None:
    path = table(tmp_path / "r.csv", "a,r,x", "a,r,y", *(f"i{n},r,x" for n in range(1200)), "a,r,y")
    done = load(store, path, Targets(tmp_path))
    assert done.labels_new == 1201
    assert values(store)["a", "r", "x"] == 1
    assert [(line.kind, line.count) for line in done.losses.lines] == [("broken", 2)]
    assert load(store, path, Targets(tmp_path)).labels_new == 0


RUBRIC = """\
name: own
version: "1.0.0"
title: t
source: s
questions:
  - id: tone
    type: choice
    text: t
    labels:
      - {name: Polite, title: P, key: p, include: i}
      - {name: rude, title: R, key: r, include: i}
  - id: true_or_not
    type: boolean
    text: t
    labels:
      - {name: "yes", title: Y, key: "y", include: i}
      - {name: "no", title: N, key: o, include: i}
guideline: guideline.md
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
    (tmp_path / "own" / "guideline.md").write_text("# G\n", encoding="utf-8")
    return tmp_path / "own"


def test_ratings_are_labels_of_the_users_rubric(store: Store, tmp_path: Path, own: Path) -> None:
    path = table(tmp_path / "r.csv", "a,r,polite", "b,r,RUDE", "c,r,neutral")
    targets = Targets(tmp_path, str(own), "tone")
    done = load(store, path, targets)
    assert values(store) == {("a", "r", "Polite"): 1, ("b", "r", "rude"): 1}
    assert [(line.what, line.records) for line in done.losses.lines] == [
        ("the value is no label of the question; the rating was left out", (4,))
    ]
    (rater,) = raters(store)
    assert rater.kind == "person"
    assert rater.spec["rubric_digest"] == load_rubric(own).digest


def test_questions_are_found_by_their_name_or_asked_for(
    store: Store, tmp_path: Path, own: Path
) -> None:
    data = [
        {"item": "a", "rater": "r", "label": "rude", "criterion": "Tone"},
        {"item": "a", "rater": "r", "label": True, "criterion": "true or not"},
        {"item": "a", "rater": "r", "label": "x", "criterion": "other"},
    ]
    done = load(store, write_lines(tmp_path / "r.jsonl", data), Targets(tmp_path, str(own)))
    (trace, _) = next(iter(rows(store)))
    assert {label.question: label.value for label in labels_of(store, trace.digest)} == {
        "tone": "rude",
        "true_or_not": "yes",
    }
    assert done.losses.broken == 1
    with pytest.raises(InputError, match="asks no question 'nope'; choose one of: tone"):
        load(store, tmp_path / "r.jsonl", Targets(tmp_path, str(own), "nope"))


def test_without_a_target_ratings_are_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--rubric"):
        import_file(store, table(tmp_path / "r.csv", "a,r,x"))
    assert counts(store).traces == 0


def test_an_unreadable_verdict_is_a_failed_label_never_a_value(
    store: Store, tmp_path: Path
) -> None:
    rows_ = [{"idx": n, "x_result": verdict} for n, verdict in enumerate(["1", "2", "garbage"])]
    path = one_file(tmp_path / "judge-testset-v1.json", rows_)
    load(store, path, Targets(tmp_path))
    labels = [label for trace, _ in rows(store) for label in labels_of(store, trace.digest)]
    assert Counter((label.outcome, label.value, label.reason) for label in labels) == {
        (Outcome.LABELLED, "1", None): 1,
        (Outcome.LABELLED, "2", None): 1,
        (Outcome.FAILED, None, "parse"): 1,
    }
    assert {rater.kind for rater in raters(store)} == {"judge"}


def test_judges_can_be_named_and_texts_are_the_items_words(store: Store, tmp_path: Path) -> None:
    data = [{"item": "a", "rater": who, "label": "x", "text": "hello"} for who in ("p", "j")]
    path = write_lines(tmp_path / "r.jsonl", [*data, {"item": "b", "rater": "p", "label": "y"}])
    import_file(
        store,
        path,
        options=ReadOptions(judges=frozenset({"j"}), task_set="s"),
        target=Targets(tmp_path).target,
    )
    assert {r.name: r.kind for r in raters(store)} == {"p": "person", "j": "judge"}
    found = {trace.task_id: trace for trace, _ in rows(store)}
    assert found["a"].messages[0].content == "hello"
    assert {trace.task_set for trace in found.values()} == {"s"}


def test_pairs_of_a_collection_are_labelled_by_people_and_judges(
    store: Store, tmp_path: Path, shared: Path
) -> None:
    """Cohen's kappa between people, as published: from the files to the store and out again."""
    folder = shared / "real/pandalm"
    targets = Targets(tmp_path)
    people = load(store, folder / "testset-v1.json", targets)
    assert (people.traces_new, people.labels_new) == (999, 2997)
    rubric = str(targets.made[0])
    judge = load(store, folder / "gpt-3.5-turbo-testset-v1.json", Targets(tmp_path, rubric))
    assert (judge.traces_new, judge.labels_new) == (0, 999)
    ((rated,), _) = ratings_of_rubric(store, load_rubric(rubric))
    assert rated.table.raters == (
        "annotator1", "annotator2", "annotator3", "gpt-3.5-turbo",
    )  # fmt: skip
    assert sum(rated.missing.values()) == 25


# --- rubrics made of labels ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "ordinal", "kind", "names"),
    [
        (["2", "10", "1"], False, "choice", ["1", "2", "10"]),
        (["2", "10", "1"], True, "ordinal", ["1", "2", "10"]),
        (["no"], False, "boolean", ["yes", "no"]),
        (["b", "a"], False, "choice", ["a", "b"]),
        (["same"], False, "choice", ["same", "other"]),
    ],
)
def test_made_rubrics_order_labels_but_guess_no_scale(
    store: Store, tmp_path: Path, labels: list[str], ordinal: bool, kind: str, names: list[str]
) -> None:
    path = table(tmp_path / "2 t.csv", *(f"i{n},r,{label}" for n, label in enumerate(labels)))
    load(store, path, Targets(tmp_path, ordinal=ordinal))
    question = load_rubric(tmp_path / "q-2-t").primary
    assert question.type == kind
    assert [d.name for d in question.labels] == names


def test_a_made_rubric_that_was_changed_stays_changed(store: Store, tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "a,r,x", "b,r,y")
    load(store, path, Targets(tmp_path))
    guideline = tmp_path / "t" / "guideline.md"
    guideline.write_text("# Ours\n", encoding="utf-8")
    load(store, path, Targets(tmp_path))
    assert guideline.read_text("utf-8") == "# Ours\n"


def test_scores_are_no_label_set(store: Store, tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", *(f"i{n},r,{n / 7}" for n in range(50)))
    with pytest.raises(InputError, match="more than 30 different labels"):
        load(store, path, Targets(tmp_path))
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("text", "name"),
    [("Round 1 2.3", "round_1_2_3"), ("4.1", "q_4_1"), ("Ä!", "q"), ("a" * 99, "a" * 60)],
)
def test_slugs_are_ids(text: str, name: str) -> None:
    assert slug(text) == name


def test_a_label_is_found_whatever_its_case(own: Path) -> None:
    target = rating_target(load_rubric(own), None)
    tone, fact = target.rubric.questions
    assert [label_of(tone, v) for v in ("Polite", " polite ", "RUDE", "r")] == [
        "Polite", "Polite", "rude", None,
    ]  # fmt: skip
    assert [label_of(fact, v) for v in ("Yes", "true", "0", "maybe")] == ["yes", "yes", "no", None]
    assert target.question_for(None) is None
