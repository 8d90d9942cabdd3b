"""Does a scripted return speak for this call? Values compared as a tool would compare them.

A text argument matches without case and outer white space, a number by its value, and everything
else as JSON; nothing is converted between types, because worlds exist that punish just that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from labelkit.domain.environment import ArgumentTest

_LOOKED_AT = 2_000
"""Characters of an argument that a pattern is tried on; no argument of a task is longer."""

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


def arguments_match(
    wanted: Mapping[str, Any], given: Mapping[str, Any], *, exactly: bool = False
) -> bool:
    """Whether a call gives every wanted argument; with ``exactly`` no others."""
    if exactly and set(given) - set(wanted):
        return False
    return all(name in given and same_value(value, given[name]) for name, value in wanted.items())


def same_value(wanted: Any, given: Any) -> bool:
    """Whether two JSON values are equal for a tool."""
    if isinstance(wanted, str) and isinstance(given, str):
        return wanted.strip().casefold() == given.strip().casefold()
    if isinstance(wanted, dict) and isinstance(given, dict):
        return wanted.keys() == given.keys() and all(
            same_value(wanted[k], given[k]) for k in wanted
        )
    if isinstance(wanted, list) and isinstance(given, list):
        return len(wanted) == len(given) and all(map(same_value, wanted, given))
    if isinstance(wanted, bool) or isinstance(given, bool):
        return wanted is given
    return bool(wanted == given)


def argument_passes(test: ArgumentTest, name: str, given: Mapping[str, Any]) -> bool:
    """Whether one argument is what a test asks for."""
    return _plain(test, name, given) is not test.negate


def _plain(test: ArgumentTest, name: str, given: Mapping[str, Any]) -> bool:
    """The test before ``negate``; an argument that is not there passes no test but ``missing``."""
    if name not in given:
        return test.missing is True
    if test.missing is True:
        return False
    value = given[name]
    if test.one_of and not any(same_value(option, value) for option in test.one_of):
        return False
    if test.type is not None and not _is_a(test.type, value):
        return False
    if test.pattern is not None and not _fits(test.pattern, value):
        return False
    return _within(test, value)


def _is_a(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name])


def _fits(pattern: str, value: Any) -> bool:
    text = value if isinstance(value, str) else str(value)
    return len(text) <= _LOOKED_AT and _compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _within(test: ArgumentTest, value: Any) -> bool:
    if test.min is None and test.max is None:
        return True
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return (test.min is None or value >= test.min) and (test.max is None or value <= test.max)
