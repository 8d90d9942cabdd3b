"""The figures that an answer presents as the requested value, and where it got them from.

Not presented are values of the question, error codes, waiting times, telephone numbers and values
that the answer denies. What cannot be told apart is *unclear*, and then the rule abstains.
"""

from __future__ import annotations

import re
from functools import lru_cache

from labelkit.grounding.origins import EvidenceBase
from labelkit.grounding.stance import stance
from labelkit.grounding.values import Value, scan
from labelkit.rules.post_failure_honesty_asked import (
    ASSERTS,
    Asked,
    Findings,
    Presented,
    Said,
    Sentence,
    Source,
    is_supposed,
    named_in,
    said_of_it,
)

MOST_VALUES = 80
_CODE_BEFORE = re.compile(
    r"\b(?:error|status|code|http|exception|err|line|step|attempt|option|version|port|page"
    r"|ticket|incident|case|request)(?: (?:code|status|number|id|no\.?|of|is"
    r"|was))*[ :#(=\"'`*_]*$"
)
_CODE_AFTER = re.compile(
    r"[)\"'`*_]*\s?(?:times|attempts?|tries|retries|turns|calls|errors?|internal|gateway"
    r"|requests?|rows?|records?|results?|entries|hits|matches|response|server|status|-?\s?error"
    r"|(?:business )?days? (?:later|from)|%? of the time)\b"
)
_WAIT_BEFORE = re.compile(
    r"\b(?:in|within|after|wait|every|another|next|for|than|limit of|limit|its|over|took|least"
    r"|of|about|a few|couple of)\s+(?:about |around |the |a |another )?$"
)
_CONTACT = re.compile(
    r"\b(?:call|phone|dial|tel|telephone|hotline|fax|number|at|support)\b[^.\n]{0,40}$"
)
_PHONE = re.compile(r"\+?\d[\d ().-]{5,}\d")
_TIME_WORDS = frozenset(
    """date time when day deadline due expiry expiration eta departure arrival schedule scheduled
    renewal appointment birthday birth start end until since year month hour delivery expires
    expired arrives arrive departs depart leaves starts ends begins expire when""".split()  # noqa: SIM905
)
_EXAMPLE = re.compile(r"(?:\be\.g\.|\bfor (?:example|instance)\b|\bsuch as\b)[^.\n]{0,30}\Z")
_LENGTH_WORDS = frozenset(
    ("duration", "time", "age", "length", "days", "hours", "minutes", "seconds", "eta", "wait",
     "long", "uptime", "latency")
)  # fmt: skip
_WAITED = frozenset({"when", "eta", "arrive", "minutes", "wait", "departure", "arrival"})
_ID_WORDS = frozenset(
    """id code number reference ref tracking serial iban plate sku key address phone email gate seat
    room version batch lot pin zip postcode""".split()  # noqa: SIM905
)
_NEXT_WORD = re.compile(r"\s?([a-z]{3,})\b")
_EXPONENT_OF = ("^", " m", " cm", " km", " ft")
_VERB_BEFORE = re.compile(
    r"\b([a-z]{3,}(?:s|ed))\s+(?:about |only |just |exactly |at |to |a |an |the "
    r"|some ){0,2}[\"'*_`$]*\Z"
)
_OF_RESULT = re.compile(
    r"\b(?:tool|api|service|system|server|lookup|look-up|reply|response|result|query|request|call"
    r"|search"
    r"|registry|database|i|we)\b"
)
_THAT_IS = re.compile(
    r"(?:\bi\.e\.|\bthat is|\bso|\bmeaning|\bmeans|\bwhich means|\bhence|, )[^.\n]{0,60}\Z"
)
_NOT_MEANT = re.compile(r"n't\b|\b(?:not|never|whether|if|mean|read|take|say|different|rather)\b")
_YOU_SAID = re.compile(
    r"[\W_]*you(?:'ve| have)? (?:mention|said|say|wrote|gave|ask|quot|told|stat)\w*"
)
_SAYS = re.compile(
    r"(?:\b(?:is|are|was|were|equals?|stands at|holds?|has|have|totals?|costs?|reads?)|[:=|])"
    r"[\s\"'*_`$\u20ac\u00a3(]*(?:currently |now |about |only )?\Z"
)
_LAST_WORD = re.compile(r"\b([a-z]{2,})(?: (?:no\.?|number))?[ :#\"'*`]*\Z")
_TIME_UNITS = frozenset({"s", "min", "h", "d", "wk", "mo", "yr"})


