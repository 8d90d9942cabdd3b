"""The declared shortening policy, and the few characters that no request can carry.

A judge that saw half a payload must say so. Whatever is left out here is counted in a marker at
the place of the cut and named in the view, never dropped silently. Everything is deterministic,
and a text is cut before any other work is done on it, so that 5 MB cost as little as 5 kB.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

TOTAL_CHARS = 60_000
"""Default cap on all shown parts of one trace together, in characters."""

MAX_ITEMS = 200
"""Most messages or calls shown one by one; more are left out from the middle."""

_LONE = re.compile("[\ud800-\udfff]")
NUL_SHOWN = "\u2400"
LONE_SHOWN = "\ufffd"


def cut_middle(text: str, limit: int) -> str:
    """Return ``text`` with at most about ``limit`` characters, the middle left out.

    Head and tail keep equal shares, because answers open with the claim and payloads often close
    with the status. The marker says how many characters are missing; where ``limit`` is too small
    for marker and text, half of it still goes to the text.
    """
    if len(text) <= limit:
        return text
    marker_room = len(_marker(len(text)))
    kept = max(limit - marker_room, limit // 2, 0)
    head = (kept + 1) // 2
    tail = kept - head
    end = text[len(text) - tail :] if tail else ""
    return f"{text[:head]}{_marker(len(text) - kept)}{end}"


def _marker(left_out: int) -> str:
    return f"\n[... {left_out} characters left out here ...]\n"


def level(lengths: Sequence[int], total: int) -> int | None:
    """Return the one cap for every part that makes the parts fit ``total``, or None if they do.

    The longest parts give first: short parts stay whole and all cut parts end equally long.
    """
    if sum(lengths) <= total:
        return None
    room, left = total, len(lengths)
    for length in sorted(lengths):
        share = room // left
        if length > share:
            return share
        room -= length
        left -= 1
    return None


def writable(text: str) -> str:
    """Return ``text`` with NUL and lone surrogates made visible, character for character.

    Neither can travel in a JSON request to every server. The length does not change, so offsets
    into the shown text are offsets into the original.
    """
    if "\0" in text:
        text = text.replace("\0", NUL_SHOWN)
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _LONE.sub(LONE_SHOWN, text)
    return text
