"""A negative amount that is told without a minus: by what it is an amount of.

"A cut of 12", "12 degrees below zero", "a net importer, by 4.2 GWh" of a field for exports. Such a
bare amount may stand for the negative one; that is no proof, so the rules hand it on.
"""

from __future__ import annotations

import re

from labelkit.grounding.answer import Answer
from labelkit.grounding.compare import Target, compare

_CUT = re.compile(r"\b(?:cut|lower(?:ed|s)?|reduced?|trimmed|slashed|down)\b[^.;\n]*$")
_BELOW_ZERO = re.compile(
    r"\W{0,2}(?:degrees? )?(?:c |celsius )?(?:below|under) (?:zero|freezing)\b"
)
_OPPOSITES = (
    ("export", "import"), ("surplus", "deficit"), ("profit", "loss"), ("gain", "loss"),
    ("inflow", "outflow"), ("increase", "decrease"), ("rise", "fall"), ("growth", "decline"),
    ("above", "below"), ("ahead", "behind"), ("credit", "debit"), ("early", "late"),
)  # fmt: skip


def told_as_less(target: Target, answer: Answer) -> list[tuple[int, int]]:
    """Places of the bare amount in a sentence about a cut: it may stand for the negative one."""
    if target.value >= 0:
        return []
    opposite = target._replace(value=-target.value)
    return [
        (v.start, v.end)
        for v in answer.values
        if v.readings
        and compare(v, opposite) is not None
        and (
            _CUT.search(answer.lower, max(0, v.start - 100), v.start)
            or _BELOW_ZERO.match(answer.lower, v.end)
            or _contrary(target.path, answer.lower[max(0, v.start - 100) : v.end + 40])
        )
    ]


def _contrary(path: str, around: str) -> bool:
    """Whether the words around a number are the opposite of its field: a net export of -4."""
    field = path.rpartition(".")[2].lower()
    pairs = [pair for one, other in _OPPOSITES for pair in ((one, other), (other, one))]
    return any(
        name in field and name not in around and contrary in around and contrary not in field
        for name, contrary in pairs
    )
