"""The visible answer: what the model said to its user, with its reasoning taken away.

One function for everybody. If a rule read the think block and a judge did not, they would label
different texts and their disagreement would mean nothing; so rules, judge views and the app all
call this module and no other code strips reasoning. It never looks at ``Message.reasoning``:
that text was never part of the answer.

What counts as reasoning (schemes.md, section 0): closed blocks in any of the tag families below,
a leading part that is ended by a bare closing tag (servers swallow the opening one), and the
channels of the harmony format other than ``final``. A block that is never closed means that the
model was cut while it was thinking: there is no visible answer at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from labelkit.domain.message import Message
from labelkit.grounding.folding import anchored
from labelkit.grounding.hints import ODD_LETTERS, holds_any

# One row per family: what opens a block and what closes it. A block is closed only by its own
# family, so that an answer which talks about another family's tag is left alone.
_FAMILIES = (
    (r"<(?:seed:)?(?:think|thinking|thought|reasoning)(?:\s[^<>]{0,200})?>",
     r"</(?:seed:)?(?:think|thinking|thought|reasoning)\s{0,9}>"),
    (r"\[(?:think|thinking)\]", r"\[/(?:think|thinking)\]"),
    (r"\u25c1think\u25b7", r"\u25c1/think\u25b7"),
    (r"<\|(?:begin_of_thought|start_thinking)\|>", r"<\|(?:end_of_thought|end_thinking)\|>"),
)  # fmt: skip
_TAGS = re.compile(
    "|".join(f"(?P<o{i}>{o})|(?P<c{i}>{c})" for i, (o, c) in enumerate(_FAMILIES)), re.IGNORECASE
)
# Where a tag can begin: a class of characters is found many times faster than the tags themselves.
_TAG_SIGN = re.compile("[<\\[\u25c1](?=[/|tTrRsS\u017f])")
_TAG_WORDS = ("think", "thought", "reasoning")
_BAR_SIGN = re.compile(r"<\|")
_CHANNEL = re.compile(
    r"<\|channel\|>\s{0,9}(?P<name>analysis|commentary|final)\b[^<]{0,200}<\|message\|>",
    re.IGNORECASE,
)
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>", re.IGNORECASE)
_CHANNEL_MARK = "<|channel|>"
_BARE_FINAL = "assistantfinal"


def strip_reasoning(text: str) -> str:
    """Return ``text`` without its reasoning, and without white space around it.

    Linear in the length of ``text``; total over every string. Returns ``""`` when nothing but
    reasoning is there or when a reasoning block was never closed.
    """
    lowered_start = text[:16].lstrip().lower()
    if _CHANNEL_MARK in text:
        text = _final_channel(text)
    elif lowered_start.startswith("analysis") and _BARE_FINAL in text:
        # A server that drops special tokens leaves the bare channel names in the text.
        text = text.rpartition(_BARE_FINAL)[2]
    if not _may_hold_tag(text):
        return text.strip()
    kept: list[str] = []
    position = 0
    inside: str | None = None
    for tag in anchored(_TAG_SIGN, _TAGS, text):
        group = tag.lastgroup or ""
        opens, family = group[0] == "o", group[1:]
        if inside is None and opens:
            kept.append(text[position : tag.start()])
            inside = family
        elif inside is None:
            # A bare closing tag: everything up to here was reasoning.
            kept.clear()
            position = tag.end()
        elif not opens and family == inside:
            inside = None
            position = tag.end()
    if inside is not None:
        return ""
    kept.append(text[position:])
    return "".join(kept).strip()


def _may_hold_tag(text: str) -> bool:
    """Whether a word that every tag holds is there at all; never False where a tag is."""
    lowered = text.lower()
    return holds_any(lowered, _TAG_WORDS) or (not text.isascii() and holds_any(text, ODD_LETTERS))


def _final_channel(text: str) -> str:
    """Return the last ``final`` channel of a harmony text, or nothing when there is none."""
    final = None
    seen = False
    for mark in anchored(_BAR_SIGN, _CHANNEL, text):
        seen = True
        if mark.group("name").lower() == "final":
            final = mark
    if final is None:
        return "" if seen or text.rstrip().endswith(_CHANNEL_MARK) else text
    rest = text[final.end() :]
    end = next(anchored(_BAR_SIGN, _CHANNEL_END, rest), None)
    return rest[: end.start()] if end else rest


def visible_answer(messages: Sequence[Message]) -> str:
    """Return what the last assistant message says visibly, or ``""``.

    The *last assistant message* decides, whatever follows it:

    * it holds only tool calls or no content: there is no answer. An earlier remark such as "let
      me look that up" was made before the result was known and is never taken instead;
    * it holds text beside a tool call: that text is the answer (it is what the user last saw),
      also when a tool message still follows it;
    * there is no assistant message: there is no answer.
    """
    for message in reversed(messages):
        if message.role == "assistant":
            return strip_reasoning(message.content) if message.content else ""
    return ""
