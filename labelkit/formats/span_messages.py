"""What one telemetry span says about a model call, by any of the conventions in use.

OpenTelemetry's GenAI convention (messages of parts as JSON; before that indexed
``gen_ai.prompt.0.role``; before that one event per message) and OpenInference
(``llm.input_messages.0.message.role``). Attribute keys are dotted, lists are indexed, values may
be JSON inside text. This module turns them into one ``Generation``; it knows no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labelkit.domain.message import Message
from labelkit.formats.dialects import read_any_usage, read_logged
from labelkit.formats.generations import Generation
from labelkit.formats.langfuse import finish_reason_of, logged_input, unwrapped
from labelkit.formats.reader import Notes
from labelkit.formats.semconv import read_logged_message

_KIND = "openinference.span.kind"
_OPERATION = "gen_ai.operation.name"
_LLM_OPERATIONS = frozenset({"chat", "text_completion", "generate_content"})
_INPUTS = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt")
_OUTPUTS = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion")
_MODELS = (
    "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "llm.model", "model_name",
)  # fmt: skip
_EVENTS = frozenset({
    "gen_ai.system.message", "gen_ai.user.message", "gen_ai.assistant.message",
    "gen_ai.tool.message",
})  # fmt: skip
_MOST_ITEMS = 100_000

Attributes = Mapping[str, Any]


def nested(attributes: Attributes) -> dict[str, Any]:
    """Return dotted keys as nested objects, and objects whose keys are 0, 1, 2... as lists."""
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        place = tree
        *above, last = key.split(".")
        for part in above:
            inner = place.setdefault(part, {})
            if not isinstance(inner, dict):
                inner = place[part] = {"": inner}
            place = inner
        kept = place.get(last)
        if isinstance(kept, dict) and isinstance(value, dict):
            kept |= value
        elif isinstance(kept, dict):
            kept[""] = value
        else:
            place[last] = value
    return {key: _listed(value) for key, value in tree.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inner = {key: _listed(entry) for key, entry in value.items()}
    if inner and all(key.isdecimal() and len(key) < 7 for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def _at(tree: dict[str, Any], path: str) -> Any:
    value: Any = tree
    for part in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def is_model_call(attributes: Attributes) -> bool:
    """Whether a span is a request to a model (and no embedding, agent, chain or tool)."""
    kind = attributes.get(_KIND)
    if isinstance(kind, str):
        return kind.upper() == "LLM"
    operation = attributes.get(_OPERATION)
    if isinstance(operation, str) and operation in _LLM_OPERATIONS:
        return True
    return not isinstance(operation, str) and any(key.startswith(_INPUTS) for key in attributes)


def is_tool_run(attributes: Attributes) -> bool:
    """Whether a span is one tool at work."""
    kind = attributes.get(_KIND)
    tool = isinstance(kind, str) and kind.upper() == "TOOL"
    return tool or attributes.get(_OPERATION) == "execute_tool"


def read_model_call(span: dict[str, Any], notes: Notes) -> Generation:
    """Return the request and reply of a span.

    Args:
        span: ``{id, parent, name, start, attributes, events, error}``, attributes flat.
        notes: where findings go.

    Raises:
        BrokenRecordError: a message in it is damaged.
    """
    attributes = span["attributes"]
    tree = nested(attributes)
    events = _events(span["events"], tree)
    asked, unread = _input(tree, events, notes)
    said = _output(tree, events, notes)
    finish = _at(tree, "gen_ai.response.finish_reasons")
    finish = unwrapped(finish)
    reasons = finish if isinstance(finish, list) else [finish]
    return Generation(
        id=span["id"],
        start=span["start"],
        parent=span["parent"],
        name=span["name"],
        model=next((m for key in _MODELS if isinstance(m := attributes.get(key), str)), None),
        input=asked,
        output=said,
        usage=read_any_usage(_usage(tree)),
        finish_reason=next(
            (r for r in reasons if isinstance(r, str)),
            finish_reason_of(unwrapped(_at(tree, "output.value"))),
        ),
        error=span["error"],
        unread=unread,
    )


def read_tool_run(span: dict[str, Any], notes: Notes) -> Generation:
    """Return a tool's result; see ``read_model_call``."""
    attributes = span["attributes"]
    name = attributes.get("tool.name", attributes.get("gen_ai.tool.name", span["name"]))
    result = attributes.get("output.value", attributes.get("gen_ai.tool.call.result"))
    said = read_logged(unwrapped(result), "tool", notes)
    message = said[0].model_copy(update={"role": "tool"}) if said else Message(role="tool")
    return Generation(
        id=span["id"],
        start=span["start"],
        parent=span["parent"],
        name=span["name"],
        tool=str(name),
        output=(message,),
    )


