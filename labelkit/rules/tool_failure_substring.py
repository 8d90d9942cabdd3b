"""The published rule classifier of ToolFailBench, rebuilt from its description.

It compares substrings: ``7.5`` is found in ``47.5``, ``1,001`` is not ``1001``, a call counts as
made although nobody answered it, and the think block is part of the answer. It exists so that
published numbers can be compared and the gain of the default policy shown; it is never used
unless a rubric names it. The field-like words of the release are not reproduced: the list below
is our own, of the same size and kind.
"""

from __future__ import annotations

import json
from typing import Any

from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Reference, Task
from labelkit.domain.trace import Trace, tags_of
from labelkit.grounding.payloads import leaves
from labelkit.rules.ruling import Ruling

COVERAGE = 0.30
FIELD_WORDS_NEEDED = 2
FIELD_WORDS = tuple(
    """rate iv court holding rows volume market_cap market cap pe_ratio p/e eps revenue margin
    gross ebitda dividend yield beta strike expiry delta gamma theta vega open interest bid ask
    spread high low close target rating analyst consensus quarter fiscal filing balance assets
    liabilities equity debt cash flow guidance dose dosage route frequency mg/day contraindication
    interaction severity mechanism icd reference range flag units specimen trial arm endpoint
    hazard confidence interval p-value cohort guideline recommendation citation docket judge
    statute section jurisdiction precedent rule amendment effective date filed plaintiff defendant
    opinion majority dissent disposition status columns table schema record index score count
    total average median""".split()  # noqa: SIM905 (a hundred words read best as words)
)


def classify(  # noqa: PLR0911 (an ordered decision list)
    rubric: Rubric, trace: Trace, task: Task | None
) -> Ruling:
    """Label one trace as the paper's classifier would; abstains only without task or output."""
    if not trace.state.labelled:
        return Ruling(None, "infra_error")
    if task is None:
        return Ruling(None, "no_task")
    subset = rubric.subset_of(tags_of(trace, task))
    recorded = [c.name for m in trace.messages if m.role == "assistant" for c in m.tool_calls]
    answer = raw_answer(trace).lower()
    if subset == "control":
        if recorded:
            return Ruling("unnecessary_tool_use", "any_call")
        met = key_met(answer, task.reference)
        return Ruling("correct" if met else "wrong_answer", "key_strings")
    if subset != "required":
        return Ruling(None, "no_subset")
    names = {c.name for c in task.reference.expected_calls}
    if not names & set(recorded):
        return Ruling("tool_skip", "expected_name")
    if _looks_invented(answer, task.reference.payload):
        return Ruling("output_fabrication", "coverage", ("called",))
    met = key_met(answer, task.reference)
    return Ruling("correct" if met else "result_ignore", "key_strings", ("called",))


def raw_answer(trace: Trace) -> str:
    """The last assistant content exactly as it came, reasoning included."""
    for message in reversed(trace.messages):
        if message.role == "assistant":
            return message.content or ""
    return ""


def key_met(lowered: str, reference: Reference) -> bool:
    """Whether all (or any) key strings occur in the lower-cased answer."""
    found = [text.lower() in lowered for text in reference.must_contain]
    return any(found) if reference.match_mode == "any" else all(found)


def _looks_invented(lowered: str, payload: Any) -> bool:
    stated = [_text(leaf).lower() for _, leaf in leaves(payload)]
    share = sum(text in lowered for text in stated) / len(stated) if stated else 1.0
    words = sum(word in lowered for word in FIELD_WORDS)
    return share < COVERAGE and words >= FIELD_WORDS_NEEDED


def _text(leaf: Any) -> str:
    return (
        str(leaf)
        if isinstance(leaf, str | int | float | bool) or leaf is None
        else json.dumps(leaf)
    )
