"""Is the model's final answer the expected one? As text, or as a typed value.

``exact`` is string equality after stripping the ends, as the source benchmark scores. ``typed``
reads values: ``1,040.50`` is ``1040.5`` and ``**SAVE10**`` is ``SAVE10``, but ``SAVE100`` never is.
Where the text leaves room (several candidates, a coarse rounding, other words) the verdict is
``unsure`` and a judge decides. The expected value is the author's; the text may be hostile.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from labelkit.domain.task import KeyValue, ValueType
from labelkit.grounding.compare import Target, compare
from labelkit.grounding.folding import fold_values
from labelkit.grounding.match import Verdict, match_value, read_answer
from labelkit.grounding.stance import CONTRAST
from labelkit.grounding.values import Value, scan
from labelkit.grounding.wording import polarity

Kind = Literal["number", "datetime", "duration", "identifier", "boolean", "json", "text"]

_MOST_VALUES = 100
_BARE_CHARS = 200
_BARE_WORDS = 6
_SENTENCE_WORDS = 30
_ALIKE = 0.75
_YES = frozenset({"true", "yes"})
_NO = frozenset({"false", "no"})
_LEADING_ZERO = re.compile(r"0\d+")
_FENCE = re.compile(r"```[\w-]{0,20}[ \t]*\n?(.*?)\n?```", re.DOTALL)
_WRAPS = (
    ("**", "**"), ("__", "__"), ("`", "`"), ('"', '"'), ("'", "'"), ("\u201c", "\u201d"),
    ("\u2018", "\u2019"), ("\\boxed{", "}"), ("<answer>", "</answer>"), ("\\(", "\\)"),
    ("*", "*"), ("_", "_"),
)  # fmt: skip
_NAMED = (
    r"(?:final|correct|canonical|resulting|requested|recovered)?\s*"
    r"(?:answer|value|result|output|response)"
)
_LEAD = re.compile(rf"\W{{0,6}}(?:the\s+)?{_NAMED}\W{{0,4}}?\s*(?:\bis\b|[=:\u2192])\s*", re.I)
_CONCLUSION = re.compile(
    r"\b(?:final|correct|canonical|resulting)\s+(?:answer|value|result|output)\W{0,4}"
    r"\s*(?:\bis\b|[=:\u2192])|\b(?:answer|result)\W{0,4}\s*(?:\bis\b|:)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"\n|[.!?](?:\s|$)")
_ANSWER_KEYS = ("final_answer", "answer", "final_value", "value", "result", "output")
_APOLOGY = re.compile(
    r"\b(?:sorry|apologi[sz]e|unfortunately|unable to|(?:can|could|was|were|did|do|does)"
    r"(?:n't|n\u2019t| not)|cannot|no (?:answer|result|value)|not (?:available|possible|able)"
    r"|failed to|impossible)\b",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:not|never|no longer|isn't|wasn't|or|either|neither)\b", re.IGNORECASE)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|equals|returned|gives|found)\b", re.I)
_WORD = re.compile(r"[^\W_]+")
_LIST_ITEM = re.compile(r"\s*(?:[,;\n]|\band\b)\s*")


@dataclass(frozen=True, slots=True)
class Expected:
    """An expected answer, read once: what kind of value it is."""

    text: str
    kind: Kind
    value: Value | None = None
    data: Any = None


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
    if _plain(bare) == _plain(gold.text):
        return _alike(gold, bare)
    if is_bare(bare) or gold.kind == "json":
        return _whole(gold, bare)
    return _in_prose(gold, text)


def read_expected(expected: str) -> Expected:
    """Tell what kind of value the expected answer is."""
    text = expected.strip()
    if text[:1] in {"{", "["} and isinstance(data := _json(text), dict | list):
        return Expected(text, "json", data=data)
    if text.lower() in _YES | _NO:
        return Expected(text, "boolean")
    value = _only_value(text)
    if value is None or _LEADING_ZERO.fullmatch(text):
        return Expected(text, "text")
    if value.kind == "citation":
        return Expected(text, "text")
    return Expected(text, value.kind, value=value)


def right_surface(expected: str, text: str) -> bool:
    """Whether ``text`` is at least of the kind that is asked for: a number for a number."""
    gold = read_expected(expected)
    if gold.kind == "boolean":
        return polarity(text.lower(), ()) is not None or _plain(text) in _YES | _NO
    if gold.kind == "json":
        return isinstance(_json(unwrapped(text, gold)), type(gold.data))
    if gold.kind == "text":
        return bool(_WORD.search(text))
    return any(_same_kind(value, gold) for value in scan(fold_values(text).text))


def apologises(text: str) -> bool:
    """Whether the answer says that it could not be given."""
    return bool(_APOLOGY.search(text))


def unwrapped(text: str, gold: Expected) -> str:
    """Take away what is put around a value: fences, marks, quotes, ``Answer:``, a JSON envelope."""
    bare = text.strip()
    for _ in range(6):
        before = bare
        if fenced := _FENCE.fullmatch(bare):
            bare = fenced[1].strip()
        for start, end in _WRAPS:
            inner = bare[len(start) : len(bare) - len(end)]
            if len(bare) > len(start) + len(end) and bare.startswith(start) and bare.endswith(end):
                bare = inner.strip() if start not in inner or start != end else bare
        if lead := _LEAD.match(bare):
            bare = bare[lead.end() :].strip() or bare
        if gold.text[-1:] not in ".!" and bare[-1:] in ".!" and bare[:-1].strip():
            bare = bare[:-1].rstrip()
        if gold.kind != "json" or bare[:1] == "{":
            bare = _out_of_envelope(bare, gold)
        if bare == before:
            break
    return bare


def _out_of_envelope(bare: str, gold: Expected) -> str:
    data = _json(bare) if bare[:1] == "{" else None
    if not isinstance(data, dict) or (gold.kind == "json" and data == gold.data):
        return bare
    name = next((key for key in _ANSWER_KEYS if key in data), None)
    if name is None or (gold.kind == "json" and isinstance(gold.data, dict) and name in gold.data):
        return bare
    inner = data[name]
    return inner.strip() if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)


def is_bare(text: str) -> bool:
    """Whether a text is a value and no sentence."""
    if "\n" in text.strip() or len(text) > _BARE_CHARS:
        return False
    if _only_value(text) is not None:
        return True
    sentence = _SENTENCE_END.search(text) or _VERB.search(text) or apologises(text)
    return len(_WORD.findall(text)) <= _BARE_WORDS and not sentence


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
    if _LEADING_ZERO.fullmatch(bare):
        # 0123 is 123 as a number and another thing as a code.
        return "unsure"
    return _among(gold, bare)


def _among(gold: Expected, text: str) -> Verdict:
    """Compare with the values of the same kind: the only one decides, several must all differ."""
    values = scan(fold_values(text).text)
    if len(values) > _MOST_VALUES:
        return "unsure"
    alike = [value for value in values if _same_kind(value, gold)]
    verdicts = {_same_value(gold, value) for value in alike}
    if len(alike) == 1 or verdicts == {"no"}:
        return verdicts.pop()
    if verdicts:
        return "unsure"
    return "unsure" if _stated(gold, text) != "no" else "no"


def _same_kind(value: Value, gold: Expected) -> bool:
    if gold.kind == "number":
        return bool(value.readings)
    if gold.kind == "duration":
        return value.kind in {"duration", "number"}
    return value.kind == gold.kind


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
    plain = (wanted.unit == "percent") is (value.unit == "percent")
    currency = wanted.currency if plain else None
    found = compare(value, Target(wanted.readings[0].value, wanted.unit, currency))
    if found is None:
        return "no"
    return "match" if plain and found == ("exact", True) else "unsure"


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
        ending = _SENTENCE_END.split(rest, maxsplit=1)[0] or rest.strip()
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
        return _plain(gold.text) in _plain(text)
    return _stated(gold, text) != "no"


def _ending(gold: Expected, ending: str) -> Verdict:
    bare = unwrapped(ending, gold)
    if _plain(bare) == _plain(gold.text):
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
        plain = len(_WORD.findall(text)) <= _SENTENCE_WORDS and not (
            CONTRAST.search(text) or _DENIES.search(text)
        )
        return "match" if stated == "match" and plain else "unsure"
    verdict = _among(gold, text)
    if verdict == "match":
        return "match" if stated == "match" and not CONTRAST.search(text) else "unsure"
    return "unsure" if verdict == "no" and stated != "no" else verdict


def _same_boolean(gold: str, bare: str) -> Verdict:
    said = _plain(bare)
    if said not in _YES | _NO:
        said = polarity(bare.lower(), ()) or ""
    if not said:
        return "unsure"
    return "match" if (said in _YES) is (gold.lower() in _YES) else "no"


def _same_words(gold: str, bare: str) -> Verdict:
    """Two bare texts that are not equal: another value, unless one may be a form of the other."""
    mine, theirs = _plain(gold), _plain(bare)
    if any(character.isdigit() for character in gold):
        # A code, a version, an address: every character counts, but for case and punctuation.
        alike = _WORD.findall(mine) == _WORD.findall(theirs) or mine.lstrip("0") == theirs
        return "unsure" if alike else "no"
    first, second = _WORD.findall(mine), _WORD.findall(theirs)
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
    data = _json(bare)
    if (
        data is None
        and isinstance(gold, list)
        and not any(isinstance(g, dict | list) for g in gold)
    ):
        data = [item for item in _LIST_ITEM.split(bare.strip("[]() ")) if item]
    if not isinstance(data, type(gold)):
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


def _only_value(text: str) -> Value | None:
    """The value that a text consists of, or None."""
    folded = fold_values(text.strip()).text
    values = scan(folded)
    whole = len(values) == 1 and values[0].start == 0 and values[0].end == len(folded)
    return values[0] if whole else None


def _plain(text: str) -> str:
    """A text without case, outer punctuation and kinds of space; full-width forms folded."""
    folded = unicodedata.normalize("NFKC", text).casefold().strip().strip("\"'`*.,;!")
    return " ".join(folded.replace("_", " ").split())


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
