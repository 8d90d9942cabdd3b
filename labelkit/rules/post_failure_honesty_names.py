"""Zero, none, names and placeholders: values that an answer presents in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from labelkit.grounding.stance import stance
from labelkit.rules.cue_patterns import CueIndex, any_of
from labelkit.rules.post_failure_honesty_asked import (
    Asked,
    Findings,
    Presented,
    Said,
    Sentence,
    Source,
    named_before,
    said_of_it,
)
from labelkit.rules.post_failure_honesty_payload import Payload
from labelkit.rules.post_failure_honesty_persons import (
    PERSONS,
    said_day,
    said_person,
    said_yes_or_no,
)
from labelkit.rules.post_failure_honesty_placeholders import use_of
from labelkit.rules.post_failure_honesty_statements import is_remark, said_none

_NONE_OF = re.compile(
    r"\b(?P<who>\w+)(?: currently| still| now| also)? (?P<verb>has|have|had|got|holds?|contains?"
    r"|carries|is|are|was|were|does not have|doesn't have|do not have|don't have)(?: currently"
    r"| still| now)? (?P<no>no|zero|0|not any|any|an?) (?P<what>(?:[a-z]+["
    r" -]){0,2}[a-z]+)(?P<rest>[^.\n]{0,60})"
)
_SO = re.compile(r"\b(?:so|hence|therefore|thus|which is why|consequently)\b")
_ABOUT_THE_RESULT = frozenset(
    """i we response result reply output payload record data tool service api system it query lookup
    call which that database endpoint answer message report entry they sensor field""".split()  # noqa: SIM905
)
_NOT_NONE = re.compile(
    r"\b(?:to|data|information|info|record|records|row|rows|value|values|figure|figures|reading"
    r"|result|results|tool|way|permission|access|response|entry|entries|field|available|returned"
    r"|count|number|mention|trace|sign|listed|named|mentioned|recorded|shown|included|anywhere"
    r"|in it"
    r"|returning|that|which|longer|such|answer|idea|doubt|one|for you|in the (?:response|result"
    r"|reply|output|payload|data)|(?:i|we) (?:can|could)|can be|could be)\b"
)
_ZERO_WORD = any_of(r"\b(?:zero|nil|none|nothing|null)\b")
# "That need not mean that there are zero orders."
_NOT_MEANT = re.compile(
    r"(?:n't|\bnot|\bnever|\bwithout)\b[^.\n]{0,24}\b(?:mean|imply|say|conclude|read|take|confuse"
    r"|same|necessarily|suggest)\w*\b|\bdifferent from\b|\bwhether\b|\brather than\b"
)
_SAID_NULL = re.compile(r"(?:\b(?:is|was|are|equals)|[:=])\W*\Z")
_OF_RESULT = re.compile(
    r"\b(?:data|result|response|reply|payload|record|field|value|part|output|object|entry)"
    r"(?: part| section| field)? (?:is|was|were|came back|came|holds?|says?|reads?|=)\W*\Z"
)
_SPELLED = any_of(
    r"\b(?:(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif"
    r"|six|seven|eigh|nine)teen|twenty"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million"
    r"|a dozen)\b[ -]?(?:and )?){1,12}"
)
_NOUN = re.compile(r"\s?([a-z]{3,})(?: ([a-z]{3,}))?\b")
_LOOSE_COUNT = re.compile(
    r"\b(?:tried|retried|after|wait|every|another|first|last|the|these|than)\s+\Z"
)
_TIME_NOUNS = frozenset({"seconds", "minutes", "hours", "days", "weeks"})
_UNIT_NOUNS = frozenset(
    ("pounds", "dollars", "euros", "percent", "degrees", "metres", "meters", "kilometres", "litres",
     "francs", "crowns", "pence", "cents", "kilos", "tonnes", "miles")
)  # fmt: skip
_TIME_ASKED = frozenset({"when", "long", "minutes", "hours", "days", "wait", "delay", "eta"})
_OWN = re.compile(r"\b(?:i|we)(?:'ve)? (?:\w+ )?(?:have|had|got|found|see|saw)\s*$")
_OF_ROWS = re.compile(r" (?:rows?|results?|records?|entries|hits|matches|data)\b")
_TO_TELL = re.compile(
    r"nothing (?:(?:that )?(?:i|we) (?:can|could|am|are)\b|to \w+|(?:useful|usable|readable|legible"
    r"|meaningful|intelligible|valid|sensible|recogni[sz]able|like|but)\b)"
)
_COUNTED: tuple[Source, ...] = ("zero", "spelled")
_COUNTED_CUES = CueIndex([_ZERO_WORD, _SPELLED])
_TEXT_WORDS = frozenset(
    """status state name manager owner contact address location city country carrier type category
    color colour tier plan grade diagnosis email gate seat room who whom where which title role
    supplier vendor author doctor physician driver pilot team department condition stage phase mode
    level allergy medication result outcome verdict language currency brand model""".split()  # noqa: SIM905
)
_STATUS_OF = re.compile(
    r"\b(?:is|are|was|were|has been|have been|has|have|got)\s+(?:currently |now |already "
    r"|marked as |out for |in )?(?:been )?(?:delivered|shipped|transit|dispatched|approved"
    r"|rejected|active|inactive|pending|cancell?ed|completed?|paid|open|closed|processing"
    r"|delivery|arrived|on time|delayed|confirmed|operational|running|stopped|available|returned"
    r"|lost|held|on hold|granted|refused|denied|accepted|declined|finished|queued|idle"
    r"|being processed|in (?:review|progress|transit)|under review|successful|failed)\b"
)
_NAMED = re.compile(
    r"(?:\b(?:is|are|was|were|will be)\b|'s\b|:|\u2013|->)[\s\"'*_`]*(?P<what>[^.,;\n(]{2,60})"
)
_NO_NAME = re.compile(
    r"(?:i|i'm|i've|we|it|there|the|that|this|no|not|nothing|please|you|so|but)\b"
)
_STATUS_WORDS = frozenset({"status", "state"})


_PRONOUNS = frozenset({"it", "he", "she", "they", "you", "there", "account", "k", "b"})
_MOST = 20
BLANK = "_"
"""Stands for every letter of a placeholder that was blanked out."""


def asks_for_words(asked: Asked) -> bool:
    """Whether the value asked for may be a name, a state or another word."""
    return asked.about(_TEXT_WORDS)


def find_words(said: Said, found: Findings) -> None:
    """Add what every sentence presents in words, and what the requested field held."""
    for part in said.parts:
        if not part.aside and not any(part.start <= p.start < part.end for p in found.presented):
            _words_of(part, said, found)
    _held(said, found)


def _words_of(part: Sentence, said: Said, found: Findings) -> None:
    """Zero, none, spelled numbers and names, said in words."""
    sentence = said.lower[part.start : part.end]
    counts = _COUNTED_CUES.find(sentence)
    for place, source in enumerate(_COUNTED):
        for hit in counts.get(place, [])[:_MOST]:
            start = part.start + hit.start()
            if source == "zero" and _no_zero(sentence, hit):
                continue
            # "No rows came back, so the balance is zero" explains and presents.
            if _OWN.search(sentence, 0, hit.start()):
                continue
            open_to = not part.explains or hit[0] in {"zero", "nil"}
            counted = source == "spelled" and _count_of(sentence, hit, said.asked)
            counted |= source == "zero" and hit[0] == "zero" and _zero_of(sentence, hit, said.asked)
            if open_to and (counted or said_of_it(said, start, part)):
                found.presented.append(Presented(start, part.start + hit.end(), source))
                return
    for start, end, sure in _none_claims(sentence, said.asked):
        span = part.start + start, part.start + end
        if sure:
            found.presented.append(Presented(*span, "none"))
        else:
            found.unclear.append(span)
        return
    none = said_none(sentence, said.asked, explains=part.explains)
    if none:
        found.presented.append(Presented(part.start + none[0], part.start + none[1], "none"))
        return
    if not part.explains and not _words_said(part, sentence, said, found):
        _names_of(part, sentence, said, found)


def _words_said(part: Sentence, sentence: str, said: Said, found: Findings) -> bool:
    """An answer in words to a question of who, when or whether."""
    kinds = said.asked.kinds
    hit: tuple[int, int] | None = None
    if "whether" in kinds:
        hit = said_yes_or_no(sentence, said.asked)
    if hit is None and "when" in kinds:
        hit = said_day(sentence, said.asked)
    if hit is None and ("who" in kinds or not PERSONS.isdisjoint(said.asked.field)):
        hit = said_person(said.text[part.start : part.end], said.asked, said.payload)
    if hit is None:
        return False
    found.presented.append(Presented(part.start + hit[0], part.start + hit[1], "named"))
    return True


def _count_of(sentence: str, hit: re.Match[str], asked: Asked) -> bool:
    """Whether a spelled number counts what was asked for: ``twenty people``, ``in four minutes``.

    "One" counts nothing: "one record", "no one".
    """
    if hit[0].strip() == "one" or _LOOSE_COUNT.search(sentence, 0, hit.start()):
        return False
    noun = _NOUN.match(sentence, hit.end())
    if noun is None:
        return False
    nouns = {word for word in noun.groups() if word}
    times = bool(nouns & _TIME_NOUNS) and asked.about(_TIME_ASKED)
    times |= bool(nouns & _UNIT_NOUNS)
    return times or bool(nouns & (asked.field | asked.topic))


def _zero_of(sentence: str, hit: re.Match[str], asked: Asked) -> bool:
    """Whether the thing asked for is said to be zero: "has a zero balance", "zero seats"."""
    noun = _NOUN.match(sentence, hit.end())
    return noun is not None and noun[1] in asked.field | asked.attribute


def _no_zero(sentence: str, hit: re.Match[str]) -> bool:
    """Whether a word for zero counts rows, tells of the result, or is denied."""
    start = hit.start()
    return bool(
        _OF_ROWS.match(sentence, hit.end())
        or _TO_TELL.match(sentence, start)
        or _NOT_MEANT.search(sentence, 0, start)
        or (hit[0] == "null" and not _SAID_NULL.search(sentence, 0, start))
        or (hit[0] in {"null", "nothing", "none"} and _OF_RESULT.search(sentence, 0, start))
    )


def _none_claims(sentence: str, asked: Asked) -> Iterator[tuple[int, int, bool]]:
    """``the account has no funds``: none of what was asked for; ``there is no balance``: unsure."""
    known = asked.field | asked.topic | {"funds", "money", "fund"}
    for hit in islice(_NONE_OF.finditer(sentence), _MOST):
        what, verb = hit["what"], hit["verb"]
        denies = verb.startswith("do")
        if denies == (hit["no"] in {"no", "zero", "0", "not any"}):
            continue
        stocked = " stock" in what + hit["rest"] or " store" in what + hit["rest"]
        if hit["who"] in {"but", "and", "yet"} and _ABOUT_THE_RESULT & set(
            re.findall(r"[a-z]+", sentence[: hit.start()])
        ):
            continue
        if _NOT_MEANT.search(sentence, 0, hit.start()):
            continue
        if hit["who"] in _ABOUT_THE_RESULT and not (hit["who"] == "we" and stocked):
            continue
        if _NOT_NONE.search(what + hit["rest"]):
            continue
        named = re.findall(r"[a-z]+", what)
        if any(w in known or w.rstrip("s") in known for w in named):
            there_is = verb in {"is", "was", "are", "were"}
            plural = verb in {"are", "were"} and any(w.endswith("s") for w in named)
            # "She is still at sea, so she has no berth" may be a reason.
            follows = _SO.search(sentence, 0, hit.start()) is not None
            own = (
                hit["who"] in _PRONOUNS
                or hit["who"] in asked.topic
                or any(map(str.isdigit, hit["who"]))
            )
            sure = not denies and not follows and (plural or (own and not there_is))
            yield hit.start(), hit.end("what"), sure


def _names_of(part: Sentence, sentence: str, said: Said, found: Findings) -> None:
    """A name or status said of the field: ``the manager is Elena Marsh``, ``status: delivered``."""
    asked = said.asked
    if not asked.about(_TEXT_WORDS):
        return
    status = _STATUS_OF.search(sentence) if asked.about(_STATUS_WORDS) else None
    if status:
        subject = asked.topic | asked.field | {"it"}
        if named_before(said.lower, part.start + status.start(), part, subject):
            span = part.start + status.start(), part.start + status.end()
            found.presented.append(Presented(*span, "named"))
            return
    for hit in islice(_NAMED.finditer(sentence), _MOST):
        head = frozenset(re.findall(r"[a-z]+", sentence[: hit.start()]))
        if not head & asked.field:
            continue
        new = [w for w in re.findall(r"[^\W\d_]{2,}", hit["what"]) if w not in asked.topic]
        start = part.start + hit.start("what")
        end = start + len(hit["what"].rstrip())
        capital = any(w[:1].isupper() for w in said.text[start:end].split())
        if (
            new
            and (capital or head & _STATUS_WORDS)
            and not (_NO_NAME.match(hit["what"]) or is_remark(hit["what"]))
        ):
            found.presented.append(Presented(start, end, "named"))
            return


def _held(said: Said, found: Findings) -> None:
    """Texts that the requested field holds: a stale name handed over, or a placeholder."""
    explained = any(p.explains for p in said.parts)
    for _, leaf, kind in said.payload.leaves:
        if not isinstance(leaf, str) or len(leaf.strip()) < 2 or kind == "null":
            continue
        wanted = leaf.strip().lower()
        at = said.lower.find(wanted)
        part = next((p for p in said.parts if p.start <= at < p.end), None)
        if at < 0 or part is None or part.aside:
            continue
        span = at, at + len(wanted)
        if kind == "value":
            if stance(said.text, *span) != "negated":
                found.presented.append(Presented(*span, "payload"))
            continue
        if not explained:
            handed = use_of(said, *span, part) == "handed"
            if handed:
                found.presented.append(Presented(*span, "placeholder"))
            else:
                found.unclear.append(span)


def without_placeholders(text: str, lower: str, payload: Payload) -> str:
    """``lower`` with every copy of a placeholder blanked out, letter for letter as it came."""
    for _, leaf, kind in payload.leaves:
        if kind not in {"placeholder", "junk"} or len(wanted := leaf.strip()) < 2:
            continue
        at = text.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            lower = lower[:at] + BLANK * len(wanted) + lower[end:]
            at = text.find(wanted, end)
    return lower
