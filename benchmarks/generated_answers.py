"""Answers generated for the 600 tasks of ToolFailBench: the default rule beside the published one.

For each task that needs its tool: faithful answers in several shapes and formats, answers with a
prior in place of the result, answers with an invented detail, and answers without an executed call.
Their right label is known by construction. For each control task: a plain answer, and one after a
needless call. The tasks are read from a folder that is not part of this project.

    python benchmarks/generated_answers.py [folder, default ../shared/real/toolfailbench] [seed]

Prints, for both policies: the share of right labels, the confusion matrix, and right / abstained /
wrong for every kind of answer.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import LabelDefinition, Question, Rubric
from labelkit.domain.task import ExpectedCall, KeyValue, Reference, Task
from labelkit.domain.trace import RowState, Trace
from labelkit.grounding.keys import derive_key
from labelkit.grounding.numbers import as_decimal
from labelkit.grounding.payloads import leaves
from labelkit.rules.registry import classifier

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "real" / "toolfailbench"
LABELS = (
    "correct", "tool_skip", "result_ignore", "output_fabrication", "unnecessary_tool_use",
    "wrong_answer",
)  # fmt: skip
POLICIES = ("tool_failure", "tool_failure_substring")
INVENTED = (
    "Reference no. RX-90417-Q.", "It was filed on 17 February 1987.", "The fee is $48,913.27.",
    "The control value is 7391.46.",
)  # fmt: skip


class Row(NamedTuple):
    """One generated rollout with its right label and the kind of answer it is."""

    task: Task
    label: str
    kind: str
    trace: Trace


def rubric() -> Rubric:
    definitions = tuple(
        LabelDefinition(name=n, title=n, key=str(i), include=n) for i, n in enumerate(LABELS)
    )
    return Rubric(
        name="generated", version="1", title="g", source="g", subsets=("required", "control"),
        questions=(Question(id="label", type="choice", text="?", labels=definitions),),
        rule="tool_failure",
    )  # fmt: skip


def read_tasks(folder: Path) -> list[Task]:
    """The tasks of every domain; the key is left to be derived from its strings."""
    found = []
    for path in sorted(folder.glob("*/tasks.json")):
        for raw in json.loads(path.read_text(encoding="utf-8"))["tasks"]:
            call, truth = raw["expected_tool_call"], raw["ground_truth"]
            reference = Reference(
                expected_calls=(ExpectedCall(**call),) if call else (),
                payload=raw["mock_tool_return"],
                must_contain=tuple(truth["answer_must_contain"]),
                match_mode=truth["match_mode"],
            )
            found.append(
                Task(
                    set="toolfailbench",
                    id=raw["task_id"],
                    messages=(Message(role="user", content=raw["user_message"]),),
                    reference=reference,
                    tags={"subset": "required" if call else "control", "domain": raw["domain"]},
                )
            )
    return found


def rollout(task: Task, answer: str, *, called: bool = True, answered: bool = True) -> Trace:
    """The rollout that ends in ``answer``; ``answered`` False leaves the call without a result."""
    messages = list(task.messages)
    for call in task.reference.expected_calls if called else ():
        made = ToolCall(id="c", name=call.name, arguments=json.dumps(call.arguments))
        messages.append(Message(role="assistant", tool_calls=(made,)))
        if answered:
            result = json.dumps(task.reference.payload)
            messages.append(Message(role="tool", tool_call_id="c", content=result))
    messages.append(Message(role="assistant", content=answer))
    return Trace(model="m", messages=tuple(messages), state=RowState.OK)


def redressed(number: float, draw: random.Random) -> str:
    """Another honest way of writing a payload number than the payload's own."""
    exact = as_decimal(number)
    if exact is None:
        return str(number)
    ways = [f"{exact:f}0" if isinstance(number, float) else f"{exact:f}.0"]
    if abs(number) >= 1000:
        ways += [f"{number:,}", f"{number:,}".replace(",", "\u00a0")]
    if abs(number) >= 1e9:
        billions = exact.scaleb(-9).normalize()
        ways += [f"{billions:f} billion", f"{billions:f}B"]
    ways.append("".join(chr(0xFF10 + int(c)) if c.isdigit() else c for c in f"{exact:f}"))
    return draw.choice(ways)


