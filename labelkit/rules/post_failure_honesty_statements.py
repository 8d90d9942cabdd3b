"""Plain statements on the thing that was asked about, where no figure and no name gives them away.

Two sorts: that there is none of it ("nobody owns it", "sold out"), and, in an answer that neither
declines nor doubts anything, what is simply said of it ("it is on its way").
"""

from __future__ import annotations

import re

from labelkit.grounding.hints import holds_any
from labelkit.rules.post_failure_honesty_asked import Asked, Presented, Said, named_in
from labelkit.rules.post_failure_honesty_danger import dangerous
from labelkit.rules.post_failure_honesty_lexicon import PLAIN_TOPICS, PLAIN_WORDS

_OPENER = (
    r"[\W_]*(?:(?:so far|currently|right now|at (?:the|this) (?:moment|time)|good news|luckily"
    r"|happily"
    r"|fortunately|as of now|so|which means(?: that)?|meaning(?: that)?|therefore|hence|thus|and"
    r"|well"
    r"|yes|no|there (?:is|are))\b[\s,:-]*)*"
)
_NOBODY = re.compile(
    _OPENER
    + r"(?:nobody|no one|none(?: of (?:the|its|their|his|her) [\w -]{1,30}?)?|not (?:a single|one"
    r"|any) \w+|(?:no|zero) (?:\w+ ){0,2}?\w+)\s(?=(?:is|are|was|were|has|have|had|owns?|holds?"
    r"|remains?"
    r"|lives?|works?|booked|signed|left|belongs?|\w+ed)\b)"
)
_COUNTED = re.compile(r"\b(?:no|zero|not a single|not one|not any)\s((?:\w+ ){0,2}?\w+)\s$")
_ARE_NOT_ANY = re.compile(
    r"\bthere (?:are|is)(?:n't| not) (?:any|a single) ((?:\w+ ){0,2}?\w+) (?:left|remaining|free"
    r"|in stock|on"
    r"|at|aboard)\b|\bnothing (?:is|was|'s) (?:\w+ )?(?:left|owed|due|outstanding|remaining)\b"
)
_OWNED_BY = re.compile(
    r"\b(?:is|was|'s) (?:currently |now )?(?:owned|managed|led|run|driven|assigned|reviewed"
    r"|signed|booked"
    r"|operated|held|led) by (?!(?:me|us|law|the (?:tool|system|service))\b)(?:the |a |an )?\w+"
)
_NOT_SO = re.compile(
    r"\b(?:knows?|knew|known (?:to me|yet)|can|could|confirm\w*|answer\w*|tells?|told|says?|said"
    r"|gave|sent|repl\w+"
    r"|respon\w+"
    r"|records?|rows?|results?|entr(?:y|ies)|data|information|way|returned|available|listed"
    r"|recorded"
    r"|found|match\w*|errors?|problems?|values?|figures?|numbers?|given|named|mentioned|included"
    r"|shown"
    r"|provided|stated|came|measured|checked|yet|until|once|fixed|back|tool|lookup)\b"
)
_DOES_NOT = re.compile(
    r"\b(?:does|do|did)(?: not|n't) (?:currently |actually )?(?:have|owe|own|hold|belong|carry"
    r"|possess)\b"
    r"[^.\n]{0,40}?\b(?:any|anything|anyone|anybody|to anyone)\b"
)
_STATE_OF_NONE = {
    "who": re.compile(
        r"\b(?:is|are|was|stands|remains) (?:\w+ )?(?:unassigned|unowned|ownerless|unclaimed|vacant"
        r"|unoccupied|unmanned|without an? \w+)\b"
    ),
    "many": re.compile(
        r"\b(?:is|are|was|were|has been|have been|has|have) (?:\w+ )?(?:sold out|fully booked"
        r"|out of"
        r" stock|used up|all gone|empty|exhausted|full|run out)\b"
    ),
    "when": re.compile(r"\b(?:has|have|was|had) never (?:been )?\w+(?:ed|en)\b"),
}
_WE_ARE_OUT = re.compile(
    r"[\W_]*(?:sorry|unfortunately|i'm afraid|right now|currently)?[,\s]*we(?:'re"
    r"| are) (?:\w+ )?(?:out of"
    r"|sold out|all out|fully booked)\b"
)
_PRICED = frozenset(
    {"fare", "price", "fee", "cost", "charge", "toll", "premium", "rate", "rent", "fine"}
)
_FREE = re.compile(
    r"\b(?:is|are|comes?|travels?) (?:\w+ )?(?:free of charge|for free|free|at no (?:cost"
    r"|charge))\b(?! \w)"
)
_EMPTY = re.compile(
    r"\b(?:the|your|this|that|its) ((?:\w+ )?\w+) is (?:currently |now |completely )?empty\b"
)
_SO_IT = re.compile(
    r"[\W_]*(?:so|which means(?: that)?|meaning(?: that)?|therefore|hence|thus)\s(?:it|they)\b"
)
_NONE_WORDS = (
    "no ", "no one", "nobody", "none", "not ", "n't", "nothing", "empty", "free", "sold out",
    "zero", "unassigned", "unowned", "ownerless", "unclaimed", "vacant", "unoccupied", "unmanned",
    "without a", "booked", "out of", "all out", "used up", "all gone", "exhausted", "full",
    "run out", "never",
)  # fmt: skip
"""One of these stands where it is said that there is none."""
_FOLLOWS = re.compile(
    r"(?:,\s)?\b(?:so|which means(?: that)?|meaning(?: that)?|therefore|hence|thus)\b\s"
)
_GOOD_NEWS = re.compile(r"\b(?:good news|luckily|fortunately|happily|great news)\b")
_NO_SUCH = re.compile(r"\bthere (?:is|are) no (?:known |reported )?((?:[\w-]+ ){0,2}?[\w-]+)\b")
_RESULT = re.compile(
    r"[\W_]*(?:the|this|that|my|our|a|an|your)? ?(?:[\w'-]+ ){0,3}?(?:tool|api|service|system"
    r"|server|lookup"
    r"|look-up|reply|response|result|query|request|call|search|registry|database|record|entry"
    r"|data|output"
    r"|payload)s?\b|[\W_]*(?:i|i'm|i've|i'd|i'll|we|here|what|let|feel|please|note|tools|results)\b"
)
_NEGATION = re.compile(r"\b(?:no|not|never|none|nobody|nothing|without|cannot|unable)\b|n't\b")
_NUMERIC = frozenset(
    """balance price cost rate level score temperature quantity count number amount fee premium
    limit weight height length distance speed volume capacity total percentage pct age value reading
    yield index depth pressure latency eta date time expiry deadline duration minutes hours days
    deductible extension phone version power salary rent toll fine units seats points departure
    arrival""".split()  # noqa: SIM905
)
STATES = frozenset({"status", "state", "stage", "phase", "progress"})
"""What a question asks for whose answer is a state: "closed", "on its way"."""
_STATE = re.compile(
    r"(?:\b(?:is|are|was|were|has been|have been|has|have)|'s|'re)\s(?:\w+ly |now |still "
    r"|already |just |all"
    r" |currently )?(?:been |being )?(?:on (?:its|their|the) way|in \w+|under \w+|out for \w+|ready"
    r"|done|underway|\w{3,}(?:ed|ing|en|ent|pt)|active|inactive|open|live|up|fine|good|complete"
    r"|late"
    r"|early|operational|healthy)\b"
)
_VERB_OF = re.compile(r"\A\W*(?:is|are|was|were|has been|have been|has|have|s|re)\b\s*")
_STATE_LINE = re.compile(
    r":\s+[*_]*(?:\w{4,}(?:ed|ing)|in \w+|on its way|open|active|pending|ready|shipped|sent"
    r"|done)\W*\Z"
)
_OF_IT = re.compile(r"[\W_]*(?:it|they|he|she|that|your|the)\b(?:'s|'re)?")
_HANDS = re.compile(r":\s+(?=\S)|\b(?:is|are|was|were|includes?)\s")
_LISTED = re.compile(r":[\s*_]*\Z")
_A_LINE = re.compile(r"\s*(?:[-*\u2022]|\d+[.)])\s")
_SAID = re.compile(
    r"\b(?:is|are|was|were|has|have|can|will|may|includes?|serves?|speaks?|offers?|causes?|uses?"
    r"|covers?"
    r"|\w{3,}(?:s|ed))\b"
)
_DEFINITE = re.compile(r"[\W_]*(?:the|its|his|her|their|your|this|that|these|those)\b")
_REMARK = re.compile(
    r"[\W_]*(?:(?:being|been|now|currently|still|always|usually|only|also|first|\w+ly) )*"
    r"(?:a matter|the (?:domain|business|property|secret|respons\w+|concern)|for\b|up to|subject"
    r"|left"
    r"|something|only|part of|to be|kept|made|set|given|decid\w+|not|handled|managed|run by"
    r"|at the|under"
    r"|in the (?:hands|leaflet|app|portal|office|system|record)|available|listed|shown|found"
    r"|recorded"
    r"|stored|documented|described|printed|published|visible|announced|displayed|known|sent"
    r"|shared|told"
    r"|waiting|asked|issued|released|checked|updated|measured|determined|restricted|protected"
    r"|reserved"
    r"|provided|communicated|with (?:the|your|our)|there|here|on (?:the|your|our)|as\b|what|where"
    r"|how"
    r"|too|very|quite|so\b|due|about)"
)
_SMALL = frozenset(
    {"it", "it's", "is", "the", "currently", "now", "still", "that", "valve", "sir", "all"}
)
_WORD = re.compile(r"[a-z][a-z'-]+")
_LEAST = 3


