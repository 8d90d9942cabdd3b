"""The leaves of a payload with their JSON paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

MOST_LEAVES = 2000
_KEPT_LENGTH = 20_000
_NESTS = (dict, list, tuple)
_SCALARS = frozenset({str, int, float, bool, type(None)})


def leaves(value: Any) -> list[tuple[str, Any]]:
    """Return (path, scalar) of every leaf in document order; at most ``MOST_LEAVES``.

    Paths are written ``$.items[0].price``. An empty object or list has no leaf.
    """
    found: list[tuple[str, Any]] = []
    stack: list[Iterator[tuple[str, Any]]] = [iter((("$", value),))]
    while stack and len(found) < MOST_LEAVES:
        for leaf in stack[-1]:
            node = leaf[1]
            if type(node) not in _SCALARS and isinstance(node, _NESTS):
                children = _children(leaf[0], node)
                if _SCALARS.issuperset(map(type, _nodes(node))):
                    # The innermost objects and lists, where most leaves are.
                    found += children
                    if len(found) < MOST_LEAVES:
                        continue
                    break
                stack.append(iter(children))
                break
            found.append(leaf)
        else:
            stack.pop()
    return found[:MOST_LEAVES]


def _nodes(node: Any) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


def _children(path: str, node: Any) -> list[tuple[str, Any]]:
    if isinstance(node, dict):
        return [(f"{path}.{k}", v) for k, v in islice(node.items(), MOST_LEAVES)]
    return [(f"{path}[{i}]", v) for i, v in enumerate(node[:MOST_LEAVES])]


def as_json(text: str) -> Any:
    """Return the JSON value of a text, or the text itself when it is none."""
    if text[:1] not in "{[" and text.lstrip()[:1] not in {"{", "["}:
        return text
    return _kept(text) if len(text) <= _KEPT_LENGTH else _parsed(text)


@lru_cache(maxsize=64)
def _kept(text: str) -> Any:
    """Several steps read one result; nobody changes it."""
    return _parsed(text)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
