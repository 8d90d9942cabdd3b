"""Does the answer state what it should? One verdict per key value: match, no, or unsure.

``unsure`` is a real outcome: the classifier abstains on it. A match is only given where the value
is asserted, in a format that can mean nothing else, and of the right thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Literal

from labelkit.domain.task import KeyValue
from labelkit.grounding.answer import Answer, read_answer
from labelkit.grounding.booleans import other_polarity, polarity_of
from labelkit.grounding.compare import Target, compare, far
from labelkit.grounding.coordination import others_named, told_apart
from labelkit.grounding.folding import fold_values
from labelkit.grounding.match_times import match_datetime, match_duration
from labelkit.grounding.mentions import Match, Verdict, decide
from labelkit.grounding.numbers import as_decimal
from labelkit.grounding.other_forms import cited_form, compound, other_form, unmarked
from labelkit.grounding.signs import told_as_less
from labelkit.grounding.spelled import (
    NUMBER_WORDS,
    beyond,
    ordinal_places,
    spelled_values,
    spells_a_number,
)
from labelkit.grounding.stance import clause_before, hedged, tells_a_loss
from labelkit.grounding.values import Value, cites, identifier, scan
from labelkit.grounding.wording import (
    occurrences,
    polarity,
    says_failed,
    says_missing,
    says_none_of,
    says_zero_of,
    stands_on,
)

__all__ = ["Answer", "Match", "Verdict", "is_name", "match_value", "read_answer"]

_WORDS = re.compile(r"[A-Za-z]{3,}")
_YES_OR_NO = re.compile(r"\b(?:yes|no|true|false|until|was)\b")
_AS_FRACTION = re.compile(r"\b(?:fraction|proportion|ratio|decimal)\b")
_LEFT_OUT = re.compile(
    r"\b(?:no|without|excluding|except(?: for)?|free of|not|nor|neither|lacks?)\s(?:any\s)?$"
)
_OUT = "named as left out"
_NON = ("non-", "non ")
_SECTION = re.compile(r"^ss?\.? ?(?=\d)")
_WORD_BEFORE = re.compile(r"([a-z]{3,}) $")
_LETTER = re.compile(r"[a-z]", re.IGNORECASE)
_VERBS = frozenset({
    "needs", "requires", "includes", "supports", "allows", "accepts", "covers", "offers", "exists",
})  # fmt: skip
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def match_value(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]] = ()) -> Match:
    """Decide whether ``answer`` states ``key``.

    Args:
        key: the wanted value.
        answer: the prepared answer.
        rivals: (entity, path) of the other things in the payload a value could be said of.
    """
    if not answer.text:
        return Match("no", why="empty")
    return _MATCHERS[key.type](key, answer, rivals)


def _number(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    wanted = as_decimal(key.value)
    if wanted is None:
        return _text(key, answer, rivals)
    tolerance = key.tolerance if isinstance(key.tolerance, int | float) else None
    target = Target.of(
        wanted, key.path, key.unit, Decimal(repr(tolerance)) if tolerance is not None else None
    )
    if target.unit in {"s", "min", "h", "d"} and any(
        v.seconds and not v.readings for v in answer.values
    ):
        return _duration(key, answer, rivals)
    good, weak = _in_digits(target, answer)
    good = good or _other_whole(wanted, answer) or _in_words(target, answer)
    good = good or _as_a_count_or_rank(wanted, key.path or "", answer)
    if not good and not weak:
        good, weak = _as_a_year(target, answer), told_as_less(target, answer)
    if not (good or weak) and spells_a_number(answer.lower) and _may_be_spelled(target, answer):
        return Match("unsure", why="numbers are spelled out")
    if good and target.unit and _only_converted(good, target.unit, answer):
        return Match("no", tuple(good), "only what was asked about holds it")
    if good and _only_echoed(good, answer):
        return Match("no", tuple(good), "only a name holds the number")
    return decide(key, answer, rivals, good, weak, numeric=True)


def _in_digits(
    target: Target, answer: Answer
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Places that state the number in digits: those that surely do, and those that may."""
    good: list[tuple[int, int]] = []
    weak: list[tuple[int, int]] = []
    for value in answer.values:
        if not value.readings or far(value, target):
            continue
        graded = compare(value, target, tells_a_loss(answer.lower, value.start))
        if graded is None:
            continue
        grade, sure = graded
        sure = sure or answer.european or _as_asked(value, target, answer)
        if grade != "loose" and sure:
            good.append((value.start, value.end))
        elif grade != "loose" or hedged(answer.text, value.start):
            weak.append((value.start, value.end))
    return good, weak


def _as_asked(value: Value, target: Target, answer: Answer) -> bool:
    """Whether 0.0725 is said to be a fraction, so that it can only stand for 7.25%."""
    bare = target.unit in {"percent", "bps"} and value.unit is None
    return bare and _AS_FRACTION.search(clause_before(answer.lower, value.start)) is not None


