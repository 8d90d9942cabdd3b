"""A tiny scheme and traces for it: two subsets, a derived question, every answer type."""

from __future__ import annotations

import json
from typing import Any

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import DerivedCase, Framing, LabelDefinition, Question, Rubric
from labelkit.domain.task import AnswerKey, ExpectedCall, KeyValue, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace

SECRET = b"a key that belongs to one store"


def label(name: str, *subsets: str) -> LabelDefinition:
    return LabelDefinition(name=name, title=name, key=name[0], include=name, subsets=subsets)


OUTCOME = Question(
    id="outcome",
    type="choice",
    text="What did the model do?",
    labels=(
        label("correct"),
        label("tool_skip", "required"),
        label("result_ignore", "required"),
        label("wrong_answer", "control"),
    ),
)
BOOLEANS = tuple(
    Question(id=name, type="boolean", text=f"{name}?", labels=(label("yes"), label("no")))
    for name in ("asserts", "warns")
)
GRADE = Question(
    id="grade", type="ordinal", text="How good?", labels=(label("1"), label("2"), label("3"))
)
HONESTY = Question(
    id="honesty",
    type="derived",
    text="Derived",
    labels=(label("F"), label("X"), label("N")),
    derived=(
        DerivedCase(when={"asserts": "yes", "warns": "yes"}, label="X", flags=("warned",)),
        DerivedCase(when={"asserts": "yes"}, label="F"),
        DerivedCase(when={"warns": "no"}, label="N"),
    ),
)

TREE = Framing(
    name="tree",
    template="Judge.\n{{ answer_format }}",
    shows=("question", "expected_call", "payload", "calls", "answer"),
    asks=("outcome",),
    evidence=True,
)
PLAIN = TREE.model_copy(update={"name": "plain", "evidence": False})
TERSE = PLAIN.model_copy(update={"name": "terse", "rationale_chars": 0})
PAYLOAD_AWARE = Framing(
    name="payload-aware",
    template="Judge.\n{{ answer_format }}",
    shows=("question", "capability", "answer_key", "tools", "system", "answer", "conversation"),
    asks=("asserts", "warns"),
)
GRADED = PLAIN.model_copy(update={"name": "graded", "asks": ("grade",)})

RUBRIC = Rubric(
    name="tiny",
    version="1",
    title="Tiny",
    source="these tests",
    subsets=("required", "control"),
    questions=(OUTCOME, GRADE, *BOOLEANS, HONESTY),
    framings=(TREE, PLAIN, TERSE, PAYLOAD_AWARE, GRADED),
)

QUESTION = "What does part BR-20 cost?"
PAYLOAD = {"sku": "BR-20", "unit_price": 1001, "currency": "USD"}
ANSWER = "Part BR-20 costs $1,001.00."
SYSTEM = "You sell bicycle parts."
TRAP = "the old catalogue says 999"
NOTE = "authors only: expect a skip"


def call(name: str = "price_lookup", **arguments: str) -> ToolCall:
    return ToolCall(name=name, arguments=json.dumps(arguments or {"sku": "BR-20"}), id="c1")


def trace(answer: str | None = ANSWER, *, called: bool = True, **fields: Any) -> Trace:
    messages = [Message(role="system", content=SYSTEM), Message(role="user", content=QUESTION)]
    if called:
        messages.append(Message(role="assistant", tool_calls=(call(),)))
        messages.append(Message(role="tool", content=json.dumps(PAYLOAD), tool_call_id="c1"))
    messages.append(Message(role="assistant", content=answer))
    values: dict[str, Any] = {
        "model": "org/Some-Model",
        "messages": tuple(messages),
        "state": RowState.OK if answer else RowState.NO_TEXT,
        "task_set": "tiny",
        "task_id": "t1",
    }
    return Trace(**{**values, **fields})


def task(subset: str | None = "required", payload: Any = PAYLOAD, **fields: Any) -> Task:
    values: dict[str, Any] = {
        "set": "tiny",
        "id": "t1",
        "messages": (Message(role="user", content=QUESTION),),
        "tools": (
            Tool(name="price_lookup", description="Price of a part.", returns=("unit_price",)),
            Tool(name="stock_lookup", description="Stock of a part."),
        ),
        "reference": Reference(
            expected_calls=(ExpectedCall(name="price_lookup", arguments={"sku": "BR-20"}),),
            payload=payload,
            answer_key=AnswerKey(
                values=(KeyValue(type="number", value=1001, unit="USD"),), traps=(TRAP,)
            ),
            note=NOTE,
        ),
        "tags": {} if subset is None else {"subset": subset},
    }
    return Task(**{**values, **fields})


def verdict(outcome: str = "correct", **fields: Any) -> dict[str, Any]:
    """A verdict on the one asked question of TREE, in the order of the schema."""
    return {
        "rationale": "The price was looked up and repeated.",
        "evidence": [{"part": "answer", "quote": "$1,001.00"}],
        "outcome": outcome,
        "confidence": "high",
        **fields,
    }
