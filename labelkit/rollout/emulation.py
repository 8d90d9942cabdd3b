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
from labelkit.domain.task import Tool
from labelkit.grounding.calls import parse_arguments

EMULATION_VERSION = "2"
"""Recorded on every emulated trace. Raise it with any change of the texts below."""

_ANSWER_CHARS = 400
_TEXT_ARGUMENT_CHARS = 60

_HOW = (
    'Reply with one JSON object. To call a tool: {"tool": NAME, "arguments": {...}}. '
    'To answer without a tool: {"answer": TEXT}. '
    "Look up facts and figures with a tool. Answer general questions yourself."
)
THEN_ANSWER = "Answer the question from this result in one short sentence."
THEN_GO_ON = "Call another tool, or answer."


def action_schema(tools: Sequence[Tool], *, answer: bool = True) -> dict[str, Any]:
    """Return the JSON schema of one action: a call of one of ``tools``, or (``answer``) a text."""
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
    if not answer:
        return {"anyOf": calls}
    said = {
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": _ANSWER_CHARS}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    return {"anyOf": [*calls, said]}


def action_messages(messages: Sequence[Message], tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return what asks for an action: system text and tools first, then the conversation.

    Calls and results that the conversation holds already are told as an earlier action and its
    result: templates that know no tools know no tool role.
    """
    systems = [m.content or "" for m in messages if m.role == "system"]
    lines = [*systems, "Tools:", *tool_lines(tools), _HOW]
    told = [{"role": "system", "content": "\n".join(line for line in lines if line)}]
    for message in messages:
        if message.role == "tool":
            told.append({"role": "user", "content": result_lines([message])})
        elif message.tool_calls:
            told.append({"role": "assistant", "content": _action_text(message.tool_calls[0])})
        elif message.role != "system":
            told.append({"role": message.role, "content": message.content or ""})
    return told


def result_lines(results: Sequence[Message]) -> str:
    """Return what the tools gave back, as a user's message tells it."""
    return "\n".join(f"Result of {result.name}: {result.content}" for result in results)


def tool_lines(tools: Sequence[Tool]) -> list[str]:
    """Return one line per tool: ``- name(a: string, b: one|two): description``."""
    return [_signature(tool) for tool in tools]


def _action_text(call: ToolCall) -> str:
    return canonical_json({"tool": call.name, "arguments": parse_arguments(call.arguments) or {}})


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