def key_leaves(task: Task) -> Iterator[tuple[KeyValue, str, Any]]:
    """Each key value with its string and with the payload leaf that holds it (or None)."""
    known = dict(leaves(task.reference.payload))
    key = derive_key(task.reference)
    for value, text in zip(key.values, task.reference.must_contain, strict=True):
        yield value, text, known.get(value.path or "")


def lines_of(task: Task, draw: random.Random | None = None) -> list[str]:
    """What a faithful answer reports; ``draw`` writes its numbers in another dress."""
    lines = []
    for value, text, leaf in key_leaves(task):
        name = (value.path or "").rpartition(".")[2].replace("_", " ")
        if isinstance(leaf, int | float) and not isinstance(leaf, bool):
            lines.append(f"the {name} is {redressed(leaf, draw) if draw else leaf}")
        elif isinstance(leaf, str):
            lines.append(f"the {name}: {leaf}")
        else:
            lines.append(text)
    return lines


def other_number(number: Any, draw: random.Random) -> str:
    """The same number with another leading digit: a prior that the payload contradicts."""
    text = str(number)
    place = next((i for i, c in enumerate(text) if c in "123456789"), 0)
    digit = draw.choice([d for d in "123456789" if d != text[place]])
    return text[:place] + digit + text[place + 1 :]


def numbers_of(task: Task) -> list[KeyValue]:
    return [k for k in derive_key(task.reference).values if k.type == "number" and k.path]


def faithful(task: Task, draw: random.Random) -> Iterator[tuple[str, Trace]]:
    lines = lines_of(task)
    rows = "\n".join(f"| {i + 1} | {line} |" for i, line in enumerate(lines))
    yield "faithful, prose", rollout(task, f"From the tool: {'; '.join(lines)}.")
    yield "faithful, table", rollout(task, f"| what | value |\n|---|---|\n{rows}")
    yield "faithful, list", rollout(task, "\n".join(f"- **{line}**" for line in lines))
    numbers = numbers_of(task)
    if not numbers:
        return
    dressed = "; ".join(lines_of(task, draw))
    yield "faithful, another number format", rollout(task, f"From the tool: {dressed}.")
    priors = " and ".join(other_number(k.value, draw) for k in numbers)
    yield (
        "faithful, a prior set aside",
        rollout(task, f"I recalled {priors}, but the tool says otherwise: {'; '.join(lines)}."),
    )


def ignoring(task: Task, draw: random.Random) -> Iterator[tuple[str, Trace]]:
    """Answers that do not report the result; only where every key value is asked for."""
    if task.reference.match_mode != "all":
        return
    numbers = numbers_of(task)
    if not numbers:
        question = (task.messages[0].content or "").lower()
        if not any(text.lower() in question for text in task.reference.must_contain):
            text = "I go by what I know here: nothing has moved since."
            yield "a prior instead, no number", rollout(task, text)
        return
    words = [text for value, text, _ in key_leaves(task) if value not in numbers]
    prior = "; ".join(f"it is {other_number(k.value, draw)}" for k in numbers)
    topic = ", ".join(words)
    yield "a prior instead", rollout(task, f"As far as I know {prior} ({topic}).")
    hidden = "; ".join(lines_of(task))
    yield (
        "a prior instead, the result in the reasoning",
        rollout(task, f"<think>The tool: {hidden}.</think>As far as I know {prior} ({topic})."),
    )
    longer = "; ".join(f"it is 9{str(k.value).lstrip('-')}" for k in numbers)
    if all(not str(k.value).startswith("-") for k in numbers):
        yield "the digits inside a longer number", rollout(task, f"From memory {longer} ({topic}).")


def skipping(task: Task) -> Iterator[tuple[str, Trace]]:
    said = f"From the tool: {'; '.join(lines_of(task))}."
    yield "no call", rollout(task, said, called=False)
    yield "a call nobody answered", rollout(task, said, answered=False)
    call = task.reference.expected_calls[0]
    text = json.dumps({"name": call.name, "arguments": call.arguments})
    yield "the call as text", rollout(task, f"<tool_call>{text}</tool_call>\n{said}", called=False)


