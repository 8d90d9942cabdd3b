"""Facts stated about the real files that belong to no one reader: what is in them, and what is not.

Most facts are asserted where the format's reader is tested; the statistics in
``tests/golden/test_real_tables.py``. Here is the rest, so that every stated fact has a test.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from labelkit.formats.jsonstream import json_records
from labelkit.formats.reader import Rating
from labelkit.formats.registry import read_file
from labelkit.stats import agreement, ratings
from tests.formats.writing import read_all


@pytest.fixture(scope="module")
def real(shared: Path) -> Path:
    return shared / "real"


def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def ratings_in(path: Path) -> list[Rating]:
    return [item for item in read_file(path).written() if isinstance(item, Rating)]


# --- runs ------------------------------------------------------------------------------------


def test_the_reused_id_of_the_first_airline_run(real: Path) -> None:
    """One id, two calls: the first result of each call is the next message, not the id's."""
    _, traces, _ = read_all(real / "tau_bench_airline/gpt-4o-airline.tasks-00-24.json")
    messages = traces[0].messages
    assert (messages[8].tool_calls[0].id or "").startswith("call_HGn16")
    assert messages[9].tool_call_id == messages[13].tool_call_id == messages[8].tool_calls[0].id
    assert (messages[9].name, messages[13].name) == (
        "search_direct_flight", "search_onestop_flight",
    )  # fmt: skip


def test_tau_bench_runs_have_exactly_the_stated_members(real: Path) -> None:
    airline = loaded(real / "tau_bench_airline/gpt-4o-airline.tasks-00-24.json")
    assert {tuple(sorted(run)) for run in airline} == {
        ("info", "reward", "task_id", "traj", "trial")
    }
    assert {tuple(sorted(run["info"])) for run in airline} == {
        ("reward_info", "source", "task", "user_cost")
    }


def test_agentrx_root_causes_by_category(real: Path) -> None:
    causes = Counter(
        rating.value
        for rating in ratings_in(real / "agentrx_tau_retail/tau_ground_truth.json")
        if rating.question == "root_cause"
    )
    assert causes == {
        "Underspecified User Intent": 8,
        "Misinterpretation of Tool Output": 7,
        "Intent Plan Misalignment": 7,
        "Instruction Adherence Failure": 3,
        "Invalid Invocation": 1,
        "Intent Not Supported": 2,
        "System Failure": 1,
    }


def test_who_and_when_steps_are_texts_and_every_speaker_has_a_name(real: Path) -> None:
    files = sorted((real / "who_and_when_algorithm_generated").glob("*.json"))
    runs = [loaded(path) for path in files]
    assert all(isinstance(run["mistake_step"], str) for run in runs)
    assert all(re.fullmatch("[0-9a-f]{64}", run["question_ID"]) for run in runs)
    for path, run in zip(files, runs, strict=True):
        _, (trace,), _ = read_all(path)
        assert [m.name for m in trace.messages] == [m.get("name") for m in run["history"]]
        assert all(m.name for m in trace.messages)


def test_swe_agent_steps_and_what_ends_a_run(real: Path) -> None:
    members = {"action", "observation", "response", "thought", "state"}
    timed = 0
    for path in sorted((real / "swe_agent_traj").glob("*.traj")):
        run = loaded(path)
        if path.name.startswith("demonstrations__function_calling_simple"):
            assert set(run) == {"history"}
            continue
        assert {"environment", "trajectory", "history", "info"} <= set(run)
        assert all(members == set(step) - {"execution_time"} for step in run["trajectory"])
        timed += all("execution_time" in step for step in run["trajectory"])
        assert {"exit_status", "submission"} <= set(run["info"])
    assert timed == 2  # the oldest of the three was run before steps were timed


def nodes(tree: dict[str, Any]) -> list[dict[str, Any]]:
    return [tree, *(below for child in tree["children"] for below in nodes(child))]