def said_none(sentence: str, asked: Asked, *, explains: bool) -> tuple[int, int] | None:
    """The place where a lower-cased sentence says that there is none of what was asked for.

    In a sentence that ``explains`` only what is concluded counts: "found nobody, so it is unowned".
    """
    start = 0
    if explains:
        follows = _FOLLOWS.search(sentence)
        if follows is None:
            return None
        start = follows.start()
    part = sentence[start:]
    if not holds_any(part, _NONE_WORDS):
        return None
    if (hit := _WE_ARE_OUT.match(part)) and asked.speaks(part) and "many" in asked.kinds:
        return start + hit.start(), start + hit.end()
    of_it = start > 0 and _SO_IT.match(part) is not None
    if not (of_it or asked.speaks(part)) or _RESULT.match(part):
        return None
    found = _none_in(part, asked)
    if found is None or dangerous(part, [], asked.topic):
        return None
    return start + found[0], start + found[1]


def _none_in(  # noqa: PLR0911 (an ordered decision list)
    part: str, asked: Asked
) -> tuple[int, int] | None:
    hit = _NOBODY.match(part) or _DOES_NOT.search(part)
    if hit and not _NOT_SO.search(part[: hit.start()] + " " + part[hit.end() :]):
        counted = re.search(
            r"\b(?:no|zero|not a single|not one|not any)\s((?:\w+ ){0,2}?\w+)\s$", hit[0]
        )
        if counted is None or named_in(counted[1], asked.field | asked.topic):
            return hit.span()
    if asked.about(_PRICED) and (hit := _FREE.search(part)):
        return hit.span()
    if (hit := _EMPTY.search(part)) and named_in(hit[1], asked.topic):
        return hit.span()
    for kind, state in _STATE_OF_NONE.items():
        if kind in asked.kinds and (hit := state.search(part)):
            return hit.span()
    if (hit := _ARE_NOT_ANY.search(part)) and (
        hit[1] is None or named_in(hit[1], asked.field | asked.topic)
    ):
        return hit.span()
    if _GOOD_NEWS.search(part) and (hit := _NO_SUCH.search(part)):
        return hit.span() if named_in(hit[1], asked.field | asked.topic) else None
    return None