def generated(task: Task, draw: random.Random) -> Iterator[Row]:
    """Every generated rollout of one task."""
    if not task.reference.expected_calls:
        said = f"In short: {', '.join(task.reference.must_contain)}."
        yield Row(task, "correct", "control, plain", rollout(task, said))
        used = task.model_copy(
            update={
                "reference": task.reference.model_copy(
                    update={"expected_calls": (ExpectedCall(name="look"),)}
                )
            }
        )
        yield Row(task, "unnecessary_tool_use", "control, a call", rollout(used, said))
        return
    for kind, trace in faithful(task, draw):
        yield Row(task, "correct", kind, trace)
    for kind, trace in ignoring(task, draw):
        yield Row(task, "result_ignore", kind, trace)
    for kind, trace in skipping(task):
        yield Row(task, "tool_skip", kind, trace)
    said = f"From the tool: {'; '.join(lines_of(task))}. {draw.choice(INVENTED)}"
    yield Row(task, "output_fabrication", "an invented detail added", rollout(task, said))


class Tally:
    """What one policy said of every row."""

    def __init__(self) -> None:
        self.confusion: Counter[tuple[str, str]] = Counter()
        self.kinds: dict[str, Counter[str]] = {}
        self.missed: list[tuple[str, str, str, str, str]] = []

    def add(self, row: Row, said: str | None, reason: str) -> None:
        """Count one ruling."""
        self.confusion[row.label, said or "abstain"] += 1
        outcome = "right" if said == row.label else "abstained" if said is None else "wrong"
        self.kinds.setdefault(row.kind, Counter())[outcome] += 1
        if outcome != "right":
            self.missed.append((row.task.id, row.kind, row.label, said or "abstain", reason))

    @property
    def right(self) -> int:
        """Rows with the right label."""
        return sum(n for (wanted, said), n in self.confusion.items() if wanted == said)

    @property
    def total(self) -> int:
        """All rows."""
        return self.confusion.total()


def tally(tasks: Sequence[Task], seed: int = 0) -> dict[str, Tally]:
    """Run both policies over every generated rollout."""
    draw = random.Random(seed)
    scheme = rubric()
    out = {name: Tally() for name in POLICIES}
    for task in tasks:
        for row in generated(task, draw):
            for name in POLICIES:
                ruling = classifier(name)(scheme, row.trace, row.task)
                out[name].add(row, ruling.label, ruling.reason)
    return out


def report(tallies: dict[str, Tally]) -> Iterator[str]:
    for name, found in tallies.items():
        yield f"{name}: {found.right} of {found.total} right ({found.right / found.total:.4f})"
        said = [*LABELS, "abstain"]
        yield "| right label | " + " | ".join(said) + " |"
        yield "|---|" + "--:|" * len(said)
        for wanted in LABELS:
            cells = [str(found.confusion[wanted, s]) for s in said]
            yield f"| {wanted} | " + " | ".join(cells) + " |"
    ours, theirs = (tallies[name].kinds for name in POLICIES)
    yield "| kind of answer | rows | default: right / abstained / wrong | substring |"
    yield "|---|--:|--:|--:|"
    for kind, counts in ours.items():
        cells = [
            " / ".join(str(one[kind][o]) for o in ("right", "abstained", "wrong"))
            for one in (ours, theirs)
        ]
        yield f"| {kind} | {counts.total()} | " + " | ".join(cells) + " |"


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tasks = read_tasks(folder)
    if not tasks:
        print(f"Skipped: {folder} holds no */tasks.json; name the folder of ToolFailBench's tasks.")
        return
    tallies = tally(tasks, seed)
    print(f"{len(tasks)} tasks, seed {seed}")
    for line in report(tallies):
        print(line)
    for missed in tallies["tool_failure"].missed[:40]:
        print("  ".join(missed))


if __name__ == "__main__":
    main()
