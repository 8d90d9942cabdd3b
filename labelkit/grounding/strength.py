"""How much a value that comes from nowhere says: an invention, an open question, or plain wording.

A docket number out of the blue is an invention; "about 30 days" may be everyday wording, and the
number of a statute common knowledge. What is no clear invention is left to the judges.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Literal

from labelkit.grounding.stance import Stance, in_general, stance
from labelkit.grounding.values import Value

Strength = Literal["strong", "unsure", "weak"]

_REPORTER = re.compile(r"\d (?:U\. ?S\. \d|F\. ?(?:\dd|\dth|Supp)|S\. ?Ct\.)", re.IGNORECASE)
# A call sign such as V7QX3 turns from letters to digits and back more often than any word does.
_TURNS = re.compile(r"[A-Z](?=\d)|\d(?=[A-Z])")
_ODD_TURNS = 3
_LIST_MARK = re.compile(r"(?:^|\n)[ \t>*#(-]*$")
_RATES = frozenset({1, 100})
_TRADED = re.compile(
    r"[\s*_`]*(?:=|\u2248|~|buys|is worth|equals|gets|trades|costs|converts|will|:)"
)
_ROUND = frozenset({100, 1000, 10_000, 100_000, 1_000_000})
_IN_EVERY = re.compile(r"\b(?:in|out of|per|of)(?: every| each)? $")
_PLAIN = frozenset({0, 100, 365, 1000, 24, 30, 60, 52, 50, 20, 15})


def strength(value: Value, text: str, said: Stance | None = None) -> Strength:
    """How much an ungrounded value says: an invention, an open question, or everyday wording.

    ``said`` is the stance of the value where it is known already.
    """
    if (said or stance(text, value.start, value.end)) != "asserted":
        return "weak"
    general = in_general(text, value.start)
    if value.kind == "identifier":
        return _identifier_strength(value, text)
    if value.kind == "citation":
        # A volume and a page name one decision; the number of a rule may be common knowledge.
        return "strong" if not general and _REPORTER.search(value.text) else "unsure"
    if value.kind == "datetime":
        when = value.whens[0]
        full = when.month and (when.day or when.year)
        return "unsure" if general or not full else "strong"
    return _number_strength(value, text, general)


def _identifier_strength(value: Value, text: str) -> Strength:
    if "://" in text[max(0, value.start - 8) : value.end]:
        return "weak"
    digits = sum(c.isdigit() for c in value.canonical)
    separators = sum(value.text.count(c) for c in "-/_")
    if digits >= 4 or (digits >= 3 and separators >= 2):
        return "strong"
    odd = len(_TURNS.findall(value.text)) >= _ODD_TURNS and value.text.isupper()
    return "unsure" if odd else "weak"


def _number_strength(value: Value, text: str, general: bool) -> Strength:
    if not value.readings:
        return "unsure"
    reading = value.readings[0]
    number = abs(reading.value)
    whole = number == number.to_integral_value() if number < 10**15 else True
    bare = not value.currency and value.unit is None and value.readings == value.unscaled
    if _of_a_rate(value, text, number) or _is_list_mark(value, text):
        return "weak"
    if whole and not value.currency and (number <= 12 or number in _PLAIN):
        return "weak"
    year = bare and "," not in value.text and reading.digits == 4
    if whole and year and 1900 <= number <= 2100:
        return "unsure"
    if general or value.kind == "duration":
        return "unsure"
    return "strong"


def _is_list_mark(value: Value, text: str) -> bool:
    """Whether a number counts the items of a list."""
    before = text[max(0, value.start - 12) : value.start]
    return text[value.end : value.end + 1] in {".", ")"} and bool(_LIST_MARK.search(before))


def _of_a_rate(value: Value, text: str, number: Decimal) -> bool:
    """Whether a number is the base of a rate: "1 NOK buys 0.988 SEK", "4 in every 10,000"."""
    if number in _RATES and _TRADED.match(text, value.end):
        return True
    start = max(0, value.start - 16)
    return number in _ROUND and _IN_EVERY.search(text, start, value.start) is not None
