"""A final answer as a value: what kind the expected one is, and what is put around the given one.

Nothing here compares; ``hazard_recovery_match`` does. The expected value is the author's, the
text may be hostile: every expression is bounded.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any, Literal

from labelkit.grounding.folding import fold_values
from labelkit.grounding.values import Value, scan
from labelkit.grounding.wording import polarity

Kind = Literal["number", "datetime", "duration", "identifier", "boolean", "json", "text"]
_BARE_CHARS = 200
_BARE_WORDS = 6
YES = frozenset({"true", "yes"})
NO = frozenset({"false", "no"})
LEADING_ZERO = re.compile(r"0\d+")
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
SENTENCE_END = re.compile(r"\n|[.!?](?:\s|$)")
_ANSWER_KEYS = ("final_answer", "answer", "final_value", "value", "result", "output")
_APOLOGY = re.compile(
    r"\b(?:sorry|apologi[sz]e|unfortunately|unable to|(?:can|could|was|were|did|do|does)"
    r"(?:n't|n\u2019t| not)|cannot|no (?:answer|result|value)|not (?:available|possible|able)"
    r"|failed to|impossible)\b",
    re.IGNORECASE,
)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|equals|returned|gives|found)\b", re.I)
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Expected:
    """An expected answer, read once: what kind of value it is."""

    text: str
    kind: Kind
    value: Value | None = None
    data: Any = None


def read_expected(expected: str) -> Expected:
    """Tell what kind of value the expected answer is."""
    text = expected.strip()
    if text[:1] in {"{", "["} and isinstance(data := as_data(text), dict | list):
        return Expected(text, "json", data=data)
    if text.lower() in YES | NO:
        return Expected(text, "boolean")
    value = _only_value(text)
    if value is None or LEADING_ZERO.fullmatch(text):
        return Expected(text, "text")
    if value.kind == "citation":
        return Expected(text, "text")
    return Expected(text, value.kind, value=value)


def right_surface(expected: str, text: str) -> bool:
    """Whether ``text`` is at least of the kind that is asked for: a number for a number."""
    gold = read_expected(expected)
    if gold.kind == "boolean":
        return polarity(text.lower(), ()) is not None or plain(text) in YES | NO
    if gold.kind == "json":
        return isinstance(as_data(unwrapped(text, gold)), type(gold.data))
    if gold.kind == "text":
        return bool(WORD.search(text))
    return any(same_kind(value, gold) for value in scan(fold_values(text).text))


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
    data = as_data(bare) if bare[:1] == "{" else None
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
    sentence = SENTENCE_END.search(text) or _VERB.search(text) or apologises(text)
    return len(WORD.findall(text)) <= _BARE_WORDS and not sentence


def same_kind(value: Value, gold: Expected) -> bool:
    """Whether a value found in a text is of the kind that is expected."""
    if gold.kind == "number":
        return bool(value.readings)
    if gold.kind == "duration":
        return value.kind in {"duration", "number"}
    return value.kind == gold.kind


def _only_value(text: str) -> Value | None:
    """The value that a text consists of, or None."""
    folded = fold_values(text.strip()).text
    values = scan(folded)
    whole = len(values) == 1 and values[0].start == 0 and values[0].end == len(folded)
    return values[0] if whole else None


def plain(text: str) -> str:
    """A text without case, outer punctuation and kinds of space; full-width forms folded."""
    folded = unicodedata.normalize("NFKC", text).casefold().strip().strip("\"'`*.,;!")
    return " ".join(folded.replace("_", " ").split())


def as_data(text: str) -> Any:
    """The JSON value of a text, or None."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
