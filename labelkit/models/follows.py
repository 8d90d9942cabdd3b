"""Does a value follow a JSON schema? Enough of the standard to check what a probe asked for.

The probe needs a yes or no about schemas that labelkit itself writes, so this knows their
vocabulary (type, enum, const, properties, required, additionalProperties, items, sizes, anyOf,
oneOf, allOf, local $ref). A keyword it does not know restricts nothing.
"""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def follows(schema: dict[str, Any], value: Any) -> bool:
    """Return whether ``value`` follows ``schema``."""
    return _follows(schema, value, schema)


def _follows(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    if "$ref" in schema:
        return _follows(_resolve(schema["$ref"], root), value, root)
    if "const" in schema and not _same(schema["const"], value):
        return False
    if "enum" in schema and not any(_same(one, value) for one in schema["enum"]):
        return False
    kinds = schema.get("type")
    if kinds is not None:
        names = kinds if isinstance(kinds, list) else [kinds]
        if not any(_is(name, value) for name in names):
            return False
    return (
        _combines(schema, value, root)
        and _sizes(schema, value)
        and _object(schema, value, root)
        and _array(schema, value, root)
    )


def _is(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES.get(name, (object,)))


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _resolve(reference: str, root: dict[str, Any]) -> dict[str, Any]:
    target: Any = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        if part:
            target = target[part.replace("~1", "/").replace("~0", "~")]
    return target if isinstance(target, dict) else {}


def _combines(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    if "allOf" in schema and not all(_follows(one, value, root) for one in schema["allOf"]):
        return False
    if "anyOf" in schema and not any(_follows(one, value, root) for one in schema["anyOf"]):
        return False
    if "oneOf" in schema:
        return sum(_follows(one, value, root) for one in schema["oneOf"]) == 1
    return True


def _sizes(schema: dict[str, Any], value: Any) -> bool:
    if isinstance(value, str | list):
        unit = "Length" if isinstance(value, str) else "Items"
        least, most = schema.get(f"min{unit}", 0), schema.get(f"max{unit}")
        return len(value) >= least and (most is None or len(value) <= most)
    if isinstance(value, int | float):
        low, high = schema.get("minimum"), schema.get("maximum")
        return (low is None or value >= low) and (high is None or value <= high)
    return True


def _object(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    if not isinstance(value, dict):
        return True
    if any(name not in value for name in schema.get("required", ())):
        return False
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for name, inner in value.items():
        if name in properties:
            if not _follows(properties[name], inner, root):
                return False
        elif not _allows_others(others, inner, root):
            return False
    return True


def _allows_others(others: Any, value: Any, root: dict[str, Any]) -> bool:
    return _follows(others, value, root) if isinstance(others, dict) else bool(others)


def _array(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    items = schema.get("items")
    if not isinstance(value, list) or not isinstance(items, dict):
        return True
    return all(_follows(items, one, root) for one in value)
