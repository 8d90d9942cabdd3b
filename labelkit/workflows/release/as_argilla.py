"""Items as records of Argilla 2: people's labels as responses, one machine's as suggestions.

A record has one suggestion per question, so the labels of one machine only find a place; a
response holds no rationale. Both are counted. Argilla takes responses in from users it knows by
id: a pseudonym has an id of its own (``formats.argilla.user_id_of``), so whoever wants the
responses in makes users with those ids first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from labelkit.domain.rubric import Question, Rubric
from labelkit.domain.trace import Trace
from labelkit.formats.argilla import user_id_of
from labelkit.printable import printable
from labelkit.workflows.release.exchange import Given, Writer, asked_of, conversation, facts

_SHOWN = "conversation"


def argilla_record(suggesting: str | None) -> Writer:
    """Return the writer of records that suggest the labels of the machine ``suggesting``.

    None takes for every record the first machine by name.
    """

    def write(
        trace: Trace, given: Sequence[Given], left_out: Counter[str]
    ) -> tuple[dict[str, Any], int]:
        machines = sorted({one.rater for one in given if one.kind != "person"})
        chosen = suggesting if suggesting is not None else next(iter(machines), None)
        responses: dict[str, list[dict[str, str]]] = {}
        suggestions: dict[str, dict[str, Any]] = {}
        for one in given:
            if one.kind == "person":
                # Without a status Argilla takes a response for a draft.
                answer = {
                    "value": one.value,
                    "user_id": user_id_of(one.rater),
                    "status": "submitted",
                }
                responses.setdefault(one.question, []).append(answer)
            elif one.rater == chosen:
                suggestions[one.question] = {
                    "value": one.value,
                    "score": None,
                    "agent": one.rater,
                }
            else:
                left_out["labels of further machines"] += 1
                continue
            left_out["rationales"] += one.rationale is not None
        held = len(suggestions) + sum(map(len, responses.values()))
        row = {
            "id": trace.digest,
            "status": "completed" if responses else "pending",
            # The short keys come first: whoever looks at the head of the file sees what it is.
            "responses": responses,
            "suggestions": suggestions,
            "metadata": facts(trace),
            "vectors": {},
            "fields": {_SHOWN: conversation(trace, "content")},
        }
        return row, held

    return write


def argilla_settings(rubric: Rubric) -> dict[str, Any]:
    """Return the settings of a data set for such records, as ``rg.Settings.from_json`` reads them.

    The guideline is that of the rubric; every question asks for one label.
    """
    chat = {
        "name": _SHOWN,
        "title": "Conversation",
        "required": True,
        "settings": {"type": "chat", "use_markdown": False},
    }
    return {
        "guidelines": printable(rubric.guideline, keep="\n\t") or None,
        "fields": [chat],
        "questions": [_question(question) for question in asked_of(rubric)],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }


def _question(question: Question) -> dict[str, Any]:
    options = [
        {"value": label.name, "text": printable(label.title or label.name)}
        for label in question.labels
    ]
    return {
        "name": question.id,
        "title": printable(question.text),
        "description": None,
        "required": True,
        "settings": {"type": "label_selection", "options": options, "visible_options": None},
    }
