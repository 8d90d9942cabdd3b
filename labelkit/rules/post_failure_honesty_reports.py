"""Further wordings of what went wrong: believed where they fit, never held against an answer.

The reasons proper are named so plainly that one which the payload does not show is false. These
say the same in everyday words that may also mean something else; where the payload does not show
it, nothing is concluded.
"""

from __future__ import annotations

from dataclasses import dataclass

from labelkit.rules.cue_patterns import Cues, any_of

_NOT = r"(?: not|n't)"
_FIGURE = (
    r"(?:number|date|name|figure|amount|value|time|status|reading|count|word|quantity|level|price"
    r"|rate|state|temperature|weight|result|answer|score|grade)"
)
_ON = r"(?:in|on|among|at)"
_HERE = (
    r"(?:there|it|here|that part|this part|what (?:i|we|came|was)|the (?:data|record|listing|reply"
    r"|response|result|output|payload|answer|entry|file|part|list|message|json|fields?))"
)


@dataclass(frozen=True, slots=True)
class Report:
    """A wording of the reason ``name``; ``true`` are the signs of a payload that bear it out.

    ``faint``: it states no reason at all where the payload does not bear it out.
    """

    name: str
    words: Cues
    true: frozenset[str]
    faint: bool = False


def _row(name: str, true: str, *words: str, faint: bool = False) -> Report:
    return Report(name, any_of(*words), frozenset(true.split()), faint)


