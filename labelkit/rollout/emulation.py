"""Tool calling for endpoints without a working tool parser: the call is asked for as JSON.

Small models behind plain servers write calls as text that no parser reads. Here the tools are
described in the system message and the reply is constrained to one action: a call of one of the
tools, or the final answer. In the trace the call is an ordinary one; that it came about this way
is recorded as ``tool_mode: emulated``. The text below is short on purpose (a small model reads it
at some 200 tokens a second), and comes first, so that all tasks of one domain share it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from labelkit.digest import canonical_json
from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import Task, Tool

EMULATION_VERSION = "1"
"""Recorded on every emulated trace. Raise it with any change of the texts below."""

_ANSWER_CHARS = 400
_TEXT_ARGUMENT_CHARS = 60

_HOW = (
    'Reply with one JSON object. To call a tool: {"tool": NAME, "arguments": {...}}. '
    'To answer without a tool: {"answer": TEXT}. '
    "Look up facts and figures with a tool. Answer general questions yourself."
)
_THEN = "Answer the question from this result in one short sentence."


def action_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """Return the JSON schema of one action: a call of one of ``tools``, or the answer."""
    calls = [
        {
            "type": "object",
            "properties": {
                "tool": {"const": tool.name},
                "arguments": _bounded(tool.parameters),
            },
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    answer = {
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": _ANSWER_CHARS}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    return {"anyOf": [*calls, answer]}


def action_messages(task: Task) -> list[dict[str, Any]]:
    """Return the messages that ask for an action: system text and tools first, then the task."""
    systems = [m.content or "" for m in task.messages if m.role == "system"]
    lines = [*systems, "Tools:", *(_signature(tool) for tool in task.tools), _HOW]
    rest = [m for m in task.messages if m.role != "system"]
    return [
        {"role": "system", "content": "\n".join(line for line in lines if line)},
        *({"role": m.role, "content": m.content or ""} for m in rest),
    ]


def result_messages(action: str, results: Sequence[Message]) -> list[dict[str, Any]]:
    """Return what follows an action: the action itself and what the tools gave back.

    Results travel in a user message, because templates that know no tools know no tool role.
    """
    lines = [f"Result of {result.name}: {result.content}" for result in results]
    return [
        {"role": "assistant", "content": action},
        {"role": "user", "content": "\n".join([*lines, _THEN])},
    ]


def read_action(text: str) -> ToolCall | str:
    """Return the call or the answer that a reply holds.

    A reply that holds no action is an answer as it stands: nothing is guessed from it.
    """
    found = _first_object(text)
    if found is None:
        return text
    name, arguments, answer = found.get("tool"), found.get("arguments", {}), found.get("answer")
    if isinstance(name, str) and name:
        written = arguments if isinstance(arguments, str) else canonical_json(arguments)
        return ToolCall(name=name, arguments=written, id="call_1")
    return answer if isinstance(answer, str) else text


def _first_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in a text, with or without a fence or prose around it."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = decoder.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _signature(tool: Tool) -> str:
    """``- name(a: string, b: one|two): description``."""
    properties = tool.parameters.get("properties", {})
    shown = ", ".join(f"{name}: {_kind(about)}" for name, about in properties.items())
    return f"- {tool.name}({shown}): {tool.description}"


def _kind(about: Any) -> str:
    if not isinstance(about, dict):
        return "any"
    if isinstance(about.get("enum"), list):
        return "|".join(str(option) for option in about["enum"])
    return str(about.get("type", "any"))


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """The tool's parameters with bounded texts: a small model that rambles must come to an end."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    bounded = {}
    for name, about in properties.items():
        free = isinstance(about, dict) and about.get("type") == "string"
        if free and not {"enum", "const", "pattern", "maxLength", "format"} & about.keys():
            bounded[name] = {**about, "maxLength": _TEXT_ARGUMENT_CHARS}
        else:
            bounded[name] = about
    return {**schema, "properties": bounded, "additionalProperties": False}
