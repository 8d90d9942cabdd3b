"""A judge's reply becomes a verdict, or a null with a reason. Never a guess, never a score.

The order of the rules is the contract:

1. why the reply ended comes before what it says: a reply that was cut or filtered is not read;
2. a reply that is one JSON object is read as it stands;
3. otherwise reasoning is removed (``grounding.visible``: the rule that rules and judges share) and
   the *last* complete object that answers every question wins; fences and prose do not matter;
4. an object that stands in the shown trace itself is an echo and loses to any other. When it is
   all there is, the reply is null, because the trace would have dictated the verdict; only an
   object without a single word of the judge's own is kept, flagged ``echo``: it may as well be
   a coincidence;
5. an object that is not complete is mended, flagged ``repaired``; a cut label is never completed.
   A broken object that comes after the last complete one and holds the field of a question is
   the verdict, so that a first thought cannot stand in for a cut verdict;
6. a label is matched whole against the labels of the task's subset, never searched for in prose.

A question answered twice with different labels makes the reply null (``parse``): which of the two
is meant cannot be known. Other contradictions (two confidences, a derived label stated against
the answers) leave the label readable and are flagged ``contradictory``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from labelkit.domain.label import Evidence, NullReason
from labelkit.domain.rubric import Question
from labelkit.grounding.visible import strip_reasoning
from labelkit.judging.extract import Repeated, objects_in, repairs, whole_object
from labelkit.judging.form import (
    CONFIDENCE,
    CONFIDENCES,
    EVIDENCE,
    RATIONALE,
    AnswerForm,
    AskedField,
    fold,
)
from labelkit.judging.provenance import MAX_TEXT, cited, echoes
from labelkit.judging.shorten import cut_middle, writable

PARSER_VERSION = "1"
"""Part of every judge's identity and of every request digest. Raise it with any rule above."""

_OWN_WORDS = 16

