"""Is the model's final answer the expected one? As text, or as a typed value.

``exact`` is string equality after stripping the ends, as the source benchmark scores. ``typed``
reads values: ``1,040.50`` is ``1040.5`` and ``**SAVE10**`` is ``SAVE10``, but ``SAVE100`` never is.
Where the text leaves room (several candidates, a coarse rounding, other words) the verdict is
``unsure`` and a judge decides. The expected value is the author's; the text may be hostile.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

from labelkit.domain.task import KeyValue, ValueType
from labelkit.grounding.compare import Target, compare
from labelkit.grounding.folding import fold_values
from labelkit.grounding.match import Verdict, match_value, read_answer
from labelkit.grounding.stance import CONTRAST
from labelkit.grounding.values import Value, scan
from labelkit.grounding.wording import polarity
from labelkit.rules.hazard_recovery_values import (
    LEADING_ZERO,
    NO,
    SENTENCE_END,
    WORD,
    YES,
    Expected,
    Kind,
    apologises,
    as_data,
    is_bare,
    plain,
    read_expected,
    same_kind,
    unwrapped,
)

_MOST_VALUES = 100
_SENTENCE_WORDS = 30
_ALIKE = 0.75
_LONGEST_LIST = 5000
_CONCLUSION = re.compile(
    r"\b(?:final|correct|canonical|resulting)\s+(?:answer|value|result|output)\W{0,4}"
    r"\s*(?:\bis\b|[=:\u2192])|\b(?:answer|result)\W{0,4}\s*(?:\bis\b|:)",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:not|never|no longer|\w+n['\u2019]t|or|either|neither|nor|maybe|perhaps|possibly|unless"
    r"|expired|invalid|wrong|incorrect|outdated|stale|deprecated|previous(?:ly)?|former(?:ly)?|old"
    r"|instead|except|without|unknown|unclear|unsure|uncertain|guess\w*|assum\w+|originally"
    r"|initially|at first)\b",
    re.IGNORECASE,
)
_RECKONED = re.compile(r"\d\s?[/^*+\u00d7\u00f7\u2044]\s?\d|[\u00bc-\u00be]")
_SPELLED = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty|hundred"
    r"|thousand|million|billion|dozen|half|third|quarter|noon|midnight|today|tomorrow|yesterday)\b",
    re.IGNORECASE,
)
_NOTHING = frozenset({
    "none", "null", "nil", "n/a", "na", "nothing", "empty", "unknown", "undefined",
    "not available", "not found", "no value", "no result", "missing",
})  # fmt: skip
_LIST_ITEM = re.compile(r"\s*(?:[,;\n]|\band\b)\s*")


def exact(expected: str, text: str) -> bool:
    """Whether the texts are equal once the white space at their ends is gone."""
    return text.strip() == expected.strip()


def typed(expected: str, text: str) -> Verdict:
    """Whether ``text`` gives the expected value.

    Args:
        expected: the author's value, as text.
        text: the model's final answer.

    Returns:
        ``match``, ``no``, or ``unsure`` where the text does not settle it.
    """
    if exact(expected, text):
        return "match"
    gold = read_expected(expected)
    if not text.strip():
        return "no"
    bare = unwrapped(text, gold)
    if plain(bare) == plain(gold.text):
        return _alike(gold, bare)
    if is_bare(bare) or gold.kind == "json":
        return _whole(gold, bare)
    return _in_prose(gold, text)


def _alike(gold: Expected, bare: str) -> Verdict:
    """Texts that differ in case and punctuation only: the same words, but maybe another code."""
    coded = gold.kind in {"identifier", "text"} and any(c.isdigit() for c in gold.text)
    return "unsure" if coded and bare != gold.text else "match"


def _whole(gold: Expected, bare: str) -> Verdict:
    """Compare a text that is nothing but a value."""
    if gold.kind == "json":
        return _same_data(gold.data, bare)
    if gold.kind == "boolean":
        return _same_boolean(gold.text, bare)
    if gold.kind == "text":
        return _same_words(gold.text, bare)
    if LEADING_ZERO.fullmatch(bare) or _RECKONED.search(bare):
        # 0123 is 123 as a number and another thing as a code; 7/2 is a sum to be done.
        return "unsure"
    verdict = _among(gold, bare)
    return "unsure" if verdict == "match" and _DOUBT.search(bare) else verdict


def _among(gold: Expected, text: str) -> Verdict:
    """Compare with the values of the same kind: the only one decides, several must all differ."""
    values = scan(fold_values(text).text)
    if len(values) > _MOST_VALUES:
        return "unsure"
    alike = [value for value in values if same_kind(value, gold)]
    verdicts = {_same_value(gold, value) for value in alike}
    if len(alike) == 1 or verdicts == {"no"}:
        return verdicts.pop()
    if verdicts or _SPELLED.search(text):
        return "unsure"
    return "unsure" if _stated(gold, text) != "no" else "no"


def _same_value(gold: Expected, value: Value) -> Verdict:
    if gold.value is None:
        return "unsure"
    if gold.kind == "number":
        return _same_number(gold.value, value)
    if gold.kind != "identifier":
        return _stated(gold, value.text)
    if value.text == gold.value.text:
        return "match"
    return "unsure" if value.canonical == gold.value.canonical else "no"


def _same_number(wanted: Value, value: Value) -> Verdict:
    """Equal numbers match; a rounding, or a percentage beside a plain number, is left open."""
    alike = (wanted.unit == "percent") is (value.unit == "percent")
    currency = wanted.currency if alike else None
    found = compare(value, Target(wanted.readings[0].value, wanted.unit, currency))
    if found is None:
        return "no"
    return "match" if alike and found == ("exact", True) else "unsure"


_KEY_TYPES: dict[Kind, ValueType] = {
    "number": "number",
    "datetime": "datetime",
    "duration": "duration",
    "identifier": "identifier",
    "boolean": "boolean",
    "text": "text",
}


def _stated(gold: Expected, text: str) -> Verdict:
    """What the grounding engine says about the value anywhere in a text."""
    key = KeyValue(type=_KEY_TYPES[gold.kind], value=gold.text)
    if gold.kind == "number" and gold.value is not None:
        reading = gold.value.readings[0].value
        unit = gold.value.currency or gold.value.unit
        key = KeyValue(type="number", value=str(reading), unit=unit)
    return match_value(key, read_answer(text)).verdict


def _in_prose(gold: Expected, text: str) -> Verdict:
    """Find the final value in a longer text: what it concludes with, else its only candidate."""
    last = text.strip().rpartition("\n")[2]
    marks = list(_CONCLUSION.finditer(text))
    ending = None
    if marks:
        rest = text[marks[-1].end() :].lstrip(" \t*_`:")
        ending = SENTENCE_END.split(rest, maxsplit=1)[0] or rest.strip()
    elif "\n" in text.strip() and is_bare(unwrapped(last, gold)):
        ending = last
    if ending is not None and gold.kind != "json":
        verdict = _ending(gold, ending)
        return "unsure" if verdict == "no" and _mentions(gold, text) else verdict
    if apologises(text):
        return "unsure" if _mentions(gold, text) else "no"
    return _only_candidate(gold, text)


def _mentions(gold: Expected, text: str) -> bool:
    """Whether the expected value stands anywhere in a text, in whatever sense."""
    if gold.kind in {"text", "json", "boolean"}:
        return plain(gold.text) in plain(text)
    return _stated(gold, text) != "no"


def _ending(gold: Expected, ending: str) -> Verdict:
    bare = unwrapped(ending, gold)
    if plain(bare) == plain(gold.text):
        return _alike(gold, bare)
    if apologises(ending):
        return "unsure"
    if is_bare(bare):
        return _whole(gold, bare)
    return _only_candidate(gold, ending)


def _only_candidate(gold: Expected, text: str) -> Verdict:
    if gold.kind in {"json", "boolean"}:
        return _same_boolean(gold.text, text) if gold.kind == "boolean" else "unsure"
    stated = _stated(gold, text)
    if gold.kind == "text":
        short = len(WORD.findall(text)) <= _SENTENCE_WORDS and not (
            CONTRAST.search(text) or _DOUBT.search(text)
        )
        return "match" if stated == "match" and short else "unsure"
    verdict = _among(gold, text)
    if verdict == "match":
        clear = not (CONTRAST.search(text) or _DOUBT.search(text) or _RECKONED.search(text))
        return "match" if stated == "match" and clear else "unsure"
    return "unsure" if verdict == "no" and stated != "no" else verdict


def _same_boolean(gold: str, bare: str) -> Verdict:
    said = plain(bare)
    if said not in YES | NO:
        said = polarity(bare.lower(), ()) or ""
    if not said:
        return "unsure"
    return "match" if (said in YES) is (gold.lower() in YES) else "no"


def _same_words(gold: str, bare: str) -> Verdict:
    """Two bare texts that are not equal: another value, unless one may be a form of the other."""
    mine, theirs = plain(gold), plain(bare)
    if any(character.isdigit() for character in gold):
        # A code, a version, an address: every character counts, but for case and punctuation.
        joined = ["".join(WORD.findall(text)).lstrip("0") for text in (mine, theirs)]
        alike = joined[0] == joined[1] or bool(_RECKONED.search(mine) or _SPELLED.search(theirs))
        return "unsure" if alike else "no"
    if mine in _NOTHING and theirs in _NOTHING:
        return "unsure"
    first, second = WORD.findall(mine), WORD.findall(theirs)
    if not first or not second:
        return "no" if bool(first) != bool(second) else "unsure"
    if set(first) <= set(second) or set(second) <= set(first):
        return "unsure"
    if "".join(w[0] for w in first) == "".join(second) or "".join(first) == "".join(
        w[0] for w in second
    ):
        return "unsure"
    return "unsure" if SequenceMatcher(None, mine, theirs).ratio() >= _ALIKE else "no"


def _same_data(gold: Any, bare: str) -> Verdict:
    """Compare lists and objects; another order of the same members is left open."""
    data = as_data(bare)
    if data is None and isinstance(gold, list):
        data = _listed(gold, bare)
    if not isinstance(data, type(gold)) or (not gold and data):
        return "unsure"
    if _equal(gold, data):
        return "match"
    if isinstance(gold, list) and len(gold) == len(data):
        left = list(data)
        for member in gold:
            place = next((i for i, other in enumerate(left) if _equal(member, other)), None)
            if place is None:
                return "no"
            del left[place]
        return "unsure"
    return "no"


def _listed(gold: list[Any], bare: str) -> list[str] | None:
    """The members of a list that is written out in words, where the members are plain values."""
    if len(bare) > _LONGEST_LIST or any(isinstance(member, dict | list) for member in gold):
        return None
    return [item for item in _LIST_ITEM.split(bare.strip("[]() ")) if item]


def _equal(gold: Any, given: Any) -> bool:
    if isinstance(gold, dict) and isinstance(given, dict):
        return gold.keys() == given.keys() and all(_equal(gold[k], given[k]) for k in gold)
    if isinstance(gold, list) and isinstance(given, list):
        return len(gold) == len(given) and all(map(_equal, gold, given))
    if isinstance(gold, dict | list) or isinstance(given, dict | list):
        return False
    if gold is None or given is None or isinstance(gold, bool) or isinstance(given, bool):
        return str(gold).lower() == str(given).lower()
    return typed(str(gold), str(given)) == "match"
