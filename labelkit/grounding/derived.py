"""Which computation a stated value is the result of: the way from ``arithmetic`` to an answer."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations

from labelkit.grounding.arithmetic import Computed
from labelkit.grounding.given import GivenText
from labelkit.grounding.times import between
from labelkit.grounding.values import Value

_MOST_RATED = 12
_MOST_MOMENTS = 6
_MOST_READ = 40
_LONGEST_MOMENT = 60


def apart(texts: Sequence[GivenText], seconds: Decimal) -> bool:
    """Whether so many seconds lie between two moments that the given texts are."""
    short = [t for t in texts if len(t.folded) <= _LONGEST_MOMENT]
    moments = list(dict.fromkeys(w for t in short[:_MOST_READ] for w in t.whens))
    if not 2 <= len(moments) <= _MOST_MOMENTS:
        return False
    gaps = (between(a, b) for a, b in combinations(moments, 2))
    return any(gap is not None and abs(gap) == seconds for gap in gaps)


def rates_of(values: Sequence[Value], own: Sequence[bool]) -> list[float]:
    """The percentages of an answer that it was given; ``own`` are the values it was not."""
    return [
        float(v.readings[0].value)
        for v, mine in zip(values, own, strict=True)
        if v.unit == "percent" and v.readings and not mine
    ]


def at_a_rate(value: Value, numbers: Sequence[float], rates: Sequence[float]) -> str | None:
    """Whether ``value`` is a told percentage of a number, or the number with it added or taken."""
    if len(numbers) > _MOST_RATED:
        return None
    stated, slack = abs(float(value.readings[0].value)), float(value.readings[0].quantum) / 2
    for number in numbers:
        for rate in rates:
            part = number * rate / 100
            for result in (part, number + part, number - part):
                if abs(abs(result) - stated) <= slack * (1 + 1e-9):
                    return "percentage"
    return None


def exact_result(value: Value, computed: Computed) -> str | None:
    """The sum or difference that is exactly ``value``, however few its digits: "up 0.4 points"."""
    reading = value.readings[0]
    if not reading.value:
        return None
    factor = 0.01 if value.unit == "percent" else 1.0
    number = abs(float(reading.value))
    how = computed.exactly(number)
    return how or (computed.exactly(number * factor) if factor != 1.0 else None)
