"""Collections of human labels and judges' verdicts: every fact stated about the real ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.trace_text import TraceText
from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import Rating, ReadOptions
from labelkit.formats.registry import LABEL_FORMATS, LossReport, read_file, sniff_format
from tests.formats.writing import one_file, write_lines

Read = tuple[list[TraceText], list[Rating], LossReport]


def read(path: Path, forced: str | None = None, options: ReadOptions | None = None) -> Read:
    reading = read_file(path, forced, options)
    items = list(reading.written())
    traces = [item for item in items if isinstance(item, TraceText)]
    ratings = [item for item in items if isinstance(item, Rating)]
    report = reading.report
    assert (report.traces, report.ratings) == (len(traces), len(ratings))
    assert report.format in LABEL_FORMATS
    return traces, ratings, report


def by_item(ratings: Iterable[Rating]) -> dict[str, dict[str, str | None]]:
    table: dict[str, dict[str, str | None]] = defaultdict(dict)
    for rating in ratings:
        assert rating.rater not in table[rating.item]
        table[rating.item][rating.rater] = rating.value
    return table


# --- PandaLM ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def panda(shared: Path) -> dict[str, Read]:
    folder = shared / "real/pandalm"
    names = {"people": "testset-v1", "gpt": "gpt-3.5-turbo-testset-v1",
             "pandalm": "pandalm-7b-testset-v1"}  # fmt: skip
    for name in names.values():
        assert sniff_format(folder / f"{name}.json").name == "pandalm"
    return {key: read(folder / f"{name}.json") for key, name in names.items()}


def test_pandalm_people(panda: dict[str, Read]) -> None:
    traces, ratings, report = panda["people"]
    assert len(traces) == 999
    table = by_item(ratings)
    assert {len(given) for given in table.values()} == {3}
    assert sum(len(set(given.values())) == 1 for given in table.values()) == 879
    majorities = Counter()
    for given in table.values():
        value, votes = Counter(given.values()).most_common(1)[0]
        assert votes >= 2
        majorities[value] += 1
    assert majorities == {"0": 105, "1": 422, "2": 472}
    assert {r.kind for r in ratings} == {"person"}
    assert report.broken == 0


def test_pandalm_judges_join_by_index_and_garbage_is_no_label(panda: dict[str, Read]) -> None:
    items = {trace.digest for trace in panda["people"][0]}
    gpt, small = panda["gpt"][1], panda["pandalm"][1]
    assert {r.item for r in gpt} == {r.item for r in small} == items
    assert Counter(r.value for r in gpt) == {"1": 460, "2": 476, "0": 38, None: 25}
    assert {r.reason for r in gpt if r.value is None} == {"parse"}
    assert Counter(r.value for r in small) == {"1": 433, "2": 459, "0": 107}
    assert {(r.rater, r.kind) for r in gpt} == {("gpt-3.5-turbo", "judge")}


def test_a_judges_file_alone_knows_only_numbers(tmp_path: Path) -> None:
    path = one_file(tmp_path / "j-testset-v1.json", [{"idx": 7, "x_result": "Tie"}, {"idx": 8}])
    _, (rating,), report = read(path)
    assert (rating.item, rating.value, rating.rater) == ("7", "0", "j")
    assert {line.kind for line in report.lines} == {"lost", "broken"}


# --- MAST ------------------------------------------------------------------------------------


def test_mast_rounds_name_other_modes_by_the_same_numbers(shared: Path) -> None:
    path = shared / "real/mast_human/MAD_human_labelled_dataset.rounds-1-2.json"
    assert sniff_format(path).name == "mast"
    traces, ratings, report = read(path)
    assert (len(traces), len(ratings)) == (10, 525)
    assert report.clean
    cells: dict[tuple[str, str], set[str]] = defaultdict(set)
    for rating in ratings:
        cells[rating.item, rating.question or ""].add(str(rating.value))
    assert len(cells) == 175
    assert all(len(given) == 1 for given in cells.values())
    for start, modes, true, total in (("Round 1", 18, 24, 90), ("Round 2", 17, 7, 85)):
        mine = {key: given for key, given in cells.items() if key[1].startswith(start)}
        assert len({question for _, question in mine}) == modes
        assert len(mine) == total
        assert sum(given == {"yes"} for given in mine.values()) == true
    texts = [trace.trace().messages[0].content for trace in traces]
    assert texts[3] == texts[8]
    assert traces[3].digest != traces[8].digest
    assert max(map(len, filter(None, texts))) == 305_586
    order = [r.question for r in ratings if r.item == traces[0].digest][::3]
    assert order.index("Round 1 4.3") < order.index("Round 1 4.2")


def test_mast_cells_that_are_neither_true_nor_false_are_told(tmp_path: Path) -> None:
    modes: list[Any] = [
        {"failure mode": "1.1 X\n\ny", "annotator_1": True, "annotator_2": None},
        {"failure mode": "no code", "annotator_1": True},
        3,
    ]
    row = {"mas_name": "m", "trace_id": 1, "trace": "t", "round": "R", "annotations": modes}
    _, ratings, report = read(one_file(tmp_path / "m.json", [row, {"mas_name": "m"}]), "mast")
    assert [(r.rater, r.question, r.value) for r in ratings] == [("annotator_1", "R 1.1", "yes")]
    assert (report.total("lost"), report.broken) == (2, 1)


# --- JUDGE-BENCH -----------------------------------------------------------------------------


def test_judge_bench_recipes(shared: Path) -> None:
    path = shared / "real/judgebench_recipes/meta_evaluation_recipes.json"
    assert sniff_format(path).name == "judge-bench"
    traces, ratings, report = read(path)
    assert len(traces) == 52
    metrics = {r.question for r in ratings}
    assert metrics == {"grammar", "fluency", "verbosity", "structure", "success", "overall"}
    for metric in metrics:
        per_item = Counter(r.item for r in ratings if r.question == metric)
        assert set(per_item.values()) == {15, 17, 18, 20, 88}
        assert sum(n == 88 for n in per_item.values()) == 2
    assert {r.value for r in ratings} <= {str(n) for n in range(1, 7)}
    assert report.total("odd") == 52


def test_judge_bench_scores_that_are_missing_or_words(tmp_path: Path) -> None:
    found = {"m": {"individual_human_scores": [1.0, None, "good", True]}, "n": {}}
    row = {"dataset": "d", "annotations": [{"metric": "m"}],
           "instances": [{"instance": {"a": 1}, "annotations": found}, 3]}  # fmt: skip
    (trace,), ratings, report = read(one_file(tmp_path / "b.json", row))
    assert [(r.rater, r.value) for r in ratings] == [
        ("rater 01", "1"), ("rater 03", "good"), ("rater 04", "yes"),
    ]  # fmt: skip
    assert (trace.task_set, trace.task_id) == ("d", "0")
    assert (report.total("lost"), report.broken) == (2, 1)


# --- LLMBar ----------------------------------------------------------------------------------

LLMBAR = {
    "GPT-4/Vanilla": (35, 39, 38),
    "ChatGPT/Vanilla": (18, 14, 24),
    "Falcon/CoT": (21, 24, 5),
    "GPT-4/Swap": (36, 39, 43),
}
"""Right in either order, and the same choice in both."""
UNREADABLE = {
    ("LLaMA2/CoT", 2), ("ChatGPT/CoT", 39), ("PaLM2/CoT", 7), ("PaLM2/CoT", 39),
    ("PaLM2/Vanilla", 31),
}  # fmt: skip


def test_llmbar_gold(shared: Path) -> None:
    traces, ratings, report = read(shared / "real/llmbar_manual/dataset.json")
    assert len(traces) == 46
    assert Counter(r.value for r in ratings) == {"1": 22, "2": 24}
    assert report.clean


@pytest.mark.parametrize("judge", LLMBAR)
def test_llmbar_judges_in_both_orders(shared: Path, judge: str) -> None:
    gold_items, _, _ = read(shared / "real/llmbar_manual/dataset.json")
    traces, ratings, _ = read(shared / f"real/llmbar_manual/evaluators/{judge}/result.json")
    assert [t.digest for t in traces] == [t.digest for t in gold_items]
    table = by_item(ratings)
    one, other = judge, f"{judge} swapped"
    assert (
        sum(given[one] == given["gold"] for given in table.values()),
        sum(given[other] == given["gold"] for given in table.values()),
        sum(given[one] == given[other] for given in table.values()),
    ) == LLMBAR[judge]


def test_llmbar_winners_that_could_not_be_read(shared: Path) -> None:
    found = set()
    files = list((shared / "real/llmbar_manual/evaluators").rglob("result.json"))
    assert len(files) == 13
    for path in files:
        _, ratings, _ = read(path)
        for rating in ratings:
            if rating.value is None:
                assert rating.reason == "parse"
                found.add((rating.rater.removesuffix(" swapped"), rating.record))
    assert found == UNREADABLE


def test_llmbar_rows_without_gold_or_verdict(tmp_path: Path) -> None:
    pair = {"input": "q", "output_1": "a", "output_2": "b"}
    rows = [pair, pair | {"label": 3}, pair | {"results": []}, pair | {"results": {"x": 1}}, {}]
    _, ratings, report = read(one_file(tmp_path / "r.json", rows), "llmbar")
    assert ratings == []
    assert report.broken == 2
    assert report.total("lost") > 3


# --- AgentRx ---------------------------------------------------------------------------------


def test_agentrx_root_causes(shared: Path) -> None:
    path = shared / "real/agentrx_tau_retail/tau_ground_truth.json"
    assert sniff_format(path).name == "agentrx-labels"
    traces, ratings, _ = read(path)
    assert traces == []
    causes = [r for r in ratings if r.question == "root_cause"]
    assert sorted(Counter(r.value for r in causes).values(), reverse=True) == [8, 7, 7, 3, 2, 1, 1]
    assert len({r.item for r in causes}) == len(causes) == 29


def test_agentrx_failures_by_category(shared: Path) -> None:
    path = shared / "real/agentrx_tau_retail/tau_ground_truth.json"
    rows = [record.value for record in json_records(path)]
    failures = [failure for row in rows for failure in row["failures"]]
    assert len(failures) == 39
    assert Counter(failure["failure_category"] for failure in failures) == {
        "Underspecified User Intent": 10,
        "Misinterpretation of Tool Output": 8,
        "Intent Plan Misalignment": 8,
        "Instruction Adherence Failure": 6,
        "Invalid Invocation": 4,
        "Intent Not Supported": 2,
        "System Failure": 1,
    }
    assert any(row["failures"][0]["failure_id"] != 1 for row in rows)


def test_agentrx_root_cause_is_found_by_its_id(tmp_path: Path) -> None:
    failures = [{"failure_id": 7, "failure_category": "A"},
                {"failure_id": 3, "failure_category": "B", "step_number": 4}]  # fmt: skip
    rows = [
        {"trajectory_id": 2, "failures": failures, "root_cause": {"failure_id": 3}},
        {"trajectory_id": 3, "failures": failures, "root_cause": {"failure_id": 1}},
        {"trajectory_id": 4, "failures": failures},
        {"trajectory_id": None, "failures": []},
    ]
    _, ratings, report = read(one_file(tmp_path / "t.json", rows))
    assert [(r.item, r.question, r.value) for r in ratings] == [
        ("2", "root_cause", "B"), ("2", "root_cause_step", "4"),
    ]  # fmt: skip
    assert report.broken == 3


# --- Label Studio ----------------------------------------------------------------------------

DIGEST = "ab" * 32


def chosen(name: str, **value: Any) -> dict[str, Any]:
    return {"from_name": name, "to_name": "t", "type": "choices", "value": value}


def studio(**fields: Any) -> dict[str, Any]:
    annotation = {"completed_by": {"email": "p@example.com"}, "created_at": "2025-01-01T10:00:00Z",
                  "result": [chosen("tone", choices=["polite"])]}  # fmt: skip
    return {"id": 5, "data": {"trace": DIGEST}, "annotations": [annotation]} | fields


def test_label_studio_tasks_name_the_trace_they_were_made_from(tmp_path: Path) -> None:
    prediction = {"model_version": "judge-1", "result": [chosen("tone", choices=["rude"])]}
    path = one_file(tmp_path / "ls.json", [studio(predictions=[prediction])])
    assert sniff_format(path).name == "label-studio"
    traces, ratings, report = read(path)
    assert traces == []
    assert [(r.item, r.rater, r.kind, r.question, r.value) for r in ratings] == [
        (DIGEST, "p@example.com", "person", "tone", "polite"),
        (DIGEST, "judge-1", "judge", "tone", "rude"),
    ]
    assert ratings[0].given_at == "2025-01-01T10:00:00Z"
    assert report.clean


def test_label_studio_texts_become_items(tmp_path: Path) -> None:
    rows = [studio(data={"text": "hello", "question": "q", "n": 1}), studio(id=6, data={"a": 1})]
    (first, second), ratings, _ = read(one_file(tmp_path / "ls.json", rows))
    trace = first.trace()
    assert [(m.role, m.content) for m in trace.messages] == [("user", "q"), ("assistant", "hello")]
    assert trace.extra == {"n": 1}
    assert trace.tags == {"source": "ratings"}
    assert second.trace().messages[0].content == '{"a":1}'
    assert [r.item for r in ratings] == [first.digest, second.digest]


RESULTS: list[tuple[dict[str, Any], str | None]] = [
    (chosen("q", choices=["a"]), "a"),
    (chosen("q", choices=["a", "b"]), None),
    (chosen("q", rating=4), "4"),
    (chosen("q", number=2.5), "2.5"),
    (chosen("q", selected="left"), "left"),
    (chosen("q", taxonomy=[["a", "b"]]), "a / b"),
    (chosen("q", labels=["x"], start=1), None),
    ({"from_name": "q"}, None),
]


@pytest.mark.parametrize(("result", "value"), RESULTS)
def test_label_studio_controls(tmp_path: Path, result: dict[str, Any], value: str | None) -> None:
    note = {"from_name": "why", "type": "textarea", "value": {"text": ["because"]}}
    skipped = {"completed_by": 4, "was_cancelled": True, "result": []}
    row = studio(annotations=[{"completed_by": 3, "result": [result, note]}, skipped])
    _, (*ratings, other), report = read(one_file(tmp_path / "ls.json", [row, studio()]))
    assert other.value == "polite"
    assert [(r.rater, r.value, r.rationale) for r in ratings] == (
        [("3", value, "because")] if value else []
    )
    assert report.total("lost") == 1 + (value is None)


# --- Argilla ---------------------------------------------------------------------------------


def argilla(**fields: Any) -> dict[str, Any]:
    return {
        "id": DIGEST,
        "fields": {"text": "hello"},
        "responses": {"tone": [{"value": "polite", "user_id": "u1"},
                               {"value": "rude", "user_id": "u2", "status": "draft"}]},
        "suggestions": {"tone": {"value": "rude", "agent": "judge"}},
    } | fields  # fmt: skip


VERSIONS = [
    argilla(),
    argilla(
        responses=[
            {"user_id": "u1", "status": "submitted", "values": {"tone": {"value": "polite"}}},
            {"user_id": "u2", "status": "discarded", "values": {"tone": {"value": "rude"}}},
        ]
    ),
    {
        "id": DIGEST, "text": "hello", "tone.responses": ["polite", "rude"],
        "tone.responses.users": ["u1", "u2"], "tone.responses.status": ["submitted", "draft"],
        "tone.suggestion": "rude", "tone.suggestion.agent": "judge",
    },
]  # fmt: skip


@pytest.mark.parametrize("row", VERSIONS, ids=["2", "1", "flat"])
def test_argilla_of_every_version(tmp_path: Path, row: dict[str, Any]) -> None:
    path = write_lines(tmp_path / "a.jsonl", [row])
    assert sniff_format(path).name == "argilla"
    traces, ratings, report = read(path)
    assert traces == []
    assert [(r.item, r.rater, r.kind, r.question, r.value) for r in ratings] == [
        (DIGEST, "u1", "person", "tone", "polite"),
        (DIGEST, "judge", "judge", "tone", "rude"),
    ]
    assert report.total("lost") == 1


def test_argilla_texts_become_items_and_lists_are_no_labels(tmp_path: Path) -> None:
    rows = [
        argilla(id="r1", responses={"t": [{"value": ["a", "b"], "user_id": "u"}]}, suggestions={}),
        argilla(id="r2", responses={"t": [{"value": 4, "user_id": "u"}]}, suggestions=None),
        argilla(id="r3", metadata={"trace": DIGEST}, suggestions=None),
        {"id": "r4"},
    ]
    traces, ratings, report = read(write_lines(tmp_path / "a.jsonl", rows), "argilla")
    assert [t.task_id for t in traces] == ["r1", "r2"]
    assert [(r.item, r.value) for r in ratings] == [(traces[1].digest, "4"), (DIGEST, "polite")]
    assert report.broken == 1