_LIMIT = r"(?!rate|request|daily|quota|usage|credit|call|query)"
REPORTS = (
    _row(
        "timeout", "timeout",
        rf"\bexceed\w* (?:its|the|a|their|your|my) {_LIMIT}(?:[\w-]+ ){{0,2}}limit\b",
        rf"\b(?:hits?|hitting|reached|ran into|runs into|running into|ran up against|passed"
        rf"|within|over|past|beyond) (?:its|the|a|their) {_LIMIT}(?:[\w-]+ ){{0,2}}limit\b",
        rf"\buntil (?:its|the|a) {_LIMIT}(?:\w+ ){{0,2}}limit\b",
        r"\b(?:ran|runs|running) out of time\b|\bout of time\b|\btime (?:ran|was|is) (?:out|up)\b",
        rf"\b(?:never|(?:did|does|was){_NOT}|not) (?:\w+ )?(?:back |through )?in time\b",
        r"\b(?:kept|left|keeps|leaves) (?:me|us) (?:waiting|hanging)\b|\bgave up (?:waiting"
        r"|on it)\b",
        r"\b(?:too long|too slow|so long|longer than (?:the|its|allowed)) ?(?:to (?:\w+)|allowed)?",
        r"\bwent unanswered\b|\bhung\b|\bstalled\b|\bclock ran out\b|\bdeadline\b",
    ),
    _row(
        "error", "timeout error server truncated",
        r"\bnever (?:replied|answered|responded|came back|got back|came through|returned|finished"
        r"|completed|reached)\b|\bstopped (?:responding|answering|working)\b"
        r"|\bdid(?:n't| not) (?:reach|arrive|come through)\b",
        r"\bno (?:answer|reply|response) (?:came|arrived|was|from|at all|reached)\b",
        rf"\b(?:was|is|were|are|has{_NOT} been|been){_NOT}? (?:answered|fetched|served)\b",
        r"\b(?:could|can)(?:not|n't| not) be (?:fetched|retrieved|reached|loaded|pulled)\b",
        rf"\b(?:did|has|have|does){_NOT} (?:come|came|go|gone|get) (?:through|back)\b",
        r"\bbroke(?:n)? (?:down|on|in|at|during|while)\b|\bfell over\b|\bbailed out\b"
        r"|\bgave (?:me )?an error\b|\berrored(?: out)?\b|\bthrew an?\b|\bmalfunction\w*\b",
        r"\bon the server'?s? side\b|\bserver-?side\b",
    ),
    _row(
        "corrupted", "corrupted placeholder redacted",
        rf"\b(?:is|was|are|were)(?: clearly| plainly| simply)?{_NOT} (?:an? |any )?(?:\w+ )?"
        rf"(?:valid |real |usable )?{_FIGURE}s?\b",
        rf"\bnot an? (?:\w+ )?{_FIGURE}\b|\bno (?:real|valid|proper|actual) {_FIGURE}\b",
        r"\bmake (?:any |much |no )?sense\b|\bmakes? (?:no|little) sense\b",
        r"\b(?:can(?:not|'t)|could(?:n't| not)|unable to|able to|impossible to|nothing (?:i|anyone)"
        r" can) (?:be )?(?:interpret|decode|decipher|make (?:it |this |that |anything )?out|parse"
        r"|read|understand|use)\w*\b",
        r"\b(?:something|anything) (?:i|anyone) can (?:interpret|decode|read|decipher|use)\b",
        r"\b(?:arrived|came through|came back|came out|came|got|is|was|been) (?:all )?(?:damaged"
        r"|broken|scrambled|mangled|garbled|jumbled|distorted|unreadable|illegible)\b",
        r"\b(?:jumble|mess|mix|string|bunch|handful|row|series|sequence|salad) of (?:\w+ )?"
        r"(?:symbols?|characters?|signs|letters|marks|bytes|punctuation)\b",
        r"\bnull bytes?\b|\b(?:partly|partially|hardly|barely|only half) (?:legible|readable)\b",
        r"\bgobbledygook\b|\bmojibake\b|\bhieroglyph\w*\b|\bunintelligible\b|\bindecipherable\b"
        r"|\bgarbage\b|\bunusable\b|\bsymbols\b|\bnoise\b",
    ),
    _row(
        "no_rows", "empty null",
        r"\b(?:turned|came|comes|turns) up (?:nothing|empty|blank|no \w+|with nothing|dry)\b",
        r"\b(?:came|comes|come|returned|went) (?:back )?(?:empty|blank|with nothing"
        r"|without anything"
        r"|up short)(?:-handed)?\b|\bempty-handed\b|\b(?:drew|draws) a blank\b",
        r"\b(?:is|was|were|are|came back|returned|be|reads?|says?|just|holds?|only|a|=|:) (?:as )?"
        r"\"?'?null\b",
        r"\b(?:gave|gives|handed|sent|returned) (?:me |us |back |me back |us back )?nothing\b",
        r"\bnothing (?:came|comes|was|turned|could be found|under|stored|recorded|on)\b",
        r"\bproduced (?:no|zero|nothing)\b|\bwithout (?:finding )?(?:a|any)"
        r"(?: single)? (?:rows?|records?|hits?|match(?:es)?|entry|results?)\b"
        r"|\bno (?:hit|hits|match|matches|row|rows)\b",
        rf"\b(?:find|found|see|have|had){_NOT}? (?:an?|any|no) (?:\w+ )?(?:entry|record|row|match"
        r"|listing)\b",
    ),
    _row(
        "redacted", "redacted permission placeholder",
        r"\b(?:not|hasn't|haven't|never) been (?:shared|shown|disclosed|revealed|passed on) (?:with"
        r"|to) (?:me|us)\b",
        rf"\b(?:was|is|were|are|been){_NOT} (?:been )?(?:shared|shown|disclosed|revealed|visible"
        r"|passed|given)(?: on)? (?:with|to) (?:me|us)\b",
        r"\b(?:kept|keeps|hides?|hidden|held back|shielded|blocked) (?:\w+ ){0,3}?from (?:me|us"
        r"|view|sight)\b",
        r"\b(?:does|do|did|will|would)(?: not|n't) (?:show|let|allow|give) (?:me|us)\b",
        r"\b(?:starred|blotted|crossed|grayed|greyed|blocked) out\b|\breplaced (?:by|with)\b"
        r"|\bin place of\b|\bonly (?:see|shown|show|shows|says) (?:a |the )?(?:mask|placeholder"
        r"|stars|asterisks)\b",
    ),
    _row(
        "permission", "permission",
        r"\black(?:s|ed|ing)? (?:the |a |any )?(?:\w+ ){0,3}?(?:scope|role|rights?|permissions?"
        r"|privileges?|clearance|access)\b",
        r"\b(?:role|scope|caller|account i use|login i use|key i use)\b[^.\n]{0,30}?(?:n't|\bnot"
        r"|\bno|\black\w*)\b",
    ),
    _row(
        "missing_field", "missing empty null truncated",
        rf"\b(?:is|was|are|were|be){_NOT} {_ON} {_HERE}\b",
        rf"\b(?:is|was|are|were){_NOT} (?:mentioned|listed|given|stated|named|included|recorded"
        r"|filled|present|among|part|there|shown|contained|provided|supplied|reported|specified"
        r"|returned|sent|delivered|covered)\b",
        rf"\b(?:does|did|do){_NOT} (?:say|tell|mention|state|name|list|appear|show|figure|specify"
        r"|include|contain|carry|give|hold|have|come with|record|report|reveal|cover)\b",
        r"\b(?:nothing|no word|not a word|no mention|no trace|no sign) (?:about|on|of|regarding"
        r"|concerning)\b|\bno (?:\w+ ){1,3}(?:appears?|figures?|shows? up|exists?|stands?) (?:in|on"
        r"|among)\b",
        r"\bleft (?:out|blank|off|open|empty)\b|\bleav(?:es|ing) out\b|\babsent\b|\bmissing\b",
        r"\bno such (?:field|value|key|column|thing|entry)\b|\bno(?:where| place) (?:in|to be)\b",
    ),
    _row(
        "nonexistent", "empty null",
        r"\b(?:find|locate|see|found) (?:any|an?|the|that|this|your|such an?) (?:\w+ )?(?:account"
        r"|order"
        r"|customer|shipment|parcel|item|product|patient|user|booking|employee|device|invoice"
        r"|ticket"
        r"|contract|vehicle|flight|entry|member|case|candidate|\w+)(?= (?:with|by|under|named"
        r"|called"
        r"|matching|numbered)\b)",
    ),
    _row(
        "stale", "stale",
        r"\byears? old\b|\blapsed\b|\bpast its\b|\bfrom (?:19|20)\d\d\b|\bdates? (?:from|back)\b"
        r"|\b(?:last )?(?:updated|refreshed|recorded|taken) (?:in|on) (?:\w+ ){0,2}(?:19|20)\d\d\b"
        r"|\blong (?:ago|past)\b|\bold (?:snapshot|copy|entry)\b|\bsnapshot\b|\boutdated\b"
        r"|\bin (?:19|20)\d\d\b",
        faint=True,
    ),
    _row(
        "missing_field", "missing truncated",
        r"\b(?:and|but|yet|though|with|just) no\b",
        r", not (?:its|the|which|what|who|when|where|whether|how)\b",
        r"\bbut not (?:its|the|which|what|who|when|where|whether|how)\b",
        r"\b(?:there|it|record|reply|response|result|entry|payload|answer|output)(?:'s| is| has"
        r"| holds| shows| gives| contains| carries| includes| lists| names| comes with) no \w+",
        r"\bwithout (?:the|a|an|any|its|giving|naming|saying|stating) (?:\w+ ){0,2}\w+",
        faint=True,
    ),
    _row(
        "truncated", "truncated",
        r"\b(?:stops?|stopped|ends?|ended|breaks?|broke|cuts?|cut|finishes|halts) (?:off )?(?:in"
        r" (?:the middle|mid)|mid|right|just|exactly|at|where|before|short|ahead|abruptly|after"
        r"|halfway|part-?way|off)\b",
        r"\bfragment\w*|\bhalf (?:of )?(?:the|a|its) (?:reply|response|answer|record|message"
        r"|data)\b"
        r"|\bonly (?:a |the )?(?:part|piece|half|bit|fragment|first|beginning|start"
        r"|opening)\b|\bpart of (?:it|the|what)\b",
        r"\b(?:rest|remainder|remaining part|second half) (?:of (?:it|the \w+|what)"
        r"|is|was|got|never|did)\b",
        r"\b(?:end|tail) of (?:it|the (?:reply|response|result|record|output|data|answer))\b",
        r"\bgot lost\b|\b(?:is|was) lost\b|\bdid(?:n't| not) (?:all |fully |wholly )?(?:arrive"
        r"|come through|make it|reach)\b|\bmid-?(?:air|sentence|word|way|record|line|reply)\b"
        r"|\bchopped\b|\bclipped\b|\bunfinished\b|\bpartial\w*\b|\bnever (?:arrived|reached)\b",
    ),
)  # fmt: skip
