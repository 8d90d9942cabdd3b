"""What an answer states, against a task's key and against everything the model was given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from labelkit.digest import canonical_json
from labelkit.domain.label import Evidence
from labelkit.domain.message import Message
from labelkit.domain.task import AnswerKey, KeyValue, Reference, Task
from labelkit.grounding.binding import bound, heading_of, mentions_of
from labelkit.grounding.calls import Call
from labelkit.grounding.folding import fold_values
from labelkit.grounding.hints import holds_any
from labelkit.grounding.keys import derive_key
from labelkit.grounding.match import Answer, Match, Verdict, is_name, match_value, read_answer
from labelkit.grounding.mentions import is_trap, of_old
from labelkit.grounding.numbers import as_decimal
from labelkit.grounding.origins import EvidenceBase, Origin
from labelkit.grounding.payloads import as_json, leaves
from labelkit.grounding.strength import strength
from labelkit.grounding.values import Value, identifier, scan
from labelkit.grounding.wording import content_words, occurrences

_INDEX = re.compile(r"\[\d+\]")
_TITLED = re.compile(
    r"\b(?:Judge|Justice|Dr\.?|Prof\.?|Professor|CEO|CFO|Captain|Minister|Chancellor|Analyst)"
    r" ([A-Z][a-z]+(?:[- ][A-Z][a-z]+)?)"
)
_TITLES = (
    "Judge", "Justice", "Dr", "Prof", "CEO", "CFO", "Captain", "Minister", "Chancellor", "Analyst",
)  # fmt: skip
_QUOTED = re.compile(r'"([^"\n]{24,300})"')
_LETTERS = re.compile(r"[a-z]+")
_TOPIC = "topic"
_MOST_VALUES = 200
_MOST_QUOTED = 20
_WORDY = frozenset({"text", "enum", "set", "list"})


Places = Sequence[tuple[int, int]]


class Statements(NamedTuple):
    """The reading of one answer.

    ``key`` is the verdict over all key values by the key's mode. ``stated`` are the places (ranges
    of the folded answer) that it rests on, ``invented`` those of values asserted from nowhere,
    ``open_values`` those of open origin; ``strangers`` are the invented values themselves.
    ``too_long`` says that the answer holds more values than are read, so that nothing may be
    concluded; ``evidence_cut`` that the evidence does, so that no value may be called invented.
    """

    key: Verdict
    why: str
    typed: AnswerKey
    answer: Answer
    stated: Places = ()
    invented: Places = ()
    strangers: Sequence[Value] = ()
    open_values: Places = ()
    derived: bool = False
    evidence_cut: bool = False
    too_long: bool = False

    @property
    def invented_apart(self) -> bool:
        """Whether an invented value cannot be a wrong version of a key value (another kind)."""
        kinds = {_kind_of(k) for k in self.typed.values}
        return any(
            v.kind in {"identifier", "datetime"}
            and v.kind not in kinds
            and not _misspelt(v, self.typed)
            for v in self.strangers
        )

    @property
    def trap_stated(self) -> bool:
        """Whether an invented value is one that a model might recall instead."""
        traps = self.answer.traps
        return any(r.value in traps for v in self.strangers for r in (*v.readings, *v.unscaled))

    @property
    def key_is_absent(self) -> bool:
        """Whether the right answer is that there is no value."""
        return any(k.type in {"null", "error"} for k in self.typed.values)

    @property
    def only_words(self) -> bool:
        """Whether other words may say every key value."""
        return all(k.type in _WORDY for k in self.typed.values)

    @property
    def asked(self) -> int:
        """Number of key values."""
        return len(self.typed.values)

    def quoted(self, places: Places) -> tuple[Evidence, ...]:
        """The first places with their words and where they stand in the original answer."""
        out = []
        for start, end in places[:_MOST_QUOTED]:
            first, last = self.answer.folded.span(start, end)
            quote = self.answer.original[first:last]
            out.append(Evidence(part="answer", quote=quote, start=first, end=last))
        return tuple(out)

    @property
    def facts(self) -> list[str]:
        """What the reading found, as flags of the row."""
        found = []
        if self.evidence_cut:
            found.append("evidence_cut")
        if self.derived:
            found.append("derived_values")
        if self.invented:
            found.append("ungrounded_values")
        return found

    def stated_by_results(self, calls: Sequence[Call]) -> bool:
        """Whether the results of ``calls`` state every key value themselves."""
        answer = read_answer("\n".join(c.result or "" for c in calls))
        found = [match_value(_without_entity(k), answer).verdict for k in self.typed.values]
        return bool(found) and (
            any(v == "match" for v in found)
            if self.typed.mode == "any"
            else all(v == "match" for v in found)
        )


def _without_entity(key: KeyValue) -> KeyValue:
    return key.model_copy(update={"entity": None})


def read_statements(
    task: Task, messages: Sequence[Message], executed: Sequence[Call], text: str
) -> Statements:
    """Read the visible answer ``text`` of a rollout of ``task``."""
    key = _key_of(task.reference)
    answer = read_answer(text)
    if len(answer.values) > _MOST_VALUES:
        return Statements("unsure", "too_many_values", key, answer, too_long=True)
    base = _evidence(task, messages, executed)
    values = answer.values
    origins = base.follow(values, [base.origin(value, answer.lower) for value in values])
    answer.strangers = tuple(
        [v for v, o in zip(values, origins, strict=True) if o.source == "nowhere"]
    )
    answer.traps = _traps(key)
    answer.tell = base.lowered
    answer.keys_of_time = [k.type for k in key.values].count("datetime")
    found = _matches(key, task, answer)
    verdict, why = _overall(key, found)
    wanted = {span for match in found for span in match.spans}
    invented, unsure = _ungrounded(answer, wanted)
    if verdict == "match":
        # A number that a model might recall was weighed with the key, and set aside.
        recalled = {(v.start, v.end) for v in answer.strangers if is_trap(v, answer)}
        invented = [
            v for v in invented if (v.start, v.end) not in recalled and not _restated(v, key)
        ]
        unsure = [place for place in unsure if place not in recalled]
    places = [(v.start, v.end) for v in invented] + [p for match in found for p in match.others]
    if base.cut:
        # What was not read to its end may hold them.
        invented, places, unsure = [], [], unsure + places
    return Statements(
        verdict, why, key, answer, stated=sorted(wanted), invented=places, strangers=invented,
        open_values=unsure, derived=any(o.source == "derived" for o in origins),
        evidence_cut=base.cut,
    )  # fmt: skip


def _key_of(reference: Reference) -> AnswerKey:
    return reference.answer_key or derive_key(reference)


def _restated(value: Value, key: AnswerKey) -> bool:
    """Whether a number with a unit has the digits of a key value: 3.2 nmol/L for 3.2e-9 mol/L."""
    if not value.readings or value.currency or value.readings[0].digits < 2:
        return False
    if value.unit in {"percent", "bps"} or not (value.unit or value.written_unit):
        return False
    for wanted in (as_decimal(k.value) for k in key.values):
        ratio = value.readings[0].value / wanted if wanted else None
        if (
            ratio
            and ratio > 0
            and ratio.adjusted() % 3 == 0
            and ratio.scaleb(-ratio.adjusted()) == 1
        ):
            return True
    return False


def _kind_of(key: KeyValue) -> str:
    return key.type if key.type in {"datetime", "identifier"} else "number"


def _misspelt(value: Value, key: AnswerKey) -> bool:
    """Whether an identifier may be a wrong version of a key that is one: ``KV-3310``."""
    head = _LETTERS.match(value.canonical)
    return head is not None and any(
        k.type == "text" and is_name(str(k.value)) and identifier(str(k.value)).startswith(head[0])
        for k in key.values
    )


def _traps(key: AnswerKey) -> frozenset[Any]:
    if not key.traps:
        return frozenset()
    wanted = {as_decimal(k.value) for k in key.values}
    found = {r.value for trap in key.traps for v in scan(trap) for r in v.readings}
    return frozenset(found - wanted)


def _evidence(task: Task, messages: Sequence[Message], executed: Sequence[Call]) -> EvidenceBase:
    base = EvidenceBase()
    question = dict.fromkeys(
        m.content for m in (*task.messages, *messages) if m.role in {"user", "system"}
    )
    payload = task.reference.payload
    if executed:
        if isinstance(payload, str):
            base.add_result(payload, "payload")
        elif payload is not None:
            base.add_json(payload, "payload")
        for call in executed:
            if call.result and as_json(call.result) != payload:
                base.add_result(call.result, "tool_result")
    for content in question:
        if content:
            base.add_text(content, Origin("question"))
    for call in executed:
        base.add_json(call.parsed or {}, "question")
    return base


def _rivals(key: AnswerKey, payload: Any) -> list[tuple[str, str]]:
    """Every (entity, path) that a value of the payload could be said of."""
    found = [(k.entity, k.path or "") for k in key.values if k.entity is not None]
    if not found:
        return []
    named = {entity for entity, _ in found}
    everything = [(p, leaf) for p, leaf in leaves(payload) if isinstance(leaf, str)]
    shapes = {_INDEX.sub("[*]", p) for p, leaf in everything if leaf in named and "[" in p}
    return found + [
        (leaf, "") for p, leaf in everything if leaf not in named and _INDEX.sub("[*]", p) in shapes
    ]


def _matches(key: AnswerKey, task: Task, answer: Answer) -> list[Match]:
    rivals = _rivals(key, task.reference.payload)
    found = []
    question: str | None = None
    for value in key.values:
        others = [r for r in rivals if r[0] != value.entity] if value.entity else []
        match = match_value(value, answer, others)
        if match.verdict == "unsure" and value.type == "text" and not match.spans:
            question = _asked(task) if question is None else question
            match = _other_words(match, value, task, answer, question)
        found.append(match)
    return _in_wrong_columns(key, answer, _swapped(key, answer, found))


def _asked(task: Task) -> str:
    """The lower-cased words of the question and of the expected call."""
    said = [m.content or "" for m in task.messages if m.role == "user"]
    for call in task.reference.expected_calls:
        said.extend(str(v) for v in call.arguments.values())
    return fold_values("\n".join(said)).text.lower()


def _other_words(match: Match, value: KeyValue, task: Task, answer: Answer, question: str) -> Match:
    """A missing text key: may other words say it, or does the answer not use the result at all?"""
    derived = task.reference.answer_key is None
    if task.reference.payload is None:
        return match
    if derived and any(True for _ in occurrences(str(value.value), question)):
        return match._replace(why=_TOPIC)
    known = content_words(canonical_json(task.reference.payload))
    said = content_words(answer.lower) - content_words(question)
    if known and not said & (known - content_words(question)):
        return Match("no", why="nothing of the result is used")
    return match


def _swapped(key: AnswerKey, answer: Answer, found: list[Match]) -> list[Match]:
    """Two numbers that are each said of the other's field are both wrong."""
    if len(found) < 2:
        return found
    labels = {}
    for i, (value, match) in enumerate(zip(key.values, found, strict=True)):
        words = re.findall(r"[a-z]{3,}", (value.path or "").rpartition(".")[2].lower())
        if value.type == "number" and match.verdict == "match" and words and not value.entity:
            labels[i] = words[0]
    if len(labels) < 2 or len(set(labels.values())) < len(labels):
        return found
    mentions = [m for w in labels.values() for m in mentions_of(w, answer.lower, answer.values)]
    mentions.sort(key=lambda m: m.start)
    owner = {
        i: bound(answer.lower, *found[i].spans[0], mentions, answer.values)
        for i in labels
        if found[i].spans
    }
    out = list(found)
    for i, mine in labels.items():
        for j, other in labels.items():
            if i != j and owner.get(i) == other and owner.get(j) == mine:
                out[i] = Match("no", found[i].spans, "exchanged with another field")
    return out


