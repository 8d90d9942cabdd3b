"""Typed answer keys for task sets that only hold strings.

``"47.5"`` beside a payload with ``pe_ratio: 47.5`` is a number at ``$.pe_ratio``; ``"3.45"`` beside
a market cap of 3450000000000 is that market cap; ``"P/E"`` is a word of the question. The payload
says what a string means; where it says nothing the string stays a text.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any

from labelkit.domain.task import AnswerKey, KeyValue, Reference
from labelkit.grounding.folding import fold_values
from labelkit.grounding.numbers import as_decimal
from labelkit.grounding.payloads import leaves
from labelkit.grounding.times import read_time
from labelkit.grounding.values import Value, scan

_BOOLEAN = {"true": True, "false": False}
_KEPT = 512
_derived: OrderedDict[int, tuple[Reference, AnswerKey]] = OrderedDict()
_ENUM = re.compile(r"[A-Za-z]+(?:[_-][A-Za-z]+)*")


def derive_key(reference: Reference) -> AnswerKey:
    """Return the reference's typed key, or derive one from its strings and its payload."""
    if reference.answer_key is not None:
        return reference.answer_key
    known = _derived.get(id(reference))
    if known is not None:
        return known[1]
    found = leaves(reference.payload) if reference.payload is not None else []
    values = tuple(_typed(text, found) for text in reference.must_contain if text.strip())
    key = AnswerKey(mode=reference.match_mode, values=values)
    # The reference is held as long as its key: no other object can come to stand at its address.
    _derived[id(reference)] = reference, key
    if len(_derived) > _KEPT:
        _derived.popitem(last=False)
    return key


def _typed(text: str, found: list[tuple[str, Any]]) -> KeyValue:
    folded = fold_values(text).text.strip()
    if folded.lower() in _BOOLEAN:
        for place, leaf in found:
            if leaf is _BOOLEAN[folded.lower()]:
                return KeyValue(type="boolean", value=leaf, path=place)
    values = scan(folded)
    if len(values) == 1 and values[0].start == 0 and values[0].end >= len(folded):
        typed = _typed_value(folded, values[0], found)
        if typed is not None:
            return typed
    path = _path_of_text(folded, found)
    exact = any(p == path and str(leaf).strip().lower() == folded.lower() for p, leaf in found)
    if exact and _ENUM.fullmatch(folded):
        return KeyValue(type="enum", value=text, path=path)
    return KeyValue(type="text", value=text, path=path)


def _typed_value(text: str, value: Value, found: list[tuple[str, Any]]) -> KeyValue | None:
    path = _path_of_text(text, found)
    if value.kind == "datetime" and read_time(text):
        return KeyValue(type="datetime", value=text, path=path)
    if value.kind == "citation" and value.canonical.startswith("section "):
        return KeyValue(type="citation", value=text, path=path)
    if value.kind == "number" and value.readings:
        exact = _path_of_number(value, found)
        if exact:
            return KeyValue(type="number", value=exact[1], path=exact[0])
        stated = value.unscaled[0].value
        unit = value.currency or value.unit
        return KeyValue(type="number", value=str(stated), path=None, unit=unit)
    return None


def _path_of_number(value: Value, found: list[tuple[str, Any]]) -> tuple[str, Any] | None:
    wanted = {r.value for r in (*value.readings, *value.unscaled)}
    numbers = [(p, leaf, as_decimal(leaf)) for p, leaf in found if not isinstance(leaf, str)]
    for path, leaf, number in numbers:
        if number in wanted:
            return path, leaf
    # 3.45 for 3450000000000: the same digits, written in thousands, millions, ...
    for path, leaf, number in numbers:
        if number is not None and any(
            number.scaleb(-shift) in wanted for shift in (3, 6, 9, 12, -2)
        ):
            return path, leaf
    return None


def _path_of_text(text: str, found: list[tuple[str, Any]]) -> str | None:
    lowered = text.lower()
    for path, leaf in found:
        if isinstance(leaf, str) and lowered in fold_values(leaf).text.lower():
            return path
    return None
