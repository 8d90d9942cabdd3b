"""Hundreds of ways of saying a thing right, wrong, or with an invention, in many domains.

``sayings.jsonl`` holds one task a line: payload, key, answers of one right label. Answers of
an ``open`` line may be left to the judges; none may be mislabelled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.task import KeyValue
from labelkit.rules.registry import classifier
from tests.rules.rows import RUBRIC, required

LINES = [
    json.loads(line)
    for line in (Path(__file__).parent / "sayings.jsonl").read_text(encoding="utf-8").splitlines()
]


def test_there_are_many_of_every_label() -> None:
    labels = [line["label"] for line in LINES for _ in line["answers"]]
    assert labels.count("correct") > 200
    assert labels.count("result_ignore") > 100
    assert labels.count("output_fabrication") > 15


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        pytest.param(line, answer, id=f"{number}-{place}")
        for number, line in enumerate(LINES, 1)
        for place, answer in enumerate(line["answers"], 1)
    ],
)
def test_an_answer_is_labelled_for_what_it_says(line: dict[str, Any], answer: str) -> None:
    keys = [KeyValue(**key) for key in line["keys"]]
    more = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in line.get("more", {}).items()
    }
    ruling = classifier("tool_failure")(RUBRIC, *required(answer, line["payload"], *keys, **more))
    left_open = line.get("open", False) and ruling.label is None
    assert ruling.label == line["label"] or left_open, (answer, ruling)
    if not left_open:
        assert set(line.get("flags", ())) <= set(ruling.flags)