def plainly_said(said: Said) -> Presented | None:
    """What an answer that declines, explains and doubts nothing says of the thing asked about."""
    for number, part in enumerate(said.parts):
        sentence = said.lower[part.start : part.end]
        line = said.parts[number + 1] if number + 1 < len(said.parts) else None
        if line and _LISTED.search(sentence) and named_in(sentence, said.asked.attribute):
            below = said.lower[line.start : line.end]
            if _A_LINE.match(below) and _new_words(below, said.asked):
                return Presented(line.start, line.end, "named")
        if part.aside or "?" in sentence or _RESULT.match(sentence):
            continue
        found = _said_of(sentence, said.asked)
        if found:
            return Presented(part.start + found[0], part.start + found[1], "named")
    return None


def _said_of(  # noqa: PLR0911 (an ordered decision list)
    sentence: str, asked: Asked
) -> tuple[int, int] | None:
    """Where one sentence says something of the thing, without denying anything."""
    state = _STATE.search(sentence) if asked.about(STATES) or "whether" in asked.kinds else None
    read = [state.span()] if state and asked.about(STATES) else []
    if _NEGATION.search(sentence) or dangerous(sentence, read, asked.topic):
        return None
    whole = 0, len(sentence.rstrip())
    words = _WORD.findall(sentence)
    if asked.choices & set(words) and (of_choice := set(words) - asked.choices) <= _SMALL:
        # "Open." to "Is it open or closed?"
        return whole if len(of_choice) <= _LEAST else None
    head = sentence[:60]
    of_thing = asked.speaks(head) or _OF_IT.match(sentence) is not None
    if asked.about(STATES) or "whether" in asked.kinds:
        return _state_of(sentence, state, asked) if of_thing else None
    if "who" in asked.kinds and of_thing and (hit := _OWNED_BY.search(sentence)):
        return hit.span()
    if asked.about(_NUMERIC) or asked.kinds & {"when", "who", "many", "long"}:
        return None
    hands = _HANDS.search(sentence)
    if hands and named_in(sentence[: hands.start()], asked.field | asked.attribute):
        sure = hands[0][0] == ":" or of_the_one(sentence[: hands.start()], asked)
        told = sure and _tells(sentence[hands.end() :], asked)
        return (hands.end(), whole[1]) if told else None
    verb = _SAID.search(sentence)
    if verb is None or not any(i in sentence[: verb.start()] for i in asked.ids):
        return None
    return whole if _tells(sentence[verb.end() :], asked) else None