_ENDINGS: dict[str, tuple[NullReason, str]] = {
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "model_length"),
        (NullReason.TRUNCATED, "the reply was cut off at max_tokens"),
    ),
    **dict.fromkeys(
        ("content_filter", "safety", "recitation", "prohibited_content", "blocklist", "sensitive"),
        (NullReason.FILTERED, "a content filter ended the reply"),
    ),
    "refusal": (NullReason.REFUSAL, "the judge refused"),
    **dict.fromkeys(
        ("error", "abort", "aborted", "cancelled"),
        (NullReason.TRANSPORT, "the server gave up on the reply"),
    ),
}
_REFUSES = re.compile(
    r"(?:i['\u2019]m (?:really |very |so )?sorry|i am sorry|sorry)?[\s,.;:\u2014-]*(?:but )?"
    r"(?:i (?:can['\u2019]?t|cannot|can not|won['\u2019]?t|will not|must decline|have to decline"
    r"|decline|refuse)\b"
    r"|i(?: am|['\u2019]m) (?:unable|not able|not allowed|not comfortable)\b"
    r"|as an ai\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A reply that was read.

    ``answers`` maps every asked question to its label, ``confidence`` is high, medium, low or
    None. Flags: ``repaired``, ``several_verdicts``, ``echo``, ``contradictory``, ``extra_fields``,
    ``no_evidence``, ``unresolved_quote``, ``misplaced_quote``.
    """

    answers: dict[str, str]
    rationale: str | None = None
    confidence: str | None = None
    evidence: tuple[Evidence, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NullVerdict:
    """A reply that brought no verdict, and why."""

    reason: NullReason
    detail: str


def read_verdict(
    text: str | None,
    finish_reason: str | None,
    *,
    form: AnswerForm,
    parts: Mapping[str, str] | None = None,
    refusal: str | None = None,
) -> Verdict | NullVerdict:
    """Read one reply.

    Args:
        text: the content of the reply.
        finish_reason: why it ended, as the endpoint said.
        form: what was asked for.
        parts: the shown parts of the trace, to find echoes and to resolve quotes.
        refusal: what the endpoint returned in its refusal field.
    """
    parts = parts if parts is not None else {}
    if finish_reason is not None and finish_reason != "stop":
        ended = _ENDINGS.get(finish_reason.lower())
        if ended is not None:
            return NullVerdict(ended[0], f"{ended[1]} (finish_reason {finish_reason!r})")
    if not text or text.isspace():
        if refusal:
            return NullVerdict(NullReason.REFUSAL, _short(refusal))
        return NullVerdict(NullReason.PARSE, "the reply is empty")
    value = whole_object(text)
    if value is not None:
        reading = _read_object(value, form)
        if isinstance(reading, _Reading):
            return _settle(reading, form, parts)
    return _read_prose(text, form, parts, refusal)


@dataclass(frozen=True, slots=True)
class _Reading:
    """An object that answers every question, before echoes and quotes are checked."""

    value: dict[str, Any]
    answers: dict[str, str]
    rationale: str | None
    confidence: str | None
    evidence: Any
    flags: tuple[str, ...]


def _read_prose(
    text: str, form: AnswerForm, parts: Mapping[str, str], refusal: str | None
) -> Verdict | NullVerdict:
    visible = strip_reasoning(text)
    if not visible:
        return NullVerdict(NullReason.PARSE, "the reply holds nothing but reasoning")
    complete, broken = objects_in(visible)
    read = [(found, _read_object(found.value, form)) for found in complete]
    valid = [found for found, reading in read if isinstance(reading, _Reading)]
    after = valid[-1].end if valid else -1
    # What breaks off after the last question's field was named is the verdict itself.
    named = max(visible.rfind(f'"{field.name}"') for field in form.fields)
    cut = [start for start in broken if after < start < named]
    repaired = bool(cut)
    if cut:
        read = [(found, _read_object(found.value, form)) for found in repairs(visible, cut)]
    readings = [reading for _, reading in read if isinstance(reading, _Reading)]
    if readings:
        return _choose(readings, form, parts, ("repaired",) if repaired else ())
    if not read and not broken and (refusal or _REFUSES.match(visible[:200].lstrip(" \t\n\"'*#"))):
        return NullVerdict(NullReason.REFUSAL, _short(refusal or visible))
    problems = [problem for _, problem in read if isinstance(problem, str)]
    if not problems:
        problems = ["the verdict was cut before its label" if broken else "no JSON object"]
    return NullVerdict(NullReason.PARSE, problems[-1])


def _choose(
    readings: list[_Reading], form: AnswerForm, parts: Mapping[str, str], flags: tuple[str, ...]
) -> Verdict | NullVerdict:
    """Take the last verdict that is the judge's own."""
    own = [one for one in readings if not echoes(one.value, form, parts)]
    chosen = (own or readings)[-1]
    if any(one.answers != chosen.answers for one in own):
        flags = (*flags, "several_verdicts")
    return _settle(chosen, form, parts, flags)


def _settle(
    reading: _Reading, form: AnswerForm, parts: Mapping[str, str], flags: tuple[str, ...] = ()
) -> Verdict | NullVerdict:
    """Refuse an echo, then give every quote its place."""
    flags = reading.flags + flags
    if echoes(reading.value, form, parts):
        if len(reading.rationale or "") >= _OWN_WORDS:
            return NullVerdict(
                NullReason.PARSE, "the only verdict in the reply is copied from the trace"
            )
        flags = (*flags, "echo")
    evidence: tuple[Evidence, ...] = ()
    if form.evidence:
        evidence, more = cited(reading.evidence, parts)
        flags += more
    return Verdict(reading.answers, reading.rationale, reading.confidence, evidence, flags)


# -- one object -------------------------------------------------------------------------------


def _read_object(value: dict[str, Any], form: AnswerForm) -> _Reading | str:
    """Return what ``value`` answers, or the problem in words."""
    value = _unwrapped(value, form)
    flags: list[str] = []
    if type(value) is Repeated or not form.names.issuperset(value):
        members = _members(value, form, flags)
    else:
        members = {name: (given,) for name, given in value.items()}
    answers: dict[str, str] = {}
    for field in form.fields:
        given = members.get(field.name)
        if given is None:
            return f"the reply has no field {field.name!r}"
        labels = {_label(one, field) for one in given}
        if len(labels) > 1:
            return f"contradictory: {field.name!r} is answered twice, with different labels"
        label = labels.pop()
        if label is None:
            return _misfit(given[0], field, form)
        answers[field.question] = label
    rationale = members.get(RATIONALE, (None,))[-1]
    sure = [_confidence(one) for one in members.get(CONFIDENCE, (None,))]
    if len(set(sure)) > 1:
        flags.append("contradictory")
    text = writable(cut_middle(rationale, MAX_TEXT)) if isinstance(rationale, str) else None
    evidence = members.get(EVIDENCE, (None,))[-1]
    unique = tuple(dict.fromkeys(flags))
    return _Reading(value, answers, text or None, sure[-1], evidence, unique)


def _unwrapped(value: dict[str, Any], form: AnswerForm) -> dict[str, Any]:
    """Look into one layer of wrapping (``{"verdict": {...}}``) that answers nothing itself."""
    if len(value) == 1:
        (name, inner), *_ = value.items()
        if isinstance(inner, dict) and name not in form.names and type(value) is dict:
            return inner
    return value


def _members(
    value: dict[str, Any], form: AnswerForm, flags: list[str]
) -> dict[str, tuple[Any, ...]]:
    """Sort what was given by the form's fields; spellings of one field belong together."""
    members: dict[str, tuple[Any, ...]] = {}
    strangers: dict[str, Any] = {}
    repeated = value.values_of if isinstance(value, Repeated) else {}
    for key, last in value.items():
        name = key if key in form.names else form.keys.get(fold(key))
        if name is None:
            strangers[key] = last
        else:
            given = tuple(repeated.get(key, (last,)))
            members[name] = members.get(name, ()) + given
    if strangers:
        flags.append("extra_fields")
        if _contradicts(strangers, members, form):
            flags.append("contradictory")
    return members


def _contradicts(
    strangers: Mapping[str, Any], members: Mapping[str, tuple[Any, ...]], form: AnswerForm
) -> bool:
    """Whether a derived label is stated, unasked, against what the answers derive."""
    stated = {fold(key): value for key, value in strangers.items()}
    answers = {f.question: _label(members[f.name][-1], f) for f in form.fields if f.name in members}
    for question in form.derived:
        case = derive(question, answers)
        given = stated.get(fold(question.id))
        if isinstance(given, str) and (case is None or fold(given) != fold(case[0])):
            return True
    return False


def derive(
    question: Question, answers: Mapping[str, str | None]
) -> tuple[str, tuple[str, ...]] | None:
    """Return label and flags of the first case that matches, or None when none does."""
    for case in question.derived:
        if all(answers.get(name) == wanted for name, wanted in case.when.items()):
            return case.label, case.flags
    return None


def _label(value: Any, field: AskedField) -> str | None:
    """Return the label that ``value`` spells, or None. Nothing is searched for inside a text."""
    if isinstance(value, str):
        label = field.known.get(value)
        if label is None and len(value) <= 200:
            folded = fold(value)
            label = field.known.get(folded)
            if label is None and field.boolean:
                label = field.known.get(_TRUTH.get(folded, ""))
        return label
    if isinstance(value, bool):
        return field.known.get("yes" if value else "no") if field.boolean else None
    if isinstance(value, int) and abs(value) < 10**6:
        return field.known.get(str(value))
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**6:
        return field.known.get(str(int(value)))
    return None


_TRUTH = {"true": "yes", "false": "no"}


def _misfit(value: Any, field: AskedField, form: AnswerForm) -> str:
    if not isinstance(value, str):
        return f"{field.name!r} is of type {type(value).__name__}, which is no label"
    if fold(value) in field.foreign:
        return f"{field.name!r} is {_short(value)!r}, no label of the subset {form.subset!r}"
    return f"{field.name!r} is {_short(value)!r}, which is no label of the rubric"


def _confidence(value: Any) -> str | None:
    folded = fold(value) if isinstance(value, str) and len(value) < 40 else None
    return folded if folded in CONFIDENCES else None


def _short(text: str) -> str:
    return writable(" ".join(text[:600].split())[:200])
