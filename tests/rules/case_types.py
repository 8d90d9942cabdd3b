"""What the adapters of the labelling traps have in common: a case, a policy, and what is said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Policy = Mapping[str, str]
Case = dict[str, Any]


@dataclass(frozen=True)
class Said:
    """What labelkit says about a case; ``label`` None is an abstention."""

    label: str | None
    flags: tuple[str, ...] = ()
    reason: str = ""


Adapter = Callable[[Case, Policy], Said]


def same_label(said: str, right: str) -> bool:
    """Whether two labels are one; where a label is a call, the order of its arguments is free."""
    return said == right or (called(said) is not None and called(said) == called(right))


def called(label: str) -> tuple[str, dict[str, Any]] | None:
    """Name and arguments of a label such as ``dim(rooms=["3"], level=58)``; None for another."""
    match = re.fullmatch(r"([A-Za-z_][\w.-]*)\((.*)\)", label, re.DOTALL)
    if match is None:
        return None
    rest, arguments = match[2].strip(), {}
    while rest:
        name, equals, rest = rest.partition("=")
        if not equals:
            return None
        try:
            value, end = json.JSONDecoder().raw_decode(rest.lstrip())
        except ValueError:
            return None
        arguments[name.strip()] = value
        rest = rest.lstrip()[end:].lstrip(" ,")
    return match[1], arguments


def policy_of(named: str) -> dict[str, str]:
    """The policy that ``right.also`` names: ``detector=lenient``, or one word for ``policy``."""
    key, equals, value = named.partition("=")
    return {key: value} if equals else {"policy": key}
