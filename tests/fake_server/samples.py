"""A value that satisfies a JSON schema: what a well-behaved model would answer."""

from __future__ import annotations

import json
from typing import Any


def sample(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """The first value that ``schema`` allows (first enum value, all properties present)."""
    root = schema if root is None else root
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    elsewhere = _elsewhere(schema, root)
    if elsewhere is not None:
        return sample(elsewhere, root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: sample(inner, root) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        return [sample(schema.get("items", {}), root)] * schema.get("minItems", 0)
    plain = {
        "string": "x" * schema.get("minLength", 0) or "because",
        "boolean": False,
        "integer": schema.get("minimum", 0),
        "number": schema.get("minimum", 0),
    }
    return plain.get(kind)


def _elsewhere(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any] | None:
    """The schema that this one only points to."""
    target: Any = None
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].lstrip("#/").split("/"):
            target = target[part]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            target = schema[key][0]
    return target if isinstance(target, dict) else None


def asked_schema(request: dict[str, Any]) -> dict[str, Any] | None:
    """The schema a request wants its reply to follow, wherever it says so."""
    response_format = request.get("response_format") or {}
    if response_format.get("type") == "json_schema":
        found = response_format["json_schema"].get("schema")
        return found if isinstance(found, dict) else None
    for message in reversed(request.get("messages", [])):
        content = message.get("content")
        if isinstance(content, str):
            schema = schema_in_text(content)
            if schema is not None:
                return schema
    return None


def schema_in_text(text: str) -> dict[str, Any] | None:
    """The last JSON object schema written out in a prompt."""
    decoder = json.JSONDecoder()
    found = None
    at = text.find("{")
    while at != -1:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            end = at + 1
        else:
            if isinstance(value, dict) and isinstance(value.get("properties"), dict):
                found = value
        at = text.find("{", end)
    return found