def _other_whole(wanted: Decimal, answer: Answer) -> list[tuple[int, int]]:
    """Places where a small number is spelled, or a large one is written with plain spaces.

    ``51 234`` may be two numbers, unless it is the very number that is wanted.
    """
    whole = wanted == wanted.to_integral_value()
    if whole and 0 <= wanted <= 20:
        return list(occurrences(NUMBER_WORDS[int(wanted)], answer.lower))
    if not 1000 <= abs(wanted) < 10**15:
        return []
    spaced = f"{abs(int(wanted)):,d}".replace(",", " ")
    if spaced not in answer.text:
        # To build an expression for every wanted number costs more than all else here.
        return []
    digits = f"{abs(wanted):f}".partition(".")[2].rstrip("0")
    tail = rf"[.,]{digits}0*(?!\d)" if digits else r"(?![\d,]|\.\d)"
    return [m.span() for m in re.finditer(rf"(?<![\d.,-]){re.escape(spaced)}{tail}", answer.text)]


def _as_a_count_or_rank(wanted: Decimal, path: str, answer: Answer) -> list[tuple[int, int]]:
    """Places of a zero said as "no open tickets", and of a rank said as "third" or "3rd"."""
    if not wanted:
        place = says_zero_of(answer.lower, path)
        return [place] if place else []
    if wanted != wanted.to_integral_value() or not 0 < wanted < 1000:
        return []
    return ordinal_places(int(wanted), answer.lower, path)


def _may_be_spelled(target: Target, answer: Answer) -> bool:
    """Whether the number may stand among words that were not read, or was said roughly."""
    read = spelled_values(answer.lower)
    return beyond([(v.start, v.end) for v in read], answer.lower) or any(
        compare(v, target) is not None or hedged(answer.lower, v.start) for v in read
    )


def _in_words(target: Target, answer: Answer) -> list[tuple[int, int]]:
    """Places where the number is written in words: ``twenty-four``, ``five percent``."""
    found = []
    for value in spelled_values(answer.lower):
        graded = compare(value, target, tells_a_loss(answer.lower, value.start))
        if graded is not None and graded[0] != "loose" and graded[1]:
            found.append((value.start, value.end))
    return found


def _only_echoed(places: Sequence[tuple[int, int]], answer: Answer) -> bool:
    """Whether the number only stands in names that were given, beside a number from nowhere.

    "Boiler 2 shows a level of 22" says nothing of a level of 2.
    """
    if not any(v.kind == "number" for v in answer.strangers):
        return False
    for start, end in places:
        before = _WORD_BEFORE.search(answer.lower, max(0, start - 24), start)
        named = f"{before[1]} {answer.lower[start:end]}" if before and end - start <= 4 else ""
        if not named or named not in answer.given:
            return False
    return True


def _only_converted(places: Sequence[tuple[int, int]], unit: str, answer: Answer) -> bool:
    """Whether the number is only what the question gave in another unit, beside one from nowhere.

    "3.5 km are 350 m" does not say that they are 3,500.
    """
    if not any(v.unit == unit and v.readings for v in answer.strangers):
        return False
    own = {(v.start, v.end) for v in answer.values if v.unit == unit}
    return not any(p in own or answer.lower[p[0] : p[1]] not in answer.given for p in places)


def _as_a_year(target: Target, answer: Answer) -> list[tuple[int, int]]:
    """Places where the number is the year of a date."""
    if target.unit or target.currency or not 1000 <= target.value <= 2100:
        return []
    return [
        (v.start, v.end)
        for v in answer.values
        if any(w.year == target.value for w in v.whens)
        and _LETTER.search(v.text)
        and len(answer.text) > 2 * len(v.text)
    ]


