"""Items as tasks of Label Studio: people's labels as annotations, machines' as predictions.

Whoever labelled an item has one annotation on it, as Label Studio counts them, with the reasons in
its text area. A server gives an annotation back with the number of a member and the time of the
import, so each result is marked with its rater, time and reason, which the importer reads. Label
Studio takes annotations in when it has members with the annotators' addresses, or with its setting
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
from labelkit.formats.label_studio import MARK, address_of
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
    for rater, group in _by_rater(given):
        yield {
            "completed_by": {"email": address_of(rater)},
            "created_at": max(one.created_at for one in group),
            "was_cancelled": False,
            "ground_truth": False,
            "result": _results(group),
        }


def _predictions(given: Sequence[Given]) -> Iterator[dict[str, Any]]:
    for rater, group in _by_rater(given):
        yield {"model_version": rater, "result": _results(group)}


def _by_rater(given: Sequence[Given]) -> Iterator[tuple[str, list[Given]]]:
    def key(one: Given) -> str:
        return one.rater

    for rater, group in groupby(sorted(given, key=key), key=key):
        yield rater, list(group)


def _results(given: Sequence[Given]) -> list[dict[str, Any]]:
    results = [
        {
            "id": f"{one.question}-{number}",
            "from_name": one.question,
            "to_name": _SHOWN,
            "type": "choices",
            "value": {"choices": [one.value]},
            "meta": {MARK: _mark(one)},
        }
        for number, one in enumerate(given)
    ]
    reasons = list(dict.fromkeys(one.rationale for one in given if one.rationale))
    if reasons:
        results.append(
            {
                "id": "rationale",
                "from_name": "rationale",
                "to_name": _SHOWN,
                "type": "textarea",
                "value": {"text": reasons},
            }
        )
    return results


def _mark(one: Given) -> dict[str, str]:
    said = {"rater": one.rater, "created_at": one.created_at}
    return said | ({"rationale": one.rationale} if one.rationale else {})


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
