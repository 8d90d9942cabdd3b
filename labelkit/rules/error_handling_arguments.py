"""Do two sets of arguments ask a tool for the same thing? By the tool's declared schema.

Values are compared as the schema types them: ``"58"`` is the integer 58, a default that is spelled
out is a default that is left out, null is left out too, the order of keys means nothing. The order
of a list does, unless the schema says ``order_independent`` or ``uniqueItems``. Texts are equal
letter for letter, but for white space at their ends. Nothing here is lenient about meaning.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from labelkit.domain.task import Tool
from labelkit.grounding.times import When, read_time

Schema = Mapping[str, Any]

_MISSING = object()
_NUMBERS = frozenset({"integer", "number"})
_TIMES = frozenset({"date", "time", "date-time"})
_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d))?(?:\.0+)?\s?(Z|[+-]00:?00)?", re.IGNORECASE
)
_LONGEST_NUMBER = 60


def same_arguments(gold: Schema, given: Schema, tool: Tool | None) -> bool:
    """Whether ``given`` asks for what ``gold`` asks for.

    Args:
        gold: the author's arguments.
        given: the arguments of a call.
        tool: the declared tool; without one the gold's own types decide.

    A parameter that neither the schema nor the gold knows makes a difference.
    """
    schema = tool.parameters if tool is not None else {}
    return _same_object(gold, given, schema)


def _same_object(gold: Schema, given: Schema, schema: Schema) -> bool:
    declared = schema.get("properties")
    properties: Schema = declared if isinstance(declared, Mapping) else {}
    names = {*gold, *given, *properties}
    return all(_same_parameter(name, gold, given, properties) for name in names)


def _same_parameter(name: str, gold: Schema, given: Schema, properties: Schema) -> bool:
    found = properties.get(name)
    schema: Schema = found if isinstance(found, Mapping) else {}
    default = schema.get("default", _MISSING)
    wanted, stated = _filled(gold.get(name), default), _filled(given.get(name), default)
    if wanted is _MISSING or stated is _MISSING:
        return wanted is stated
    return same_value(wanted, stated, schema)


def _filled(value: Any, default: Any) -> Any:
    if value is not None:
        return value
    return _MISSING if default is None else default


def same_value(gold: Any, given: Any, schema: Schema) -> bool:
    """Whether two values of one parameter are the same under its schema."""
    kind = _kind(schema, gold)
    if kind in _NUMBERS:
        first, second = _number(gold), _number(given)
        return first is not None and first == second
    if kind == "boolean":
        return _boolean(gold) is not None and _boolean(gold) is _boolean(given)
    if kind == "array":
        return _same_list(_read(gold, list), _read(given, list), schema)
    if kind == "object":
        first, second = _read(gold, dict), _read(given, dict)
        return first is not None and second is not None and _same_object(first, second, schema)
    return _same_text(gold, given, schema)


def _kind(schema: Schema, gold: Any) -> str:
    """The type that decides: the declared one, or the gold value's own."""
    declared = schema.get("type")
    if isinstance(declared, Sequence) and not isinstance(declared, str):
        declared = next((kind for kind in declared if kind != "null"), None)
    if isinstance(declared, str):
        return {"int": "integer", "float": "number", "bool": "boolean", "list": "array",
                "dict": "object", "str": "string"}.get(declared, declared)  # fmt: skip
    if isinstance(gold, bool):
        return "boolean"
    if isinstance(gold, int | float):
        return "number"
    if isinstance(gold, list | tuple):
        return "array"
    return "object" if isinstance(gold, dict) else "string"


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    text = str(value).strip()
    if len(text) > _LONGEST_NUMBER or not text.isascii() or "_" in text:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _boolean(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    said = value.strip().lower() if isinstance(value, str) else ""
    return {"true": True, "false": False}.get(said)


def _read(value: Any, kind: type[Any]) -> Any:
    """A list or object, also one that was handed over as JSON text; None where it is neither."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, kind) else None


def _same_list(gold: list[Any] | None, given: list[Any] | None, schema: Schema) -> bool:
    if gold is None or given is None:
        return False
    found = schema.get("items")
    items: Schema = found if isinstance(found, Mapping) else {}
    if not (schema.get("order_independent") or schema.get("uniqueItems")):
        return len(gold) == len(given) and all(
            same_value(g, v, items) for g, v in zip(gold, given, strict=True)
        )
    if schema.get("uniqueItems"):
        return _covers(gold, given, items) and _covers(given, gold, items)
    if len(gold) != len(given):
        return False
    left = list(given)
    for wanted in gold:
        place = next((i for i, value in enumerate(left) if same_value(wanted, value, items)), None)
        if place is None:
            return False
        del left[place]
    return True


def _covers(these: list[Any], those: list[Any], items: Schema) -> bool:
    return all(any(same_value(one, other, items) for other in those) for one in these)


def _same_text(gold: Any, given: Any, schema: Schema) -> bool:
    first, second = _text(gold), _text(given)
    if first == second:
        return True
    if first is None or second is None:
        return False
    if schema.get("format") in _TIMES:
        return _same_time(read_time(first), read_time(second))
    moment = _moment(first)
    return moment is not None and moment == _moment(second)


def _same_time(one: When | None, other: When | None) -> bool:
    """Whether both state the same parts of the same moment; zones count where both have one."""
    if one is None or other is None or (one.zone is None) is not (other.zone is None):
        return False
    if one.zone is not None and (instant := one.instant()) is not None:
        return instant == other.instant()
    return [p or 0 for p in _parts(one)] == [p or 0 for p in _parts(other)] and (
        [p is None for p in _parts(one)[:5]] == [p is None for p in _parts(other)[:5]]
    )


def _parts(when: When) -> tuple[int | None, ...]:
    return when.year, when.month, when.day, when.hour, when.minute, when.second


def _text(value: Any) -> str | None:
    """A scalar as text: a number that stands for an id is that id."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value).strip()
    if isinstance(value, bool) or value is None or isinstance(value, list | dict | tuple):
        return None
    return str(value)


def _moment(text: str) -> tuple[str, str, str, bool] | None:
    """An ISO moment without its spelling: ``T`` or a space, seconds or none."""
    found = _MOMENT.fullmatch(text)
    if not found:
        return None
    return found[1], found[2], found[3] or "00", found[4] is not None
