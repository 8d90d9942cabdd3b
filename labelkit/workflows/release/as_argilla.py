"""Items as records of Argilla 2: people's labels as responses, one machine's as suggestions.

A record has one suggestion per question, so the labels of one machine only find a place; a
response holds no rationale. Both are counted. Argilla takes responses in from users it knows: the
annotators' names stand where it expects the ids of its users.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from labelkit.domain.trace import Trace
from labelkit.workflows.release.exchange import Given, Writer, conversation, facts


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
                answer = {"value": one.value, "user_id": one.rater}
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
            "fields": {"conversation": conversation(trace, "content")},
        }
        return row, held

    return write
