"""The labelling traps of every scheme: right, or abstained where that is allowed; never wrong.

``LABELKIT_CASES`` names another folder of cases in the same schema. A case passes when the label
is the right one, or is an abstention where the case allows one; every fact that it names must be
among the flags. Labels under another declared policy (``right.also``) are held the same way.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from labelkit.rules.registry import classifier
from tests.rules.case_schemes import SCHEMES
from tests.rules.case_types import Case, policy_of, same_label
from tests.rules.rows import RUBRIC, task_of_case, trace_of_case

RIGHT, ABSTAINED = "right", "abstained"


def read_cases(folder: Path) -> list[Case]:
    return [json.loads(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.json"))]


@pytest.fixture(scope="module")
def cases(request: pytest.FixtureRequest) -> list[Case]:
    named = os.environ.get("LABELKIT_CASES")
    if named and not Path(named).is_dir():
        pytest.fail(f"LABELKIT_CASES names {named!r}, which is no folder")
    if named:
        return read_cases(Path(named))
    shared: Path = request.getfixturevalue("shared")
    return read_cases(shared / "cases" / "toolcases")


def outcome(case: Case) -> tuple[str, str]:
    """What became of a case, and what labelkit said in one line."""
    said = SCHEMES[case["scheme"]](case, {})
    right = case["right"]
    told = f"{said.label} ({said.reason}) {said.flags}"
    if said.label is None:
        return (ABSTAINED if case["rule_may_abstain"] else "abstained though forbidden"), told
    if not same_label(said.label, right["label"]):
        return "wrong", told
    if missing := set(right["flags"]) - set(said.flags):
        return "flag missing", f"{told}, lacks {sorted(missing)}"
    for named, label in right.get("also", {}).items():
        other = SCHEMES[case["scheme"]](case, policy_of(named)).label
        if other != label:
            return "wrong under another policy", f"{other} under {named}"
    return RIGHT, told


def test_never_wrong_and_abstaining_only_where_allowed(
    cases: list[Case], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cases, "the folder holds no case"
    counts: dict[str, Counter[str]] = {}
    lines = []
    for case in cases:
        count = counts.setdefault(case["scheme"], Counter())
        what, told = outcome(case)
        count[what] += 1
        if what != RIGHT:
            lines.append(f"{case['id']:6} {what}: wanted {case['right']['label']}, said {told}")
    with capsys.disabled():
        print("\n" + "\n".join(lines))
        for scheme, count in sorted(counts.items()):
            print(f"{scheme:12} {dict(count)}")
    seen = {what for count in counts.values() for what in count}
    assert seen <= {RIGHT, ABSTAINED}


def test_the_reproduction_policy_fails_where_the_paper_does(cases: list[Case]) -> None:
    naive = RUBRIC.model_copy(update={"rule_policy": {"policy": "substring"}})
    for case in cases:
        if case["scheme"] != "toolfail":
            continue
        trace = trace_of_case(case)
        ruling = classifier("tool_failure")(naive, trace, task_of_case(case))
        if trace.state.labelled:
            assert ruling.label == case["naive"]["label"], case["id"]