def _datetime(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    return match_datetime(key, answer, rivals) or _text(key, answer, rivals)


def _duration(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    return match_duration(key, answer, rivals) or _text(key, answer, rivals)


def _boolean(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    leaf = (key.path or "").rpartition(".")[2]
    words = tuple(w.lower() for w in _WORDS.findall(_CAMEL.sub(" ", leaf).replace("_", " ")))
    words = tuple(w for w in words if w not in {"has", "the", "can", "are", "was"})
    words += tuple(w[:-1] for w in words if w in _VERBS)
    others = [entity for entity, _ in rivals]
    if key.entity and any(other.lower() in answer.lower for other in others):
        said = polarity_of(answer.lower, key.entity, others, words)
        if said is None:
            return Match("unsure", why="of what it is said is open")
        return Match("match" if (said == "yes") is _holds(key) else "no", why=said)
    said = polarity(answer.lower, words)
    if said is None and not _YES_OR_NO.search(answer.lower):
        said = next((s for w in words if (s := stands_on(answer.lower, w))), None)
    said = said or other_polarity(answer.lower, words)
    if said is None:
        return Match("unsure", why="neither yes nor no is plain")
    return Match("match" if (said == "yes") is _holds(key) else "no", why=said)


def _holds(key: KeyValue) -> bool:
    return str(key.value).lower() in {"true", "yes", "1"}


def _enum(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    found = list(occurrences(str(key.value), answer.lower))
    if not found and (place := compound(str(key.value), answer.lower)) is not None:
        found = [place]
    if not found:
        return Match("no", why="not named")
    named = [(s, e) for s, e in found if not _LEFT_OUT.search(clause_before(answer.lower, s))]
    if not named:
        return Match("unsure", tuple(found), _OUT)
    found = [(s, e) for s, e in named if not answer.lower.startswith(_NON, s - 4)]
    if not found:
        return Match("no", tuple(named), "its opposite")
    named = found
    return decide(key, answer, rivals, named)


def _text(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    wanted = fold_values(str(key.value)).text
    found = list(occurrences(wanted, answer.lower))
    if found:
        return decide(key, answer, rivals, found)
    place = other_form(wanted, answer.lower)
    if place is not None:
        return decide(key, answer, rivals, [place])
    marked = key.entity is None and ("*" in answer.lower or "`" in answer.lower)
    if marked and any(True for _ in occurrences(wanted, unmarked(answer.lower))):
        # Of emphasis inside a word only the letters count; its place is not told.
        return Match("match")
    if is_name(wanted) and any(_is_another(v, wanted, answer) for v in answer.values):
        return _identifier(key, answer, rivals)
    return Match("unsure", why="other words may say the same")


def _is_another(value: Value, wanted: str, answer: Answer) -> bool:
    """Whether a value is an identifier that was not given, or only the head of the wanted one."""
    return value.kind == "identifier" and (
        value in answer.strangers or identifier(wanted).startswith(value.canonical)
    )


def is_name(wanted: str) -> bool:
    """Whether a text is one identifier: no other words can say it."""
    found = scan(wanted)
    return len(found) == 1 and found[0].kind == "identifier" and found[0].text == wanted.strip()


def _citation(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    written = _SECTION.sub("section ", fold_values(str(key.value)).text)
    wanted = [v.canonical for v in scan(written) if v.kind == "citation"]
    if len(wanted) != 1:
        cited = cited_form(fold_values(str(key.value)).text, answer.lower)
        if cited is None:
            return _text(key, answer, rivals)
        return (
            decide(key, answer, rivals, [cited[1]])
            if cited[0] == "match"
            else Match("no", (cited[1],))
        )
    found = [
        (v.start, v.end)
        for v in answer.values
        if v.kind == "citation" and cites(v.canonical, wanted[0])
    ]
    return decide(key, answer, rivals, found)


def _identifier(key: KeyValue, answer: Answer, rivals: Sequence[tuple[str, str]]) -> Match:
    wanted = identifier(str(key.value))
    found = [(v.start, v.end) for v in answer.values if v.canonical == wanted]
    if not found:
        found = list(occurrences(str(key.value), answer.lower))
    return decide(key, answer, rivals, found)


def _members(key: KeyValue, answer: Answer) -> list[Match]:
    members: list[Any] = list(key.value) if isinstance(key.value, list | tuple) else [key.value]
    out = []
    for member in members:
        number = isinstance(member, int | float) and not isinstance(member, bool)
        kind: Literal["number", "enum"] = "number" if number else "enum"
        out.append(match_value(KeyValue(type=kind, value=member, unit=key.unit), answer))
    return out


def _set(key: KeyValue, answer: Answer, _: Sequence[tuple[str, str]]) -> Match:
    found = _members(key, answer)
    spans = tuple(m.spans[0] for m in found if m.spans)
    if any(m.verdict == "no" or m.why == _OUT for m in found):
        return Match("no", spans, "a member is missing")
    if any(m.verdict == "unsure" for m in found):
        return Match("unsure", spans, "a member is missing")
    if told_apart(answer.lower, spans):
        return Match("unsure", spans, "a member is told apart")
    if key.type == "list" and [s for s, _ in spans] != sorted(s for s, _ in spans):
        return Match("no", spans, "another order")
    others: list[tuple[int, int]] = []
    if answer.given and len(found) > 1:
        everywhere = [span for m in found for span in m.spans]
        others = others_named(answer.text, everywhere, answer.given)
    return Match("match", spans, others=tuple(others))


def _null(key: KeyValue, answer: Answer, _: Sequence[tuple[str, str]]) -> Match:
    place = says_missing(answer.lower) or (
        says_failed(answer.lower)
        if key.type == "error"
        else says_none_of(answer.lower, (key.path or "").rpartition(".")[2])
    )
    invented = [v for v in answer.strangers if answer.stance(v.start, v.end) == "asserted"]
    if place and invented:
        return Match("unsure", (place,), "missing, and yet a value")
    if place:
        return Match("match", (place,))
    return Match("no", why="a value is handed over") if invented else Match("unsure")


_MATCHERS: dict[str, Callable[[KeyValue, Answer, Sequence[tuple[str, str]]], Match]] = {
    "number": _number,
    "datetime": _datetime,
    "duration": _duration,
    "boolean": _boolean,
    "enum": _enum,
    "citation": _citation,
    "identifier": _identifier,
    "text": _text,
    "set": _set,
    "list": _set,
    "null": _null,
    "error": _null,
}
