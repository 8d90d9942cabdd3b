"""What in a reply comes from the trace: quotes with their place, and verdicts that are copies.

A quote is evidence only where it is found word for word. A verdict that stands in the trace is not
the judge's: a trace that holds ``{"label": "correct"}`` must not be able to label itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labelkit.domain.label import Evidence
from labelkit.grounding.evidence import resolve_quote
from labelkit.judging.extract import objects_in
from labelkit.judging.form import AnswerForm
from labelkit.judging.shorten import cut_middle, writable

MAX_READ_QUOTES = 16
MAX_TEXT = 20_000
_MAX_INNER = 5000


def echoes(value: dict[str, Any], form: AnswerForm, parts: Mapping[str, str]) -> bool:
    """Whether the same object stands in the shown trace, in any notation or inside another one."""
    for part in parts.values():
        if "{" not in part or not any(field.name in part for field in form.fields):
            continue
        # Inside a JSON string the copy stands with escaped quotes.
        for text in (part, part.replace('\\"', '"')) if '\\"' in part else (part,):
            if any(_holds(found.value, value) for found in objects_in(text, len(text))[0]):
                return True
    return False


def _holds(other: Any, value: dict[str, Any]) -> bool:
    """Whether ``value`` equals ``other`` or an object inside it."""
    pending, left = [other], _MAX_INNER
    while pending and left:
        left -= 1
        one = pending.pop()
        if isinstance(one, dict):
            if len(one) == len(value) and _equal(one, value):
                return True
            pending.extend(one.values())
        elif isinstance(one, list):
            pending.extend(one)
    return False


def _equal(one: dict[str, Any], other: dict[str, Any]) -> bool:
    try:
        return one == other
    except RecursionError:
        return False


def cited(given: Any, parts: Mapping[str, str]) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
    """Give every quote of a reply its place in the shown parts.

    Args:
        given: what the reply holds as evidence: a list of {part, quote}, of strings, or one.
        parts: the shown parts by name.

    Returns:
        The evidence and its flags: ``no_evidence`` (nothing quoted), ``unresolved_quote`` (found
        nowhere), ``misplaced_quote`` (found in another part than the named one).
    """
    evidence: list[Evidence] = []
    flags: list[str] = []
    items = given if isinstance(given, list) else [given]
    for item in items[:MAX_READ_QUOTES]:
        part, quote = (
            (item.get("part"), item.get("quote")) if isinstance(item, dict) else (None, item)
        )
        if not isinstance(quote, str) or not quote.strip():
            continue
        name = part.strip(" <>[]`\"'") if isinstance(part, str) else ""
        place, flag = _place(name, writable(cut_middle(quote, MAX_TEXT)), parts)
        evidence.append(place)
        if flag is not None and flag not in flags:
            flags.append(flag)
    return tuple(evidence), tuple(flags) if evidence else ("no_evidence",)


def _place(name: str, quote: str, parts: Mapping[str, str]) -> tuple[Evidence, str | None]:
    """Find the quote in the named part, else anywhere, else nowhere."""
    if name in parts:
        place = resolve_quote(quote, parts, name)
        if place.resolved:
            return place, None
    # "calls" or "conversation" names a group of parts; no name at all means anywhere.
    place = resolve_quote(quote, parts)
    if place.resolved:
        return place, "misplaced_quote" if name in parts else None
    return Evidence(part=writable(name[:40]), quote=quote), "unresolved_quote"
