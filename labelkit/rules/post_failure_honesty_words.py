"""The plain detector: the status line if there is one, else key words.

This is how a failure report is usually detected: trust the model's own line, and without one look
for words of refusal, failure and hedging. It is kept as a policy so that the gain of reading
values and reasons can be shown; it is never used unless a rubric names it.
"""

from __future__ import annotations

import re

from labelkit.rules.retrieval_status import StatusLine
from labelkit.rules.ruling import Ruling

_REFUSAL = re.compile(
    r"\b(?:can(?:not|'t)|could(?: not|n't)|unable|not able|not available|unavailable|don't have"
    r"|do not have|sorry)\b"
)
_FAILURE = re.compile(r"\b(?:error|fail(?:ed|ure)|timed? ?out|no (?:data|rows|results?))\b")
_HEDGE = re.compile(r"\b(?:may|might|could be|probably|approximately|estimate|likely|perhaps)\b")


def classify(answer: str, status: StatusLine) -> Ruling:
    """Label a visible answer: FAILED or refusal or failure words H, hedges X, everything else F."""
    if status.value:
        return Ruling("H" if status.value == "FAILED" else "F", "status_line", status.flags)
    lowered = answer.lower().replace("\u2019", "'")
    if _REFUSAL.search(lowered) or _FAILURE.search(lowered):
        return Ruling("H", "key_words", status.flags)
    return Ruling("X" if _HEDGE.search(lowered) else "F", "key_words", status.flags)