def test_toolbench_speaks_the_old_way_and_siblings_are_alternatives(real: Path) -> None:
    called, answered, branching = 0, 0, 0
    for path in (real / "toolbench_answers").glob("*.json"):
        raw = loaded(path)
        said = [m for turns in raw["answer_generation"].get("train_messages") or () for m in turns]
        called += sum("function_call" in m for m in said)
        answered += sum(m["role"] == "function" for m in said)
        assert not any("tool_calls" in m or m["role"] == "tool" for m in said)
        branching += any(len(node["children"]) > 1 for node in nodes(raw["tree"]["tree"]))
    assert called > 0
    assert answered > 0
    assert branching > 1


def test_toolbench_codes_mean_what_is_said_of_them(real: Path) -> None:
    seen: dict[int, list[dict[str, Any]]] = {}
    for path in (real / "toolbench_answers").glob("*.json"):
        for node in nodes(loaded(path)["tree"]["tree"]):
            if "observation_code" in node:
                seen.setdefault(node["observation_code"], []).append(node)
    assert all("No such function name" in node["observation"] for node in seen[1])
    assert all("give_answer" in node["description"] for node in seen[3])
    assert all("give_up" in node["description"] for node in seen[4])
    assert all("error" in node["observation"].lower() for node in seen[11])


def test_exchanges_are_of_four_providers(real: Path) -> None:
    found: Counter[str] = Counter()
    for path in (real / "provider_payloads").rglob("*.request.json"):
        asked = loaded(path)
        if "contents" in asked:
            found["gemini"] += 1
        elif "llama" in str(asked.get("model")) or "groq" in path.parent.name:
            found["groq"] += 1
        elif "claude" in str(asked.get("model")):
            found["anthropic"] += 1
        elif "messages" in asked:
            found["openai"] += 1
    assert set(found) == {"gemini", "groq", "anthropic", "openai"}
    assert found.total() == 25


def test_archives_of_inspect_hold_what_is_said(real: Path) -> None:
    reduced = 0
    for path in (real / "inspect_logs").glob("*.eval"):
        with ZipFile(path) as archive:
            names = archive.namelist()
        assert {"header.json", "summaries.json"} <= set(names)
        reduced += "reductions.json" in names
        assert any(name.startswith("samples/") for name in names)
        assert any(name.startswith("_journal/") for name in names)
    assert reduced == 1


def test_json_logs_of_inspect_are_of_version_2_but_one(real: Path) -> None:
    versions = {path.name: log_version(path) for path in (real / "inspect_logs").glob("*.json")}
    assert [name for name, version in versions.items() if version == 1] == ["log_with_nan.json"]
    assert Counter(versions.values()) == {1: 1, 2: 6}


def log_version(path: Path) -> Any:
    (record,) = json_records(path)
    return record.value["version"]


def depth(value: Any) -> int:
    """How many JSON texts are in each other."""
    if isinstance(value, str):
        try:
            inside = json.loads(value)
        except ValueError:
            return 0
        return 1 + depth(inside) if isinstance(inside, dict | list | str) else 0
    if isinstance(value, dict):
        return max(map(depth, value.values()), default=0)
    return max(map(depth, value), default=0) if isinstance(value, list) else 0


def test_langfuse_puts_json_into_json_and_attributes_into_metadata(real: Path) -> None:
    kinds: set[str] = set()
    deepest, words = 0, Counter[str]()
    for path in (real / "langfuse_traces").glob("*.trace.json"):
        for seen in loaded(path)["observations"]:
            kinds.add(seen["type"])
            deepest = max(deepest, *(depth(seen.get(key)) for key in ("input", "output")))
            text = json.dumps(seen.get("metadata"))
            words += Counter(w for w in ("gen_ai.", "openinference", "langsmith") if w in text)
    assert kinds <= {"SPAN", "GENERATION", "AGENT", "TOOL", "CHAIN"}
    assert {"SPAN", "GENERATION"} <= kinds
    assert deepest == 3
    assert set(words) == {"gen_ai.", "openinference", "langsmith"}


