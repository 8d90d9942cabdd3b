"""Answers generated for the 600 real tasks: the default policy beside the published one."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import ExpectedCall, Reference, Task
from labelkit.domain.trace import RowState, Trace
from labelkit.grounding.keys import derive_key
from labelkit.grounding.numbers import as_decimal
from labelkit.grounding.payloads import leaves
from labelkit.rules.registry import classifier
from tests.rules.rows import RUBRIC


def task_of(raw: dict[str, Any]) -> Task:
    call, truth = raw["expected_tool_call"], raw["ground_truth"]
    return Task(
        set="toolfailbench",
        id=raw["task_id"],
        messages=(Message(role="user", content=raw["user_message"]),),
        reference=Reference(
            expected_calls=(ExpectedCall(**call),) if call else (),
            payload=raw["mock_tool_return"],
            must_contain=tuple(truth["answer_must_contain"]),
            match_mode=truth["match_mode"],
        ),
        tags={"subset": "required" if call else "control"},
    )


@pytest.fixture(scope="module")
def tasks(shared: Path) -> list[Task]:
    files = sorted((shared / "real" / "toolfailbench").glob("*/tasks.json"))
    raw = [t for f in files for t in json.loads(f.read_text(encoding="utf-8"))["tasks"]]
    assert len(raw) == 600
    return [task_of(t) for t in raw]


def rollout(task: Task, answer: str, *, called: bool = True) -> Trace:
    messages = list(task.messages)
    if called:
        for call in task.reference.expected_calls:
            made = ToolCall(id="c", name=call.name, arguments=json.dumps(call.arguments))
            messages.append(Message(role="assistant", tool_calls=(made,)))
            result = json.dumps(task.reference.payload)
            messages.append(Message(role="tool", tool_call_id="c", content=result))
    messages.append(Message(role="assistant", content=answer))
    return Trace(model="m", messages=tuple(messages), state=RowState.OK)


def pretty(number: Any, draw: random.Random) -> str:
    """One of several honest ways of writing a payload number."""
    ways = [str(number), f"{number:,}"]
    exact = as_decimal(number)
    assert exact is not None
    if abs(number) >= 1e9:
        billions = exact.scaleb(-9).normalize()
        ways += [f"${billions:f} billion", f"${billions:f}B"]
    elif isinstance(number, float):
        ways.append(f"{exact:f}0")
    return draw.choice(ways)


def value_lines(task: Task, draw: random.Random) -> list[str]:
    """What a faithful answer reports: every leaf that holds a key value, in a free format."""
    lines = []
    for key, text in zip(
        derive_key(task.reference).values, task.reference.must_contain, strict=True
    ):
        leaf = dict(leaves(task.reference.payload)).get(key.path or "")
        name = (key.path or "").rpartition(".")[2].replace("_", " ")
        if isinstance(leaf, int | float) and not isinstance(leaf, bool):
            lines.append(f"the {name} is {pretty(leaf, draw)}")
        elif isinstance(leaf, str):
            lines.append(f"the {name}: {leaf}")
        else:
            lines.append(text)
    return lines


def changed(number: Any, draw: random.Random) -> str:
    """The same number with another leading digit."""
    text = str(number)
    places = [i for i, c in enumerate(text) if c.isdigit() and c != "0"] or [0]
    digit = draw.choice([d for d in "123456789" if d != text[places[0]]])
    return text[: places[0]] + digit + text[places[0] + 1 :]


def trap_line(task: Task, draw: random.Random) -> str:
    """A prior in place of each key value; no word of the result."""
    parts = [
        f"it is {changed(key.value, draw)}"
        for key in derive_key(task.reference).values
        if key.type == "number"
    ]
    return "; ".join(parts) or "I go by what I know here: nothing has moved since."


def generated(task: Task, draw: random.Random) -> Iterator[tuple[str, str, Trace]]:
    words = list(task.reference.must_contain)
    if not task.reference.expected_calls:
        yield "correct", "plain", rollout(task, f"In short: {', '.join(words)}.", called=False)
        return
    lines = value_lines(task, draw)
    table = "| what | value |\n|---|---|\n" + "\n".join(
        f"| {i + 1} | {line} |" for i, line in enumerate(lines)
    )
    yield "correct", "prose", rollout(task, f"From the tool: {'; '.join(lines)}.")
    yield "correct", "table", rollout(task, table)
    yield "tool_skip", "skip", rollout(task, f"From the tool: {'; '.join(lines)}.", called=False)
    if any(k.type == "number" and k.path for k in derive_key(task.reference).values) and (
        task.reference.match_mode == "all"
    ):
        yield (
            "result_ignore",
            "trap",
            rollout(task, f"As far as I know {trap_line(task, draw)}."),
        )
    elif task.reference.match_mode == "all" and not any(
        w.lower() in task.messages[0].content.lower()
        for w in words  # type: ignore[union-attr]
    ):
        yield "result_ignore", "trap", rollout(task, trap_line(task, draw))
    more = draw.choice(
        ["Reference no. RX-90417-Q.", "It was filed on 17 February 1987.", "The fee is $48,913.27.",
         "The control value is 7391.46."]
    )  # fmt: skip
    yield (
        "output_fabrication",
        "invented",
        rollout(task, f"From the tool: {'; '.join(lines)}. {more}"),
    )


def test_confusion_of_both_policies(tasks: list[Task], capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(0)
    rules = {"ours": classifier("tool_failure"), "substring": classifier("tool_failure_substring")}
    confusion: dict[str, Counter[tuple[str, str]]] = {name: Counter() for name in rules}
    wrong = []
    for task in tasks:
        for label, kind, trace in generated(task, draw):
            for name, rule in rules.items():
                ruling = rule(RUBRIC, trace, task)
                confusion[name][label, ruling.label or "abstain"] += 1
                if name == "ours" and ruling.label != label:
                    wrong.append((task.id, kind, label, ruling.label, ruling.reason))
    with capsys.disabled():
        for name, counts in confusion.items():
            total = sum(counts.values())
            right = sum(n for (a, b), n in counts.items() if a == b)
            print(f"\n{name}: {right} of {total} right ({right / total:.4f})")
            for (label, said), n in sorted(counts.items()):
                print(f"  {label:20} -> {said:20} {n}")
        for line in wrong[:40]:
            print(line)
    ours = confusion["ours"]
    assert sum(ours.values()) > 2200
    assert not [pair for pair in ours if pair[1] not in {pair[0], "abstain"}]
    assert sum(n for (a, b), n in ours.items() if a == b) / sum(ours.values()) >= 0.99
    theirs = confusion["substring"]
    assert sum(n for (a, b), n in theirs.items() if a == b) < sum(
        n for (a, b), n in ours.items() if a == b
    )


def test_the_derived_keys_are_typed(tasks: list[Task]) -> None:
    kinds: Counter[str] = Counter()
    for task in tasks:
        for key, text in zip(
            derive_key(task.reference).values, task.reference.must_contain, strict=True
        ):
            kinds[key.type] += 1
            if task.reference.payload is not None and re.fullmatch(r"\d[\d,]*(?:\.\d+)?", text):
                assert key.type == "number", (task.id, text)
    assert kinds["number"] > 250
    assert kinds["text"] > kinds["enum"] > 0
