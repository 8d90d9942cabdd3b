"""What the adapters of the labelling traps have in common: a case, a policy, and what is said."""

from __future__ import annotations

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


def policy_of(named: str) -> dict[str, str]:
    """The policy that ``right.also`` names: ``detector=lenient``, or one word for ``policy``."""
    key, equals, value = named.partition("=")
    return {key: value} if equals else {"policy": key}
