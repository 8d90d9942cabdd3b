"""Items as tasks of Label Studio: people's labels as annotations, machines' as predictions.

A rationale is the text area of the same annotation, so labels that were given for different
reasons, or at different times, are annotations of their own. Label Studio takes annotations in
when it has members whose e-mail is the annotator's name, or with its setting
ALLOW_IMPORT_TASKS_WITH_UNKNOWN_EMAILS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any
from xml.etree import ElementTree as ET

from labelkit.domain.rubric import Rubric
from labelkit.domain.trace import Trace
from labelkit.printable import printable
from labelkit.workflows.release.exchange import Given, asked_of, conversation, facts

_SHOWN = "conversation"


def label_studio_task(
    trace: Trace, given: Sequence[Given], _left_out: Counter[str]
) -> tuple[dict[str, Any], int]:
    """Return one task and the number of labels in it."""
    row = {
        # The short keys come first: whoever looks at the head of the file sees what it is.
        "annotations": list(_annotations([g for g in given if g.kind == "person"])),
        "predictions": list(_predictions([g for g in given if g.kind != "person"])),
        "data": {**facts(trace), _SHOWN: conversation(trace, "text")},
    }
    return row, len(given)


def _annotations(given: Sequence[Given]) -> Iterator[dict[str, Any]]:
    for (rater, rationale, created_at), group in _grouped(given):
        yield {
            "completed_by": {"email": rater},
            "created_at": created_at,
            "was_cancelled": False,
            "ground_truth": False,
            "result": _results(group, rationale),
        }


def _predictions(given: Sequence[Given]) -> Iterator[dict[str, Any]]:
    for (rater, rationale, _), group in _grouped(given):
        yield {"model_version": rater, "result": _results(group, rationale)}


def _grouped(
    given: Sequence[Given],
) -> Iterator[tuple[tuple[str, str | None, str], list[Given]]]:
    """Labels that one rater gave at one time for one reason."""

    def key(one: Given) -> tuple[str, str, str]:
        return one.rater, one.created_at, one.rationale or ""

    for _, group in groupby(sorted(given, key=key), key=key):
        together = list(group)
        first = together[0]
        yield (first.rater, first.rationale, first.created_at), together


def _results(given: Sequence[Given], rationale: str | None) -> list[dict[str, Any]]:
    results = [
        {
            "id": f"{one.question}-{number}",
            "from_name": one.question,
            "to_name": _SHOWN,
            "type": "choices",
            "value": {"choices": [one.value]},
        }
        for number, one in enumerate(given)
    ]
    if rationale:
        results.append(
            {
                "id": "rationale",
                "from_name": "rationale",
                "to_name": _SHOWN,
                "type": "textarea",
                "value": {"text": [rationale]},
            }
        )
    return results


def label_studio_config(rubric: Rubric) -> str:
    """Return the labelling interface of a project for such tasks, as XML."""
    view = ET.Element("View")
    ET.SubElement(
        view,
        "Paragraphs",
        {"name": _SHOWN, "value": f"${_SHOWN}", "nameKey": "role", "textKey": "text"},
    )
    for question in asked_of(rubric):
        ET.SubElement(view, "Header", {"value": printable(question.text)})
        choices = ET.SubElement(
            view,
            "Choices",
            {"name": question.id, "toName": _SHOWN, "choice": "single-radio"},
        )
        for label in question.labels:
            ET.SubElement(choices, "Choice", {"value": label.name, "hint": printable(label.title)})
    ET.SubElement(view, "TextArea", {"name": "rationale", "toName": _SHOWN, "rows": "3"})
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"