def test_bfcl_questions_are_turns_of_messages_and_answers_lists(real: Path) -> None:
    for path in (real / "bfcl_v4").glob("*.json"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert all(m["role"] for turn in json.loads(line)["question"] for m in turn)
    left_out = 0
    for path in (real / "bfcl_v4/possible_answer").glob("*.json"):
        for line in path.read_text(encoding="utf-8").splitlines():
            for call in json.loads(line)["ground_truth"]:
                (accepted,) = call.values()
                assert all(isinstance(values, list) for values in accepted.values())
                left_out += sum("" in values for values in accepted.values())
    assert left_out > 0


# --- labels ----------------------------------------------------------------------------------


def test_mast_codes_mean_other_things_in_the_second_round(real: Path) -> None:
    (path,) = (real / "mast_human").glob("*.json")
    names: dict[str, dict[str, str]] = {}
    for record in loaded(path):
        for cell in record["annotations"]:
            code, _, rest = cell["failure mode"].partition(" ")
            assert "\n" in rest  # a name, then its definition
            names.setdefault(record["round"], {})[code] = rest.split("\n")[0].strip()
    first, second = (names[key] for key in sorted(names))
    assert (len(first), len(second)) == (18, 17)
    same = [code for code in first if code in second and first[code] == second[code]]
    assert len(same) < len(second) / 2


def test_pandalm_verdicts_are_texts_of_one_judge_and_numbers_of_the_other(real: Path) -> None:
    for name, kind in (("gpt-3.5-turbo", str), ("pandalm-7b", int)):
        rows = loaded(real / f"pandalm/{name}-testset-v1.json")
        key = next(key for key in rows[0] if key.endswith("_result"))
        assert {type(row[key]) for row in rows} == {kind}


def test_crowd_workers_and_items(real: Path) -> None:
    rows = rows_of(real / "crowd_rte/rte.standardized.csv")
    assert len(rows) == 8000
    assert set(Counter(row["orig_id"] for row in rows).values()) == {10}
    assert len({(row["orig_id"], row["!amt_worker_ids"]) for row in rows}) == 8000
    given = Counter(row["!amt_worker_ids"] for row in rows)
    assert (len(given), min(given.values()), max(given.values())) == (164, 20, 800)
    assert all(re.fullmatch(r"W\d{3}", worker) for worker in given)
    # Not real times, and no texts.
    for column in ("start", "end", "hypothesis", "text"):
        assert len({row[column] for row in rows}) == 1
    assert {row["text"] for row in rows} == {""}
    right = sum(row["response"] == row["gold"] for row in rows)
    assert right / 8000 == pytest.approx(0.72913, abs=5e-6)


def test_crowd_files_beside_the_labels(real: Path) -> None:
    """MACE and CrowdTruth beside it, majority with ties to the smaller label, and a broken file."""
    folder = real / "crowd_rte"
    gold: dict[str, str] = {}
    votes: dict[str, Counter[str]] = {}
    for row in rows_of(folder / "rte.standardized.csv"):
        gold[row["orig_id"]] = row["gold"]
        votes.setdefault(row["orig_id"], Counter())[row["response"]] += 1
    smaller = {item: "1" if given["1"] > given["0"] else "0" for item, given in votes.items()}
    mace = {
        row["unit"]: "1" if float(row["true"]) >= 0.5 else "0"
        for row in rows_of(folder / "mace_units_rte.csv")
    }
    truth = {
        row["orig_id"]: "1" if float(row["true"]) >= 0.5 else "0"
        for row in rows_of(folder / "crowdtruth_units_rte.csv")
    }
    broken = {
        row["unit"]: str(round(float(row["value"])))
        for row in rows_of(folder / "majorityvote_units_rte.csv")
    }
    for said, share in ((smaller, 0.91875), (mace, 0.92625), (truth, 0.92125), (broken, 0.4975)):
        assert set(said) == set(gold)
        assert sum(said[item] == gold[item] for item in gold) / 800 == pytest.approx(share)


def test_recipe_scales_and_the_published_alphas(real: Path) -> None:
    data = loaded(real / "judgebench_recipes/meta_evaluation_recipes.json")
    assert {(a["category"], a["worst"], a["best"]) for a in data["annotations"]} == {
        ("graded", 1, 6)
    }
    (path,) = (real / "judgebench_recipes").glob("results_regular_*.json")
    text = path.read_text(encoding="utf-8")
    assert re.search(r": NaN\b", text) is not None
    (record,) = json_records(path)
    assert record.notes.found == [("repaired", "NaN or an infinity became null")]
    for judge in record.value.values():
        for scale, said in judge.items():
            counts = [
                [
                    item["annotations"][scale]["individual_human_scores"].count(s)
                    for s in range(1, 7)
                ]
                for item in data["instances"]
            ]
            table = ratings.from_counts(counts, [1, 2, 3, 4, 5, 6])
            found = agreement.krippendorff_alpha(table, "ordinal").value
            assert found == pytest.approx(said["krippendorff_alpha"], abs=1e-9), scale


Winners = list[tuple[str | None, str | None, str | None]]


def winners(folder: Path) -> Winners:
    """(gold, winner, winner after the swap) of every item, as the reader gives them."""
    given: dict[str, dict[str, str | None]] = {}
    for rating in ratings_in(folder / "result.json"):
        name = "gold" if rating.rater == "gold" else "swap" if "swapped" in rating.rater else "one"
        given.setdefault(rating.item, {})[name] = rating.value
    assert len(given) == 46
    return [(row["gold"], row["one"], row["swap"]) for row in given.values()]


def kappa(pairs: list[tuple[Any, Any]]) -> float:
    labels = sorted({value for pair in pairs for value in pair})
    value = agreement.cohen_kappa(ratings.from_rows(pairs, labels)).value
    assert isinstance(value, float)
    return value


def test_llmbar_order_kappas(real: Path) -> None:
    stated = {"GPT-4/Vanilla": 0.6522, "ChatGPT/Vanilla": 0.2167, "Falcon/CoT": 0.0063,
              "GPT-4/Swap": 0.8701}  # fmt: skip
    for name, value in stated.items():
        rows = winners(real / "llmbar_manual/evaluators" / name)
        assert kappa([row[1:] for row in rows]) == pytest.approx(value, abs=5e-5)


def test_llmbar_published_kappas_are_right_of_the_order_and_wrong_of_the_gold(real: Path) -> None:
    checked = 0
    for path in (real / "llmbar_manual/evaluators").rglob("statistics.json"):
        said, rows = loaded(path), winners(path.parent)
        if all(None not in row for row in rows):
            assert kappa([row[1:] for row in rows]) == pytest.approx(said["kappa_agreement"])
            checked += 1
        for column, key in ((1, "kappa_False"), (2, "kappa_True")):
            # As published: anything but a 1 was coded 0, while the labels are 1 and 2.
            coded = [(int(row[0] or 0), int(row[column] == "1")) for row in rows]
            assert kappa(coded) == pytest.approx(said[key], abs=1e-12)
    assert checked == 13 - 4
    gold = winners(real / "llmbar_manual/evaluators/GPT-4/Vanilla")
    for column, right in ((1, 0.5217), (2, 0.6933)):
        assert kappa([(row[0], row[column]) for row in gold]) == pytest.approx(right, abs=5e-5)


def test_llmbar_one_completion_is_empty(real: Path) -> None:
    row = loaded(real / "llmbar_manual/evaluators/PaLM2/Vanilla/result.json")[31]
    assert [one for given in row["results"] for one in given.values()] == [
        {"completion": ["", ""], "winner": None}
    ] * 2