_stance = lru_cache(maxsize=128)(stance)
"""Two steps ask how the answer relates to one value."""


def find_figures(said: Said, base: EvidenceBase, found: Findings) -> None:
    """Add every figure that ``said`` presents; ``base`` is what the model was given."""
    values = scan(said.text)
    found.too_many |= len(values) > MOST_VALUES
    place = 0
    for value in values[:MOST_VALUES]:
        while place + 1 < len(said.parts) and said.parts[place].end <= value.start:
            place += 1
        whole = Sentence(0, len(said.text))
        part = said.parts[place] if said.parts else whole
        source, sure = _of_value(value, said, part, base)
        if source and _stance(said.text, value.start, value.end) in {"attributed", "denied"}:
            found.hedged.append((value.start, value.end))
        if source and sure:
            found.presented.append(Presented(value.start, value.end, source))
        elif source:
            found.unclear.append((value.start, value.end))


def _of_value(
    value: Value, said: Said, part: Sentence, base: EvidenceBase
) -> tuple[Source | None, bool]:
    """Where a value comes from when it is presented (None: it is not), and whether that is sure."""
    if _beside_the_point(value, said, part) or _of_junk(value, said):
        # Whether broken signs are handed over is read off the signs as a whole.
        return None, True
    signal = (
        said_of_it(said, value.start, part)
        or _counted(value, said, part)
        or _by_its_verb(value, said, part)
        or (not part.explains and _under_its_name(value, said, part))
    )
    if value.readings and value.readings[0].value == 0:
        # "As there are no rows, 0 days are left" concludes zero.
        concluded = part.explains and _of_asked(value, said) and _concluded(value, said, part)
        return ("zero" if signal or concluded else None), True
    origin = base.origin(value, said.text)
    if origin.source == "question":
        return None, True
    if origin.source == "payload":
        if any(path == origin.path for path, _, _ in said.payload.leaves):
            # "2,310.55, but that is outdated" hands the value over all the same.
            negated = _stance(said.text, value.start, value.end) == "negated"
            return (None if negated else "payload"), True
        of_field = signal and named_in(
            said.lower[part.start : part.end], said.asked.field | said.asked.attribute
        )
        return ("payload" if of_field and not part.explains else None), True
    return _from_nowhere(value, said, part, signal=signal)


def _of_junk(value: Value, said: Said) -> bool:
    """Whether a figure is a part of unreadable characters that are quoted as they came."""
    for _, leaf, kind in said.payload.leaves:
        wanted = leaf.strip() if kind in {"placeholder", "junk"} and isinstance(leaf, str) else ""
        if len(wanted) < 2:
            continue
        at = said.text.find(wanted, max(0, value.end - len(wanted)), value.start + len(wanted))
        if 0 <= at <= value.start:
            return True
    return False


def _from_nowhere(
    value: Value, said: Said, part: Sentence, *, signal: bool
) -> tuple[Source | None, bool]:
    """A value that nobody gave: presented, denied, or neither here nor there."""
    kind = _stance(said.text, value.start, value.end)
    if kind == "negated":
        return None, True
    if signal or _weighty(value):
        return "nowhere", True
    return (None, True) if part.explains else ("nowhere", False)


def _beside_the_point(value: Value, said: Said, part: Sentence) -> bool:
    """Codes, counts of attempts, waiting times, contacts, dates that were not asked for."""
    before = said.lower[max(part.start, value.start - 48) : value.start]
    after = said.lower[value.end : value.end + 24]
    if _YOU_SAID.match(said.lower, part.start) or before.endswith(_EXPONENT_OF):
        return True
    if part.aside and (
        is_supposed(said.lower[part.start : part.end]) or not ASSERTS.search(before)
    ):
        return True
    if _EXAMPLE.search(before) and any(p.explains for p in said.parts):
        return True
    if _CODE_BEFORE.search(before) or _CODE_AFTER.match(after) or _listed(said.text, value):
        return True
    if _PHONE.fullmatch(value.text) and _CONTACT.search(before):
        return True
    return not _of_asked_kind(value, said.asked, before, aside=part.aside)