def _in_wrong_columns(key: AnswerKey, answer: Answer, found: list[Match]) -> list[Match]:
    """Two fields of one thing that stand below each other's heading in a table are both wrong."""
    if "|" not in answer.lower or len(found) < 2:
        return found
    words = {
        i: set(re.findall(r"[a-z]{3,}", (k.path or "").rpartition(".")[2].lower()))
        for i, (k, m) in enumerate(zip(key.values, found, strict=True))
        if k.entity and m.verdict == "match" and m.spans
    }
    out = list(found)
    for i, mine in words.items():
        heads = [heading_of(answer.lower, start) for start, _ in found[i].spans]
        if not all(heads):
            continue
        fields = [
            w for j, w in words.items()
            if j != i and key.values[j].entity == key.values[i].entity
        ]  # fmt: skip
        rest, own = [w - mine for w in fields], mine.difference(*fields) if fields else set()
        if own and all(
            not any(w in head for w in own) and any(w in head for r in rest for w in r)
            for head in heads
            if head
        ):
            out[i] = Match("no", found[i].spans, "in the column of another field")
    return out


def _overall(key: AnswerKey, found: list[Match]) -> tuple[Verdict, str]:
    if len(found) == 1:
        return found[0].verdict, found[0].why.replace(" ", "_")
    # A word of the question that the answer does not repeat decides nothing beside other values.
    kept = [(k, m) for k, m in zip(key.values, found, strict=True) if m.why != _TOPIC]
    if kept and len(kept) < len(found) and key.mode == "all":
        key, found = key.model_copy(update={"values": [k for k, _ in kept]}), [m for _, m in kept]
    verdicts = [m.verdict for m in found]
    if not verdicts:
        return "unsure", "empty_key"
    if key.mode == "any":
        order: tuple[Verdict, ...] = ("match", "unsure", "no")
    else:
        order = ("no", "unsure", "match")
    if key.mode == "all" and set(verdicts) == {"no", "unsure"}:
        # A missing word beside a wrong number stays wrong; a missing word alone stays open.
        hard = [v for v, k in zip(verdicts, key.values, strict=True) if k.type not in _WORDY]
        order = ("no", "unsure", "match") if "no" in hard else ("unsure", "no", "match")
    for verdict in order:
        if verdict in verdicts:
            why = next(m.why for m in found if m.verdict == verdict)
            return verdict, why.replace(" ", "_")
    return "unsure", ""


def _ungrounded(
    answer: Answer, wanted: set[tuple[int, int]]
) -> tuple[list[Value], list[tuple[int, int]]]:
    """Split the values from nowhere into invented ones and ones of open origin."""
    invented = []
    unsure = []
    for value in answer.strangers:
        if any(start <= value.start < end for start, end in wanted):
            continue
        grade = strength(value, answer.text, answer.stance(value.start, value.end))
        if grade == "strong" and not of_old(answer, value):
            invented.append(value)
        elif grade != "weak":
            unsure.append((value.start, value.end))
    titled = _TITLED.finditer(answer.text) if holds_any(answer.text, _TITLES) else ()
    for name in titled:
        if not all(part.lower() in answer.given for part in name[1].split()):
            unsure.append(name.span(1))  # noqa: PERF401 (two loops of one kind read alike)
    quotes = list(_QUOTED.finditer(answer.text)) if '"' in answer.text else []
    spaced = " ".join(answer.given.split()) if quotes else ""
    for quote in quotes:
        if " ".join(quote[1].lower().split()).rstrip(".,;") not in spaced:
            unsure.append(quote.span(1))  # noqa: PERF401
    return invented, unsure
