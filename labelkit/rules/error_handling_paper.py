"""The source paper's call checker as its released code behaves, for comparing published numbers.

Its weak points are kept on purpose: functions without declared key parameters are compared by
name only, further writes never fail, one call may serve several wanted ones, no order is looked
at, values are compared without types, and a place name in any spelling is the same place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from labelkit.rules.error_handling_calls import Made, Unit, Wanted
from labelkit.rules.error_handling_strict import Finding

_PLACE = "location"
_MOST_FAILURES = 2


def judge_as_released(unit: Unit) -> Finding:
    """Compare the calls of one unit with the wanted ones as the paper's code does."""
    problems, flags = [], []
    for wanted in unit.wanted:
        if any(_serves(wanted, made) for made in unit.made):
            continue
        if wanted.call.supporting and not wanted.writes:
            flags.append("supporting_call_missing")
        else:
            problems.append("missing_call")
    if unit.unknown:
        problems.append("unknown_function")
    if _ad_hoc_failures(unit) >= _MOST_FAILURES:
        problems.append("ad_hoc_format")
    names = {w.call.name for w in unit.wanted}
    further = [m for m in unit.made if not any(_serves(w, m) for w in unit.wanted)]
    writes = sum(m.changed_the_world and m.name not in names for m in further)
    reads = sum(m.executed and m.effect == "read" for m in further)
    return Finding(tuple(dict.fromkeys(problems)), tuple(flags), reads, writes)


def _serves(wanted: Wanted, made: Made) -> bool:
    if made.name != wanted.call.name or not (made.succeeded if wanted.writes else made.executed):
        return False
    keys = wanted.tool.key_parameters if wanted.tool is not None else ()
    given = made.call.parsed or {}
    return all(_equal(key, wanted.call.arguments.get(key), given.get(key)) for key in keys)


def _equal(key: str, wanted: Any, given: Any) -> bool:
    if key == _PLACE and isinstance(wanted, str) and isinstance(given, str):
        return _place(wanted) == _place(given)
    return bool(wanted == given)


def _place(text: str) -> str:
    return text.lower().replace(" ", "_")


def _ad_hoc_failures(unit: Unit) -> int:
    """The longest row of failures that an ad-hoc function began with in this unit."""
    special = {w.tool.name for w in unit.wanted if w.tool is not None and w.tool.ad_hoc}
    return max((_first_failures(name, unit.made) for name in special), default=0)


def _first_failures(name: str, made: Sequence[Made]) -> int:
    tries = [m for m in made if m.name == name and m.executed]
    return sum(1 for _ in takewhile(lambda m: not m.succeeded, tries))
