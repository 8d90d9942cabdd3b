"""The leaves of a payload in document order, however they lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from labelkit.grounding.payloads import MOST_LEAVES, as_json, leaves

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3))
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=20,
)


def plainly(path: str, node: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(node, dict):
        for name, child in node.items():
            yield from plainly(f"{path}.{name}", child)
    elif isinstance(node, list):
        for place, child in enumerate(node):
            yield from plainly(f"{path}[{place}]", child)
    else:
        yield path, node


@given(JSON)
def test_leaves_are_those_of_the_plain_recursion(value: Any) -> None:
    assert leaves(value) == list(plainly("$", value))


def test_no_more_than_so_many_are_read() -> None:
    rows = [{str(name): name for name in range(50)} for _ in range(1000)]
    assert leaves(rows) == list(plainly("$", rows))[:MOST_LEAVES]
    assert len(leaves(list(range(10 * MOST_LEAVES)))) == MOST_LEAVES


def test_a_text_that_is_no_json_stays_a_text() -> None:
    assert as_json('{"a": [1, 2]}') == {"a": [1, 2]}
    assert as_json("{not json") == "{not json"
    assert as_json("12") == "12"