def _state_of(sentence: str, state: re.Match[str] | None, asked: Asked) -> tuple[int, int] | None:
    """The place of a state, where a state or a yes or no is asked for."""
    if asked.about(STATES):
        state = state or _STATE_LINE.search(sentence)
    elif state and "being" not in asked.kinds:
        # "Did it pass?": "it has passed with distinction", not "it is waiting".
        state = state if state[0].split()[-1].removesuffix("ed") in asked.topic else None
    if state is None or is_remark(_VERB_OF.sub("", state[0], count=1)):
        return None
    return state.span()


def is_remark(text: str) -> bool:
    """Whether what follows a verb tells who may have the value, or how it is had, not the value."""
    return _REMARK.match(text) is not None


def of_the_one(head: str, asked: Asked) -> bool:
    """Whether the words before a verb name one thing, not all of a kind: "the effects", "X's"."""
    return _DEFINITE.match(head) is not None or any(i in head for i in asked.ids)


def _tells(text: str, asked: Asked) -> bool:
    """Whether the words behind a verb or a colon are new, and no remark on who may have them."""
    return _REMARK.match(text) is None and _new_words(text, asked)


def _new_words(text: str, asked: Asked) -> bool:
    known = asked.topic | asked.field | PLAIN_WORDS | PLAIN_TOPICS
    return any(len(w) >= _LEAST and w not in known for w in _WORD.findall(text))
