"""The probe's yes or no about a schema."""

from __future__ import annotations

from typing import Any

import pytest

from labelkit.models.follows import follows
from tests.fake_server.samples import sample
from tests.models.asking import SCHEMA, VERDICT

NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spans": {"type": "array", "items": {"$ref": "#/$defs/span"}, "minItems": 1, "maxItems": 2},
        "sure": {"type": ["boolean", "null"]},
        "score": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 5}, {"type": "null"}]},
    },
    "required": ["spans"],
    "$defs": {"span": {"type": "object", "properties": {"quote": {"type": "string"}}}},
}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (SCHEMA, VERDICT, True),
        (SCHEMA, {"label": "right"}, False),
        (SCHEMA, {**VERDICT, "label": "Right"}, False),
        (SCHEMA, {**VERDICT, "more": 1}, False),
        (SCHEMA, [], False),
        (SCHEMA, None, False),
        (NESTED, {"spans": [{"quote": "a"}]}, True),
        (NESTED, {"spans": []}, False),
        (NESTED, {"spans": [{}, {}, {}]}, False),
        (NESTED, {"spans": [{"quote": 1}]}, False),
        (NESTED, {"spans": [{}], "sure": None}, True),
        (NESTED, {"spans": [{}], "sure": "yes"}, False),
        (NESTED, {"spans": [{}], "score": 5}, True),
        (NESTED, {"spans": [{}], "score": 6}, False),
        (NESTED, {"spans": [{}], "score": True}, False),
        ({"const": 1}, True, False),
        ({"type": "integer"}, 2.0, True),
        ({"type": "integer"}, 2.5, False),
        ({"type": "number"}, False, False),
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, 1, False),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, "a", False),
        ({"additionalProperties": {"type": "string"}}, {"a": 1}, False),
        ({}, object, True),
    ],
)
def test_follows(schema: dict[str, Any], value: Any, expected: bool) -> None:
    assert follows(schema, value) is expected


def test_the_fake_servers_samples_follow() -> None:
    assert follows(NESTED, sample(NESTED))
    assert follows(SCHEMA, sample(SCHEMA))
