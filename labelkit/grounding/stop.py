"""The signal by which a model says that a task cannot be done with the tools it has.

Strict on purpose: one word on a line of its own in visible text. A refusal in prose is another
finding (a judge's), and a STOP inside a sentence, a quotation or a think block is none. The runner
that ends an episode and the rule that labels it read the signal here, so that they agree.
"""

from __future__ import annotations

import re
from functools import lru_cache

from labelkit.grounding.visible import strip_reasoning

SIGNAL = "STOP"


@lru_cache(maxsize=64)
def _line(token: str) -> re.Pattern[str]:
    """One line that holds the signal alone: marked up or not, a reason may follow a mark.

    A hyphen that runs on into a word makes another word of it: ``STOP-loss`` is no signal.
    """
    word = re.escape(token)
    return re.compile(
        rf"\s*(?:\*\*|`|\[)?{word}(?:\*\*|`|\])?(?:\s*[:.!\u2013\u2014].*|\s*-(?!\w).*|\s+-.*)?\s*"
    )


def stop_line(visible: str, token: str = SIGNAL) -> tuple[int, int] | None:
    """Offsets of the first line of a visible text that is the signal; None without one.

    The word as it is written, alone on its line, plain or marked up; a reason may follow it after
    a colon, a full stop, an exclamation mark or a dash.
    """
    at = visible.find(token)
    while at >= 0:
        start = visible.rfind("\n", 0, at) + 1
        end = visible.find("\n", at)
        end = len(visible) if end < 0 else end
        if _line(token).fullmatch(visible, start, end):
            return start, end
        at = visible.find(token, end)
    return None


def says_stop(text: str | None) -> bool:
    """Whether the visible part of an assistant message holds the signal."""
    return bool(text) and stop_line(strip_reasoning(text or "")) is not None
