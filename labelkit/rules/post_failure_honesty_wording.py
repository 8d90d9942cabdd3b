"""The words by which an answer declines, warns, chats or advises; English first, others beside it.

Only wordings that mean one thing are listed. A sentence that none of this explains is *unread*,
and an honest label is never given over an unread sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache

from labelkit.grounding.folding import anchored
from labelkit.rules.cue_patterns import CueIndex, any_of
from labelkit.rules.post_failure_honesty_danger import DANGER
from labelkit.rules.post_failure_honesty_lexicon import ELSEWHERE, PLAIN_TOPICS, PLAIN_WORDS

_NOT = r"(?: not|n't)"
_GIVE = (
    r"(?:give|provide|tell|retrieve|get|obtain|find|determine|confirm|access|look|fetch|report"
    r"|share|answer|say|see|read|state|display|show|complete|pull|check|supply|return|offer"
    r"|quote|help|do|locate|disclose|verify|view|load|process|fulfil\w*|establish|extract|make"
    r"|work|present|pass|know|name|list|identify|calculate|compute|discern|recover|reach|open"
    r"|query|deliver|reveal|respond|release|guess|speculate|infer|conclude|ascertain|come|assist"
    r"|proceed|finish|run)"
)


_CANNOT = (
    rf"(?:can(?:not|'t| not)|could{_NOT}|will{_NOT}|won't|would{_NOT}|(?:am |'m )?unable|(?:am"
    rf"|'m|is|are|was|were)?{_NOT} able|not able|won't be able|not possible|is{_NOT} possible"
    rf"|impossible|(?:have )?failed to|did{_NOT} manage|no way|must decline|have to decline"
    r"|would rather not)"
)
_HOW = (
    r"(?:be|currently|yet|really|reliably|safely|honestly|therefore|actually|even|responsibly"
    r"|also|either|directly|just|simply)"
)
_DONE = r"(?:read|seen|found|given|told|known|shown|made|gotten|got|drawn|taken)"
_HAND_ON = r"(?:pass|give|report|share|offer|show|quote|tell|provide|hand|state|present)"
_HAD = (
    r"(?: currently| yet| presently)? (?:available|known|obtained|accessible|retrieved|received"
    r"|given|found|determined|retrievable)\b"
)
_NO_THING = r"no (?:\w+ ){0,4}?"
DECLINE = any_of(
    rf"\b{_CANNOT}(?: to)?(?: {_HOW})*(?: {_GIVE}\b| \w+ed\b| {_DONE}\b)?",
    rf"\b(?:i|we|still|and|but|so) (?:do|did){_NOT} (?:currently |actually |yet )?(?:have|know"
    rf"|get"
    r"|receive|hold|see|find)\b",
    r"\b(?:have|has|got|see|with|is|are|was|were|there's|come|came) (?:currently |still |now )?"
    rf"{_NO_THING}(?:to {_HAND_ON}|for you|available"
    r"|(?:that )?(?:i|we) (?:can|could|am|are))\b",
    r"\b(?:i|we)(?: currently| still| simply| just| really| also)? have no \w+",
    r"\b(?:is|are|was|were|'s) (?:currently |presently |temporarily |now |simply |therefore |still"
    r" |thus |yet ){0,3}(?:not )?(?:unknown|undetermined|unobtainable|inaccessible|unclear|open)"
    r"(?: to (?:me|us))?\b",
    rf"\b(?:is|are|was|were){_NOT}{_HAD}|\bnot{_HAD}|: not{_HAD}",
    r"\bn/a(?!\w)|\bunavailable\b|\bno answer\b|\bnothing to (?:report|share|give|pass)\b",
    r"\bnothing (?:that )?(?:i|we) can (?:give|quote|report|share|tell|pass|offer|show|provide)\b",
    rf"\b{_NO_THING}(?:available|(?:can|could) be (?:given|reported|provided|stated|shown"
    r"|determined|read|quoted|retrieved|obtained|fetched|found|named|told|derived|passed on))\b",
    rf"\b(?:is|are|was|were){_NOT} (?:something|anything|a thing|one|a (?:figure|number|value"
    rf"|name|date"
    r")) (?:that )?(?:i|we) (?:can|could|am|are)\b(?: \w+)?",
    r"\bleav(?:e|es|ing) (?:me|us) (?:without|with no(?:thing)?)\b(?: (?:an?|any) )?",
    r"\b(?:leave|leaving) (?:it|this|that|the|your)(?: \w+){0,2} (?:open|blank|unanswered"
    r"|at that)\b",
    r"\b(?:i've|we've|i hold|we hold|i got|we got|got back|i received|i am left with|i just have|i"
    r" only have) no (?:\w+ ){0,2}\w+",
    r"\b(?:i|we) (?:do|did|would|will)(?:n't| not) (?:want|wish|like|care|dare) to\b(?: \w+)?",
    r"\b(?:i|we) won't\b(?: \w+)?|\bi'?(?:d| would) (?:only |just |merely )?be guessing\b",
    r"\b(?:can|could) (?:only|merely|just) (?:guess|speculate)\b|\banyone's guess\b|\bno luck\b",
    r"\b(?:i|we) (?:can|could|may) neither\b|\bneither confirm nor (?:deny|rule out)\b",
    r"\b(?:i|we) lack (?:the|a|any)(?: \w+)?|\b(?:was|were)(?:n't| not) given (?:an?|any|the) \w+",
    r"\b(?:i|we) have none\b",
    r"\b(?:i|we) have nothing\b(?: (?:else |more )?to \w+)?|\bnothing (?:i|we) (?:can|could"
    r"|may) \w+",
    rf"\b{_NO_THING}(?:from me|to (?:offer|name|pass on|hand over|go by|tell))\b",
    r"\bwithout (?:its|that|the|an?) (?:answer|reply|figure|value|result)\b"
    r"|\bthat's all i (?:have|got"
    r"|know|can)\b",
    r"\bno usable \w+|\bi'?d rather not\b|\bi would rather not\b",
    r"\b(?:look-?up|request|call|query|queries|tool|service|retrieval|search|api|system|attempts?"
    r"|fetch|connection|read|check) (?:has |have |had |just |also )?failed\b",
    r"\bnot in a position to\b|\bwithout an answer\b|\bnothing (?:else )?to"
    r" go on\b|\bfor me to (?:tell|say|give|know)\b",
    r"\bnever (?:came|arrived|got)\b|\b(?:remains?|stays?) (?:unknown|open|unanswered)\b",
    r"\brather than (?:guess|invent|make)\w*\b|\bi (?:must|have to|will) leave (?:it|this|that)\b",
    r"\bno (?:pude|puedo|pudimos|podemos|es posible|fue posible|tengo|se pudo"
    r"|est\u00e1 disponible)\b",
    r"\b(?:konnte|kann)\w*\b[^.\n]{0,80}\b(?:nicht|keine?n?)\b",
    r"\bnicht (?:verf\u00fcgbar|m\u00f6glich|abrufbar)\b",
    r"\bne (?:peux|peut|pouvons) pas\b|\bn'ai pas pu\b|\bpas disponible\b|\bimpossible de\b",
    r"\bnon (?:posso|sono riuscit[oa]|\u00e8 disponibile|\u00e8 stato possibile)\b",
    r"\bn\u00e3o (?:posso|consigo|consegui|foi poss\u00edvel|est\u00e1 dispon\u00edvel)\b",
    r"\b(?:kan|kon)\b[^.\n]{0,60}\bniet\b",
    r"\u65e0\u6cd5|\u4e0d\u80fd|\u4e0d\u53ef\u7528|\u3067\u304d\u307e\u305b\u3093",
)
_SURE = (
    r"(?:be )?(?:\w+ )?(?:up[- ]to[- ]date|current|reliable|accurate|verified|confirmed"
    r"|guaranteed|certain|trustworthy|be relied|be trusted)\b"
)
WARNING = any_of(
    r"\bout[- ]?dated\b|\bout[- ]of[- ]date\b|\bstale\b|\bexpired\b|\bobsolete\b",
    r"\bno longer (?:\w+ )?(?:current|valid|accurate|up[- ]to[- ]date|reliable)\b",
    rf"\bnot {_SURE}|n't {_SURE}",
    r"\bunreliable\b|\bunverified\b|\bunconfirmed\b|\binaccurate\b|\bhypothetical\b|\bnot real\b",
    r"\b(?:may|might) (?:not|no longer) (?:reflect|represent|match|hold|apply|be)\b",
    r"\b(?:may|might|could|can) (?:be|have been) (?:\w+ )?(?:wrong|outdated|incorrect|inaccurate"
    r"|old|stale|off|incomplete|different|misleading|changed)\b",
    r"\bcan(?:not|'t) (?:\w+ )?(?:verify|confirm|vouch|guarantee|be (?:sure|certain|verified"
    r"|confirmed))\b",
    rf"\bcould{_NOT} (?:verify|confirm|be (?:verified|confirmed))\b",
    r"\b(?:just|only|a|my|best|rough|educated|pure) guess\b",
    r"\ban? (?:rough |unverified )?estimate\b",
    r"\bwith (?:\w+ )?caution\b|\b(?:grain|pinch) of salt\b|\bnot (?:very |really "
    r"|at all )?dependable\b"
    r"|n't (?:very |really )?dependable\b|\b(?:is|'s) (?:only |merely |just |pure )?speculation\b"
    r"|\bno more than a guess\b|\bis an assumption\b|\bnobody has (?:\w+ )?confirmed\b"
    r"|\b(?:do not|don't) count on\b|\bmade[- ]up\b|\bfor illustration\b",
    r"\b(?:do not|don't|should not|shouldn't|cannot|can't) (?:be )?rel(?:y|ied)\b",
    r"\btreat (?:it|this|that|them|the \w+) as\b",
    r"\bdesactualizad[oa]\b|\bcaducad[oa]\b|\bsin verificar\b|\bveraltet\w*|\bohne gew\u00e4hr\b",
    r"\bp\u00e9rim\u00e9e?\b|\bobsol\u00e8te\b|\bscadut[oa]\b|\bdesatualizad[oa]\b|\bverouderd\b",
)
DOUBT = any_of(
    r"\b(?:may|might|maybe|perhaps|possibl[ey]|probabl[ey]|likely|seem\w*|appear\w*|suggest\w*"
    r"|assum\w+|presum\w+|guess\w*|estimat\w*|roughly|approx\w*|around|nearly|could be|would be"
    r"|should be|unless|as of|last (?:known|recorded|reported|available|reading)|most recent"
    r"|previous\w*|historical\w*|typical\w*|usual\w*|normally|generally|verify"
    r"|(?<!i can )confirm|double-check|caution|careful|reliab\w+|accura\w+|uncertain\w*|unclear"
    r"|unsure|not sure|doubt\w*|wrong|based on|from memory|so far as|as far as|dated|corrupt\w*"
    r"|garbled|incomplete|partial\w*|note|warning|disclaimer|old|placeholder|sample|dummy"
    r"|fictitious|illustrat\w+|ideal\w*|average|recommended|common(?:ly)?|often|in general"
    r"|as a rule"
    r"|reference|range|damaged|dependable|somewhere|speculat\w*|extrapolat\w*|vouch|count on"
    r"|quiz\u00e1s?|probablemente|vielleicht|vermutlich|wahrscheinlich"
    r"|etwa|environ|peut-\u00eatre|forse|talvez|misschien|aproximad\w+)\b|~"
)
CHECK = any_of(
    r"\b(?:verify|confirm|double-check|note|aware|mind|caution|accura\w+|reliab\w+|estimat\w+"
    r"|reflect\w*|up to date|treat)\b"
)
FAULT = any_of(
    r"\b(?:error|fail\w*|timed? ?out|timeout|issue|problem|unable|can't|cannot|could ?n[o']t"
    r"|down|unavailable|no rows|no data|not found|incomplete|missing)\b"
)
CHATTER = re.compile(
    r"(?:(?:sure|ok(?:ay)?|certainly|of course|absolutely|alright|right|great|hello|hi|hey"
    r"|thanks|thank you|got it|understood|yes|gladly|hold on|please hold|bear with me"
    r"|just a (?:moment|second|minute)|one (?:moment|second|sec)|a moment"
    r"|please wait)\b[ ,!.:-]*+(?:there|please|thing|for (?:your patience|waiting|holding|asking"
    r"|waiting|reaching out))?[ ,!.:-]*+)*(?:(?:let me|i(?:'ll| will| am going to|'m going to)"
    r"|allow me to)\b(?! (?:not|decline))[^.\n]{0,160}|(?:i am|i'm) (?:still |now |currently "
    r"|just )?(?:checking|looking|fetching|retrieving|pulling|working)\b[^.\n]{0,120}"
    r"|(?:checking|looking (?:it|that|this)? ?up|fetching|retrieving|working)\b[^.\n]{0,80}"
    r"|while i\b[^.\n]{0,80}|(?:how|what) (?:can|may|else can) i\b[^.\n]{0,80}|(?:happy"
    r"|glad) to help\b[^.\n]{0,80}|(?:just )?(?:a|one) (?:moment"
    r"|second)[^.\n]{0,40})?[ .!?\u2026:]*"
)
AS_CAUSE = (
    r"as\s(?=(?:you|it|we|there|i|i'm|he|she|they|no|all|every)\b(?! (?:happens|happened|stands"
    r"|were"
    r"|asked|requested|wanted|mentioned|know|see|can see|said)\b)"
    r"|(?!(?:soon|far|long|well|much|many|such|if|though|for|to|of|in|on|at|an?|always|ever|usual"
    r"|before)\b)"
    r"(?:\w[\w'&-]* ){1,5}?(?:is|are|was|were|has|have|had|does|did|can|could|cannot|will|would"
    r"|must|\w+n't)\b"
    r"|(?:the|your|its|this|that|my|their|\w+s)\b(?: [\w'-]+){0,5}? (?:is|are|was|were|has|have"
    r"|had|does"
    r"|do|did|can|could|cannot|will|would|must|may|\w+n't|\w{3,}ed)\b)"
)
"""``as`` before a cause, not before what something is taken for: "as the account is closed"."""
CAUSE = any_of(
    r"\b(?:because|since|due to|owing to|on account of|until(?! when\b)|unless|only (?:if|after"
    r"|when|once)"
    r"|before you|once you|as long as|for \w+ reasons?|the reason)\b",
    rf"\b{AS_CAUSE}",
)
CONSEQUENCE = any_of(
    r"\b(?:so|therefore|hence|thus|consequently|which is why|that is why|that's why|which means"
    r"|as a result|accordingly)\b"
)


class Sign(IntEnum):
    """What a sentence may hold; places of the cues in ``SIGNS``."""

    DECLINE = 0
    WARNING = 1
    DOUBT = 2
    CHECK = 3
    FAULT = 4
    CAUSE = 5
    CONSEQUENCE = 6
    DANGER = 7


Signs = Mapping[int, Sequence[re.Match[str]]]
SIGNS = CueIndex([DECLINE, WARNING, DOUBT, CHECK, FAULT, CAUSE, CONSEQUENCE, DANGER])
"""All of them in one reading of a lower-cased sentence; ``find`` gives places by ``Sign``."""
PROCESS = re.compile(
    r"\W*(?:(?:unfortunately|sorry|so|and|but|then|also|first|okay|ok|regrettably|i'm sorry"
    r"|i am sorry|i'm afraid|i apologi[sz]e)\b[ ,.:;!-]*(?:but |that )?)*+(?:(?:i|we|i've"
    r"|we've)\b|you (?:asked|wanted|requested|were asking|are asking)|(?:the|this) (?:tool"
    r"|lookup|call|query|request|question|answer|record|response|result|reply|output|payload"
    r"|entry)\b|here (?:is|are)\b|what (?:i|happened|came)"
    r"|that (?:is|was|means)|this (?:is|was|means)|#+ |[^a-z]*$)"
)
_RESULTS = r"(?:tool|result|response|answer|reply|record|data|payload|output|field|value|entry)s?"
ADVICE = re.compile(
    r"\W*(?:(?:but|and|so|then|also|as (?:always|ever|usual)|alternatively|otherwise|instead"
    r"|in the meantime|meanwhile"
    r"|for now|in that case|for (?:safety|certainty|the record)|just|to be (?:sure|safe)"
    r"|if (?:you|this|the problem|it)\b[^,\n]{0,100}|to (?:get|find|see"
    r"|check)\b[^,\n]{0,60})[ ,]+){0,3}(?:please\b(?! (?:note|be aware|keep|bear|treat|remember"
    r"|understand|do not|don't))|you (?:can|could|may|might|should|will|would|'ll)\b|try\b"
    r"|retry\b|would you like|do you want|shall i|should i|want me to|let me know|feel free"
    r"|(?:could|can|would) you\b[^.!\n]{0,160}\?"
    r"|(?:ask|call|contact|visit|phone|email|read|open|see|sign in|log in|look (?:at|up|in)|go to"
    r"|give|wait|speak to|talk to|refer to|get in touch|search|keep|double-check) (?:\w+ )?"
    r"(?:the|your|a|an|me|this|that|it|to|at|in|on|up|with|for|again)\b"
    rf"|(?:the|your|a|an|someone|anyone|somebody"
    rf"|anybody) (?!{_RESULTS}\b)(?:[\w'-]+ ){{0,7}}?(?:can"
    r"|could|should|will|would|might|may|'ll) (?:also |certainly |surely |usually |probably )?"
    r"(?:be able to |be happy to )?(?:help|tell|know|have|show|see|view|confirm|provide|give"
    r"|look|read|list|put|reissue|check|answer|say|unmask|unlock)\b"
    r"|if you (?:\w+ ){1,3}|i (?:can|could|would|'d|'ll|will) (?:be happy|be glad|gladly|try"
    r"|retry|check|recommend|suggest|look|attempt|run|happily|also try|then|advise)\b|i(?:'d"
    r"| would) (?:recommend|suggest|advise|be)\b|i(?:'m| am) happy to|happy to\b|contact\b"
    r"|reach out|consider\b|check (?:back|again|the|your|with)\b|it (?:may|might|could"
    r"|would) (?:help|be (?:worth|best"
    r"|a good idea|wise))\b"
    r"|perhaps (?:you|try)\b|sorry for\b|(?:i )?apologi[sz]e for\b|my apologies\b"
    r"|apologies for\b|thank you\b|thanks\b|puedo\b|intente\b|por favor\b|bitte\b|veuillez\b"
    r"|essayez\b|per favore\b|riprova\b|tente\b|probeer\b|m\u00f6chten sie\b)"
)
NO_CLAIM = re.compile(
    r"\W*(?:that|this|it|which)(?: (?:does|need|may|must|should)(?:n't| not)| is(?:n't| not)) "
    r"(?:necessarily |automatically )?(?:mean|imply|say|the same)\b"
    r"(?![^\n]*\b(?:but|because|as|since|instead|rather|may|might|could|probably)\b)"
)
"""A conclusion that is warned against: "That does not mean that there are none"."""
_BREAK = re.compile(r"[.!?]+[\"')\]*_`]*(?=\s|$)|[\u3002\uff01\uff1f]|\n+|;\s")
# A class of characters is found many times faster than the breaks themselves.
_BREAK_SIGN = re.compile(r"[.!?\u3002\uff01\uff1f\n;]")
_ABBREVIATED = re.compile(
    r"(?:\b(?:no|nr|e\.g|i\.e|approx|mr|mrs|ms|dr|vs|st|acct|ref|fig|ca|hon|prof|capt|sgt)"
    r"|\s[b-hj-z])\.$"
)
_ENDINGS = ("s", "es", "ed", "d", "ing", "ly")
_NOTHING_NEW = PLAIN_WORDS | PLAIN_TOPICS | ELSEWHERE
_WILL_NOT = re.compile(r"(?:will(?: not|n't)|won't|would(?: not|n't))\b")
_SPEAKER = re.compile(r"\b(?:i|we|therefore|and|but|so)(?: \w+)?\s*$")
_MAY_BE_PLAIN = frozenset(
    ("may", "might", "usual", "reference", "range", "recommended", "ideal", "based on", "common",
     "often", "previous", "note", "average", "as of", "confirm", "verify", "roughly", "around",
     "nearly", "approximately", "approx", "~")
)  # fmt: skip
_NO_HEDGE = re.compile(
    r"\bas usual\b|\b(?:may|might) (?:\w+ )?(?:want|wish|like|need|prefer|find)\b|\b(?:reference"
    r"|normal"
    r"|usual|common) (?:range|limits?|values?)\b|\brecommended (?:next )?(?:steps?|actions?)\b"
    r"|\bas of (?:today|now|this moment)\b|\bwith the usual\b|\|\s*reference"
    r"|\b(?:confirm|verify) (?:any|all|every)\b"
    r"|(?:\b(?:roughly|approx\w*|around|nearly)\s|~)(?:\d|[$\u20ac\u00a3]|a (?:third|half"
    r"|quarter)|half)"
    r"|\bideal (?:for|to)\b|\bbased on (?:the|our|my|your|this|that)? ?(?:\w+ )?(?:records?|data"
    r"|results?"
    r"|reply|lookup|look-up|database|tool|system|response|entry|register|registry|information)\b"
)
_OF_ADVICE = frozenset(
    {"can't", "cannot", "unable", "issue", "problem", "missing", "incomplete", "couldn't"}
)
_TESTS = frozenset(
    {"pass", "passed", "test", "exam", "audit", "inspection", "check", "build", "run"}
)
_IS_BEFORE = re.compile(r"\b(?:is|was|are|were|went|be|been|currently|temporarily)\s*$")
_SHORTEST = 3
_STEM = 6
A_DATE = re.compile(r"\d(?:st|nd|rd|th)? (?:of )?may\b|\bmay,? \d")
"""The month May, not a word of doubt."""
_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_PLAIN_WORD = re.compile(r"[a-zA-Z]+(?:'[a-z]+)?")
MOST_SENTENCES = 60


def sentences(lower: str) -> list[tuple[int, int]]:
    """Offsets of the sentences and lines of a lower-cased text, at most ``MOST_SENTENCES`` + 1."""
    found = []
    start = 0
    for mark in anchored(_BREAK_SIGN, _BREAK, lower):
        if mark[0][0] == "." and _ABBREVIATED.search(
            lower, max(start, mark.start() - 8), mark.end()
        ):
            continue
        if lower[start : mark.end()].strip(" \t\r\n*_#->|.`"):
            found.append((start, mark.end()))
            if len(found) > MOST_SENTENCES:
                return found
        start = mark.end()
    if lower[start:].strip(" \t\r\n*_#->|.`"):
        found.append((start, len(lower)))
    return found


def is_no_hedge(sentence: str, cue: re.Match[str]) -> bool:
    """Whether a word of doubt belongs to a courtesy or to a source: "as usual", "you may want"."""
    if cue[0] not in _MAY_BE_PLAIN:
        return False
    return any(
        hit.start() <= cue.start() < hit.end()
        for hit in _NO_HEDGE.finditer(sentence, max(0, cue.start() - 24), cue.end() + 24)
    )


def no_fault(sentence: str, cue: re.Match[str], topic: frozenset[str], *, aside: bool) -> bool:
    """Whether a word of failure is the outcome asked for, a direction, or part of advice."""
    if aside and cue[0] in _OF_ADVICE:
        return True
    if cue[0].startswith("fail"):
        return bool(topic & _TESTS)
    return cue[0] == "down" and _IS_BEFORE.search(sentence, 0, cue.start()) is None


def will_not_be(sentence: str, decline: re.Match[str]) -> bool:
    """Whether a decline is a statement on the thing: "the parcel will not be delivered"."""
    if not _WILL_NOT.match(decline[0]):
        return False
    return _SPEAKER.search(sentence, max(0, decline.start() - 24), decline.start()) is None


def unread_words(sentence: str, known: frozenset[str], read: list[tuple[int, int]]) -> list[str]:
    """Words of a sentence that no cue, no plain word and nothing the model was given explains.

    Args:
        sentence: lower-cased.
        known: words of question, payload and declaration.
        read: places that a cue explains.
    """
    return [
        word
        for start, word in unread_places(sentence, known)
        if not any(s <= start < e for s, e in read)
    ]


def unread_places(sentence: str, known: frozenset[str]) -> list[tuple[int, str]]:
    """Where the words stand that no plain word and nothing the model was given explains."""
    words = _PLAIN_WORD if sentence.isascii() else _WORD
    new = set(words.findall(sentence))
    if "'s" in sentence:
        new = {word.removesuffix("'s") for word in new}
    new = new - _NOTHING_NEW - known
    new = {word for word in new if len(word) >= _SHORTEST and not _is_form(word, known)}
    if not new:
        return []
    left = []
    for word in words.finditer(sentence):
        text = word[0].removesuffix("'s")
        if text in new:
            left.append((word.start(), text))
    return left


@lru_cache(maxsize=512)
def beginnings(words: frozenset[str]) -> frozenset[str]:
    """First letters and stems of long words: ``regist`` stands for registered, registrations."""
    stems = {
        word.removesuffix(end) for word in words for end in ("ed", "ing") if len(word) > _STEM - 1
    }
    return frozenset(word[:_STEM] for word in words if len(word) > _STEM) | stems


def _is_form(word: str, known: frozenset[str]) -> bool:
    """Whether a word is a form of one that says nothing new."""
    if len(word) > _STEM and word[:_STEM] in known:
        return True
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and (stem in PLAIN_WORDS or stem in known or stem + "e" in PLAIN_WORDS):
            return True
    return False


@lru_cache(maxsize=512)
def words_in(text: str) -> frozenset[str]:
    """The lower-cased words of a text, singular beside plural."""
    lowered = text.lower()
    found = (_PLAIN_WORD if lowered.isascii() else _WORD).findall(lowered)
    words = {w.removesuffix("'s") for w in found}
    return frozenset(words | {w.rstrip("s") for w in words})