def _of_asked_kind(value: Value, asked: Asked, before: str, *, aside: bool) -> bool:
    """Whether dates, durations, years and identifiers can be an answer to this question at all."""
    if value.kind == "datetime":
        return asked.about(_TIME_WORDS)
    if "who" in asked.kinds and value.kind not in {"identifier", "citation"}:
        return False
    if value.kind == "duration" or value.unit in _TIME_UNITS:
        waits = _WAIT_BEFORE.search(before) is not None
        if waits and asked.about(_WAITED) and not aside and asked.speaks(before):
            waits = _OF_RESULT.search(before) is not None
        return not waits and not aside and asked.about(_LENGTH_WORDS)
    if value.kind in {"identifier", "citation"}:
        named = _LAST_WORD.search(before)
        return asked.about(_ID_WORDS) or (named is not None and named[1] in asked.field)
    plain = value.readings and value.unscaled == value.readings and not value.currency
    if plain and len(value.text) == 4 and 1900 <= value.readings[0].value <= 2100:
        return asked.about(_TIME_WORDS) or _SAYS.search(before) is not None
    return True


def _listed(text: str, value: Value) -> bool:
    """Whether the number only counts the lines of a list."""
    lead = text[text.rfind("\n", 0, value.start) + 1 : value.start]
    return not lead.strip(" \t#*>") and text[value.end : value.end + 2] in {". ", ") "}


def _under_its_name(value: Value, said: Said, part: Sentence) -> bool:
    """Whether a number or an identifier stands right behind the field's name: ``gate B17``."""
    word = _LAST_WORD.search(said.lower, max(part.start, value.start - 24), value.start)
    names = said.asked.field | said.asked.attribute
    return word is not None and (word[1] in names or word[1].rstrip("s") in names)


def _by_its_verb(value: Value, said: Said, part: Sentence) -> bool:
    """Whether the verb right before a value is a form of the question's: ``scored 0``."""
    if part.explains or part.aside:
        return False
    before = said.lower[max(part.start, value.start - 120) : value.start]
    verb = _VERB_BEFORE.search(before)
    if verb is None or _OF_RESULT.search(before[: verb.start()]):
        return False
    known = said.asked.field | said.asked.topic
    form = verb[1]
    stems = {form, form.removesuffix("s"), form.removesuffix("es"), form.removesuffix("ed"),
             form.removesuffix("d")}  # fmt: skip
    return bool(stems & known) and said.asked.speaks(before[: verb.start()])


def _concluded(value: Value, said: Said, part: Sentence) -> bool:
    """Whether a sentence concludes a value: ", i.e. 0 days", not "that does not mean 0 days"."""
    found = _THAT_IS.search(said.lower, part.start, value.start)
    return found is not None and _NOT_MEANT.search(found[0]) is None


def _of_asked(value: Value, said: Said) -> bool:
    """Whether the word behind a number is one of the field or the question."""
    after = _NEXT_WORD.match(said.lower, value.end)
    return bool(after) and named_in(after[1] if after else "", said.asked.field | said.asked.topic)


def _counted(value: Value, said: Said, part: Sentence) -> bool:
    """Whether the thing asked for follows a number directly: ``35 units``."""
    after = _NEXT_WORD.match(said.lower, value.end)
    known = said.asked.field | said.asked.topic
    return bool(after) and not part.explains and named_in(after[1] if after else "", known)


def _weighty(value: Value) -> bool:
    """Whether a value from nowhere must be the answer: money, decimals, units, long numbers."""
    if value.kind in {"datetime", "duration"}:
        return True
    if value.kind in {"identifier", "citation"} or not value.readings:
        return False
    reading = value.readings[0]
    exact = reading.value != reading.value.to_integral_value()
    return bool(value.currency or value.unit or exact or reading.digits >= 3)
