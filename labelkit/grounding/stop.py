"""The signal by which a model says that a task cannot be done with the tools it has.

Strict on purpose: one word on a line of its own in visible text. A refusal in prose is another
finding (a judge's), and a STOP inside a sentence, a quotation or a think block is none.
"""

from __future__ import annotations

import re

from labelkit.grounding.visible import strip_reasoning

_STOP = re.compile(
    r"^[ \t>]*(?:\*\*|`|\[)?STOP(?:\*\*|`|\])?(?:[ \t]*[:.!\u2013\u2014].*"
    r"|[ \t]*-(?!\w).*)?[ \t]*\r?$",
    re.MULTILINE,
)


def says_stop(text: str | None) -> bool:
    """Whether the visible part of an assistant message holds the signal.

    Upper case, alone on its line, plain or marked up; a reason may follow it after a colon, a
    full stop or a dash.
    """
    return bool(text) and _STOP.search(strip_reasoning(text or "")) is not None
