"""Are the arguments of a call reasonable for the expected one?"""

from __future__ import annotations

import re
from typing import Any

from labelkit.domain.task import ExpectedCall
from labelkit.grounding.calls import Call
from labelkit.grounding.numbers import as_decimal

_WORD = re.compile(r"\w+")
_ENOUGH = 0.5


def arguments_fit(expected: ExpectedCall, call: Call) -> bool:
    """Whether ``call`` names the expected tool with the expected arguments.

    Every expected argument must be there; further ones are free. Numbers compare as numbers
    (``9`` equals ``"9"`` and ``9.0``), words without case and punctuation, lists without order. A
    phrase of three words or more (a search query) fits when half of its words agree.
    """
    if call.name != expected.name:
        return False
    given = call.parsed
    if given is None:
        return not expected.arguments
    return all(k in given and _same(v, given[k]) for k, v in expected.arguments.items())


def _same(wanted: Any, given: Any) -> bool:  # noqa: PLR0911 (one line per JSON type)
    if wanted == given:
        return True
    if isinstance(wanted, bool) or isinstance(given, bool) or wanted is None or given is None:
        return str(wanted).lower() == str(given).lower()
    if isinstance(wanted, dict) and isinstance(given, dict):
        return all(k in given and _same(v, given[k]) for k, v in wanted.items())
    if isinstance(wanted, list) and isinstance(given, list):
        return len(wanted) == len(given) and all(any(_same(w, g) for g in given) for w in wanted)
    first, second = as_decimal(wanted), as_decimal(given)
    if first is not None and second is not None:
        return first == second
    mine, theirs = _WORD.findall(str(wanted).casefold()), _WORD.findall(str(given).casefold())
    if mine == theirs:
        return True
    return len(mine) > 2 and len(set(mine) & set(theirs)) >= _ENOUGH * len(set(mine))