def _usage(tree: dict[str, Any]) -> dict[str, Any]:
    """Return token counts under the names that providers use; text becomes a number."""
    counted = _at(tree, "gen_ai.usage")
    found = dict(counted) if isinstance(counted, dict) else {}
    openinference = _at(tree, "llm.token_count")
    if isinstance(openinference, dict):
        found |= {
            "prompt_tokens": openinference.get("prompt"),
            "completion_tokens": openinference.get("completion"),
        }
    return {
        key: int(value) if isinstance(value, str) and value.isdecimal() else value
        for key, value in found.items()
    }


def _events(events: Iterable[Any], tree: dict[str, Any]) -> list[dict[str, Any]]:
    """Return message events: the span's own, else those in an ``events`` attribute."""
    found = []
    for event in events:
        if isinstance(event, dict):
            body = event.get("attributes")
            inner = dict(body) if isinstance(body, dict) else {}
            found.append({"event.name": event.get("name")} | inner)
    listed = unwrapped(_at(tree, "events"))
    if not found and isinstance(listed, list):
        found = [entry for entry in listed if isinstance(entry, dict)]
    return found


def _input(
    tree: dict[str, Any], events: list[dict[str, Any]], notes: Notes
) -> tuple[tuple[Message, ...], bool]:
    system = unwrapped(_at(tree, "gen_ai.system_instructions"))
    before = (
        read_logged_message({"role": "system", "parts": system}, notes)
        if isinstance(system, list)
        else []
    )
    for path in _INPUTS:
        messages = _messages(unwrapped(_at(tree, path)), notes)
        if messages:
            return (*before, *messages), False
    told = [_event_message(event) for event in events if event.get("event.name") in _EVENTS]
    if told:
        return tuple(m for entry in told for m in read_logged_message(entry, notes)), False
    value = unwrapped(_at(tree, "input.value"))
    return ((), False) if value is None else logged_input(value, notes)


def _output(
    tree: dict[str, Any], events: list[dict[str, Any]], notes: Notes
) -> tuple[Message, ...]:
    for path in _OUTPUTS:
        messages = _messages(unwrapped(_at(tree, path)), notes)
        if messages:
            return messages
    for event in events:
        if event.get("event.name") == "gen_ai.choice":
            entry = {"role": "assistant"} | _event_message(event)
            return tuple(read_logged_message(entry, notes))
    return read_logged(unwrapped(_at(tree, "output.value")), "assistant", notes)


def _messages(value: Any, notes: Notes) -> tuple[Message, ...]:
    """Return messages of a list in either convention; OpenInference wraps each in ``message``."""
    if not isinstance(value, list):
        return ()
    return tuple(
        message
        for entry in value[:_MOST_ITEMS]
        if isinstance(entry, dict)
        for message in read_logged_message(_unfolded(entry), notes)
    )


def _event_message(event: dict[str, Any]) -> dict[str, Any]:
    """Return the message of an event: its role is in its name, its parts may be JSON."""
    name = str(event.get("event.name") or "")
    role = name.removeprefix("gen_ai.").removesuffix(".message")
    entry = {key: unwrapped(value) for key, value in event.items()}
    if isinstance(entry.get("id"), str) and role == "tool":
        entry["tool_call_id"] = entry.pop("id")
    return ({"role": role} if role in {"system", "user", "assistant", "tool"} else {}) | entry


def _unfolded(entry: dict[str, Any]) -> dict[str, Any]:
    """Write an indexed message the way chats do."""
    raw = entry["message"] if isinstance(entry.get("message"), dict) else entry
    made = dict(raw)
    calls = made.get("tool_calls")
    if isinstance(calls, list):
        made["tool_calls"] = [_unfolded_call(call) for call in calls]
    contents = made.pop("contents", None)
    if isinstance(contents, list) and "content" not in made:
        made["content"] = [_unfolded_part(part) for part in contents]
    return made


def _unfolded_call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    inner = call["tool_call"] if isinstance(call.get("tool_call"), dict) else call
    if isinstance(inner.get("function"), dict):
        return {"type": "function"} | inner
    function = {"name": inner.get("name"), "arguments": inner.get("arguments")}
    return {"id": inner.get("id"), "type": "function", "function": function}


def _unfolded_part(part: Any) -> Any:
    inner = part.get("message_content") if isinstance(part, dict) else None
    return inner if isinstance(inner, dict) else part
