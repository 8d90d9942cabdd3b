"""Calls that stand in the text instead of the call field.

A server without the right tool parser leaves the model's call in the content. Such text asks for
a call, and nobody ran it: it is an attempt. This module recognises the shapes models are trained
to emit; it never executes anything and never turns an attempt into a call that happened.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from labelkit.grounding.hints import holds_any
from labelkit.grounding.visible import strip_reasoning

_MARKERS = re.compile(
    r"<tool_call>|<function_call>|<functioncall>|<\|tool_call\|>|<\|python_tag\|>|<API_CALL>"
    r"|\[TOOL_CALLS\]|```(?:json|tool_call|tool_code)?[ \t]*\n|<function=(?P<fn>[\w.-]{1,100})>"
    r"|<\|tool_calls?_begin\|>|^[ \t]*Action:[ \t]*"
    r"|^[ \t]*(?=\{[ \t\n]*\"(?:name|tool|function)\")",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = re.compile(r"(?<![\w.])([A-Za-z_][\w.]{0,99})\(([^()]{0,400})\)")
_ARGUMENT = re.compile(r"""\s*(\w{1,60})\s*=\s*("[^"]*"|'[^']*'|[^,]*)\s*(?:,|$)""")
_DECODER = json.JSONDecoder()
_NAME_KEYS = ("name", "tool", "function", "api", "tool_name", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "params", "args", "input", "action_input")
_MOST = 50


def calls_in_text(content: str, tools: Collection[str]) -> list[tuple[str, str]]:
    """Return (name, argument text) of every call-shaped piece of the visible text, in order.

    ``tools`` are the declared names; the plain form ``name(key="value")`` counts only for them,
    because ordinary prose and code are full of it.
    """
    if not holds_any(content, "{(<"):
        return []
    visible = strip_reasoning(content)
    # What follows a marker is a JSON object; only ``<function=name>`` says something without one.
    may_be_marked = "{" in visible or ("<" in visible and "=" in visible)
    found = list(_marked(visible, tools)) if may_be_marked else []
    if not found and any(name + "(" in visible for name in tools):
        named = (m for m in _NAMED.finditer(visible) if m.group(1) in tools)
        read = ((m.group(1), _keywords(m.group(2))) for m in islice(named, _MOST))
        found = [(name, arguments) for name, arguments in read if arguments]
    return found[:_MOST]


def _marked(text: str, tools: Collection[str]) -> Iterator[tuple[str, str]]:
    position = 0
    for marker in islice(_MARKERS.finditer(text), _MOST):
        if marker.start() < position:
            continue
        start = marker.end()
        while start < len(text) and text[start] in " \t\r\n":
            start += 1
        value: Any = None
        if text[start : start + 1] in {"{", "["}:
            try:
                value, position = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError):
                continue
        if marker.group("fn"):
            yield marker.group("fn"), _argument_text(value or {})
            continue
        # Plain JSON is also a way to answer: there the name must be one of the tools.
        plain = not marker.group().strip() or marker.group().startswith("```")
        for call in map(_call_of, value if isinstance(value, list) else [value]):
            if call and (not plain or not tools or call[0] in tools):
                yield call


def _call_of(value: Any) -> tuple[str, str] | None:
    """Read {"name": ..., "arguments": ...} in its known spellings; both keys must be there."""
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = next((value[k] for k in _NAME_KEYS if isinstance(value.get(k), str)), None)
    key = next((k for k in _ARGUMENT_KEYS if isinstance(value.get(k), dict | str)), None)
    if name is None or key is None:
        return None
    return name, _argument_text(value[key])


def _argument_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _keywords(text: str) -> str:
    """Turn ``ticker="X", n=2`` into JSON text; "" when the text is no list of keywords."""
    if not text.strip():
        return "{}"
    arguments: dict[str, Any] = {}
    position = 0
    while position < len(text):
        match = _ARGUMENT.match(text, position)
        if not match:
            return ""
        given = match.group(2).strip()
        quoted = given[:1] in {'"', "'"}
        arguments[match.group(1)] = given[1:-1] if quoted else _scalar(given)
        position = match.end()
    return json.dumps(arguments, ensure_ascii=False)


def _scalar(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
