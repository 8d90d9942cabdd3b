"""The labelling traps: right, or abstained where that is allowed; never wrong.

``LABELKIT_CASES`` names another folder of cases in the same schema.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.trace import Trace
from labelkit.rules.registry import classifier
from labelkit.rules.ruling import Ruling
from tests.rules.rows import RUBRIC, task_of_case, trace_of_case


@pytest.fixture(scope="module")
def cases(shared: Path) -> list[dict[str, Any]]:
    folder = Path(os.environ.get("LABELKIT_CASES") or shared / "cases" / "toolcases")
    found = [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))]
    return [c for c in found if c["scheme"] == "toolfail"]


def rule_on(case: dict[str, Any], rubric: Any = RUBRIC) -> tuple[Trace, Ruling]:
    trace = trace_of_case(case)
    return trace, classifier("tool_failure")(rubric, trace, task_of_case(case))


def test_never_wrong_and_abstaining_only_where_allowed(
    cases: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cases
    lines = []
    count: Counter[str] = Counter()
    for case in cases:
        trace, ruling = rule_on(case)
        # An endpoint failure is a state of the row; the rule must keep its hands off it.
        said = "infra_error" if not trace.state.labelled and ruling.abstained else ruling.label
        wanted = case["right"]["label"]
        if said is None:
            outcome = "abstained" if case["rule_may_abstain"] else "abstained though forbidden"
        elif said != wanted:
            outcome = "wrong"
        elif set(case["right"]["flags"]) - set(ruling.flags):
            outcome = "flag missing"
        else:
            outcome = "right"
        count[outcome] += 1
        lines.append(f"{case['id']:6} {outcome:10} {said} ({ruling.reason}) {ruling.flags}")
    with capsys.disabled():
        print("\n" + "\n".join(lines) if set(count) - {"right"} else "")
        print(f"tool-failure cases: {dict(count)}")
    assert set(count) <= {"right", "abstained"}


def test_the_strict_argument_policy(cases: list[dict[str, Any]]) -> None:
    strict = RUBRIC.model_copy(update={"rule_policy": {"args_policy": "strict"}})
    checked = 0
    for case in cases:
        wanted = case["right"].get("also", {}).get("args_policy=strict")
        if wanted:
            checked += 1
            assert rule_on(case, strict)[1].label == wanted
    if "LABELKIT_CASES" not in os.environ:
        assert checked


def test_the_reproduction_policy_fails_where_the_paper_does(cases: list[dict[str, Any]]) -> None:
    naive = RUBRIC.model_copy(update={"rule_policy": {"policy": "substring"}})
    for case in cases:
        trace, ruling = rule_on(case, naive)
        if trace.state.labelled:
            assert ruling.label == case["naive"]["label"], case["id"]
