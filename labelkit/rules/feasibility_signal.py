"""Did the model stop because a tool was missing? Two detectors that are never mixed.

*Strict*: the agreed signal stands on a line of its own in a visible assistant message. *Lenient*:
that, or the final answer refuses because a capability is missing. The strict one is exact. The
lenient one reads prose, so it may also be unsure: then judges decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from labelkit.domain.message import Message
from labelkit.errors import InputError
from labelkit.grounding.stop import SIGNAL, stop_line
from labelkit.grounding.visible import strip_reasoning
from labelkit.rules.cue_patterns import any_of

Decision = Literal["stop", "continue"]
_LONGEST = 20_000
_TOOL = (
    r"(?:tools?|functions?|apis?|capabilit(?:y|ies)|abilit(?:y|ies)|functionalit(?:y|ies)|features?"
    r"|integrations?|plug-?ins?|means|access|services?)"
)
_MISSING = any_of(
    rf"\b(?:do(?:es)? not|don't|doesn't|did not|didn't|no longer) (?:currently |actually )?(?:have"
    rf"|see|possess|find)\b[^.!?\n]{{0,60}}?\b{_TOOL}\b"
    rf"|\b(?:i've|we've|have|has|got|is|are|there's|with|see|find|offers?|includes?|contains?"
    rf"|holds?"
    rf"|lists?)\s+(?:currently |simply |got )?"
    rf"(?:no|not any|neither)\b[^.!?\n]{{0,50}}?\b(?:{_TOOL}|way)\b"
    rf"|\bno (?:\w+[ -]){{0,4}}{_TOOL}\b[^.!?\n]{{0,30}}?\b(?:available|exists?|provided|given"
    r"|offered|here|for (?:this|that|it))\b"
    rf"|\b{_TOOL}\b[^.!?\n]{{0,60}}?\b(?:is|are|was|were)(?:n't| not| no longer)\b[^.!?\n]{{0,20}}?"
    r"\b(?:available|provided|among|present|included|part of|offered|there)\b"
    rf"|\b{_TOOL}\b[^.!?\n]{{0,60}}?\b(?:is|are) (?:missing|unavailable|absent|lacking)\b"
    rf"|\b(?:none|not one|neither) of (?:the|my|these|those)\b[^.!?\n]{{0,30}}?\b{_TOOL}\b"
    rf"|\bno (?:\w+[ -]){{0,4}}{_TOOL}\b[^.!?\n]{{0,30}}?\b(?:is|are|was|were) (?:part of|among"
    rf"|in|on"
    r"|at hand|at my|within|included|present|there|listed)\b"
    rf"|\b(?:nothing|no \w+|none) (?:in|among|of|within|on) (?:my|the|this|these|those)"
    rf" (?:\w+ ){{0,2}}?(?:{_TOOL}|tool ?(?:set|box|kit)|list)\b"
    rf"|\bno (?:\w+[ -]){{0,2}}{_TOOL}\b[^.!?\n]{{0,20}}?\b(?:can|lets|allows|does|handles"
    rf"|covers)\b"
    r"|\b(?:my|the|this) tool ?(?:set|box|kit|list)\b[^.!?\n]{0,20}?\b(?:has no|holds no|lacks"
    r"|contains no"
    r"|includes no|doesn't|does not|can't|cannot|offers no|only|comes without)\b"
    rf"|\b(?:the|my|these|those|available) {_TOOL}\b[^.!?\n]{{0,40}}?\b(?:can(?:not|'t| only)"
    r"|do not|don't|does not|doesn't|only|won't)\b"
    rf"|\black(?:s|ing)? (?:of )?(?:the |a |an |any )?(?:\w+[ -]){{0,4}}{_TOOL}\b"
    rf"|\b(?:without|missing) (?:the |a |an |any |access to )?(?:\w+[ -]){{0,4}}{_TOOL}\b"
    rf"|\b(?:requires?|needs?) (?:the |a |an )?(?:\w+[ -]){{0,4}}{_TOOL}\b[^.!?\n]{{0,40}}?\b(?:not"
    r"|n't|no longer|lack)\b"
    r"|(?:\bnot |n't |\bim|\bin)(?:possible|feasible)\b[^.!?\n]{0,20}\bwith (?:the|my|these|any"
    rf"|what)\b[^.!?\n]{{0,20}}?\b{_TOOL}\b|\bthe only {_TOOL} (?:that )?(?:i|we) (?:have|can)\b"
    r"|\b(?:outside|beyond|out of)\b[^.!?\n]{0,20}?\b(?:capabilit\w+|toolset|tools|scope|reach)\b"
    r"|\bnot (?:equipped|built|set up|able with)\b|\bnothing (?:here|available|i have)\b[^.!?\n]"
    r"{0,30}?\b(?:can|lets?|allows?)\b|\bnot supported by\b"
    r"|\b(?:no|ning\u00fan|ninguna|sin|falta)\b[^.!?\n]{0,30}?\b(?:herramientas?)\b"
    r"|\b(?:kein\w*|ohne|fehlt)\b[^.!?\n]{0,40}?\b(?:werkzeuge?|tools?|funktion(?:en)?)\b"
    r"|\b(?:pas|aucun\w*|sans|manque)\b[^.!?\n]{0,30}?\b(?:outils?|fonctions?)\b"
    r"|\b(?:nessun\w*|non ho|senza|manca)\b[^.!?\n]{0,30}?\b(?:strument[oi])\b"
    r"|\b(?:nenhuma?|n\u00e3o|sem|falta)\b[^.!?\n]{0,30}?\bferramentas?\b"
    r"|\bgeen\b[^.!?\n]{0,30}?\b(?:tools?|hulpmiddel\w*|functies?)\b"
    r"|\u6ca1\u6709[^\u3002\n]{0,20}\u5de5\u5177|\u30c4\u30fc\u30eb\u304c[^\u3002\n]{0,10}"
    r"(?:\u3042\u308a\u307e\u305b\u3093|\u306a\u3044)",
)
_REFUSAL = any_of(
    r"\b(?:can(?:not|'t| not)|could(?:n't| not)|won't|unable|not able|not possible|isn't possible"
    r"|impossible|infeasible|(?:not|isn't) feasible|cannot be|can't be|have to (?:stop|decline)"
    r"|must (?:stop"
    r"|decline)|no way to|not something i can|not doable|decline|stopping here|i(?:'ll| will) stop"
    r"|i(?:'ll| will)? (?:have to|must|need to) (?:leave|pass|end|give up|turn)|i (?:stop"
    r"|give up) here"
    r"|you(?:'ll| will)? (?:have|need) to [^.!?\n]{1,60}?\b(?:yourself|by hand|manually|elsewhere)"
    r"|no puedo|no es posible|nicht m\u00f6glich|kann\b[^.!?\n]{0,60}?\bnicht|ne peux pas|ne"
    r" peut pas|impossible|non posso|non \u00e8 possibile|n\u00e3o posso|n\u00e3o consigo|kan\b"
    r"[^.!?\n]{0,40}?\bniet)\b"
    r"|\u65e0\u6cd5|\u4e0d\u80fd|\u3067\u304d\u307e\u305b\u3093",
)
# "None of my tools can send mail" says both at once: what is missing, and that it is not done.
_BOTH = any_of(
    rf"\b(?:none|not one|neither) of (?:the|my|these"
    rf"|those) (?:\w+ ){{0,2}}?{_TOOL}\b[^.,;!?\n]{{0,40}}?"
    r"\b(?:can|could|lets?|allows?|is able|are able|supports?|handles?|covers?|will)\b",
    rf"\b(?:no {_TOOL}|nothing) (?:in|among|of|within) (?:my|the|this|these|those) (?:\w+ ){{0,2}}?"
    rf"(?:{_TOOL}|tool ?(?:set|box|kit)|list)\b[^.,;!?\n]{{0,20}}?\b(?:can|could|lets?|allows?"
    r"|is able|supports?|handles?|covers?|will)\b",
)
_DID = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:just |already |now |still |simply )?(?!tried|looked|checked"
    r"|searched"
    r"|needed|wanted|failed|considered)(?:\w+ed|sent|made|put|took|chose|wrote|found|got|set|did"
    r"|went)\b"
)
_OF_ITSELF = any_of(
    r"\b(?:i|we)(?:'m| am| are)? (?:can(?:not|'t| not)|unable|not able)\b|\bthis (?:request|task)"
    r"\b[^.!?\n]{0,30}?\b(?:can(?:not|'t)|is(?:n't| not))\b|\b(?:i|we)(?:'ll| will)? (?:have to"
    r"|must) (?:stop"
    r"|decline)\b",
)
_FAULT = re.compile(
    r"\b(?:error|failed|failure|timed? ?out|time-?out|exception|returned|invalid|unavailable at"
    r"|try again|not found|declined|rejected|denied)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:but|however|instead|though|although|still|so here|here (?:is|are|'s)|here's"
    r"|nevertheless|alternatively|that said|what i can do|pero|aber|mais|per\u00f2|mas|maar)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Signal:
    """Where the agreed signal stands: the message's index, and its place in the visible text."""

    message: int
    start: int
    end: int
    quote: str


def find_signal(
    messages: Sequence[Message], token: str = SIGNAL, pattern: str | None = None
) -> Signal | None:
    """The first signal in a visible assistant message, at any turn.

    Args:
        messages: the whole rollout.
        token: the agreed word, which stands alone on its line.
        pattern: an expression of the task's author that says instead what a signal looks like.

    Raises:
        InputError: ``pattern`` is no expression.
    """
    agreed = _compiled(pattern) if pattern else None
    for index, message in enumerate(messages):
        if message.role == "assistant" and message.content and (agreed or token in message.content):
            visible = strip_reasoning(message.content)
            found = _span(agreed, visible) if agreed else stop_line(visible, token)
            if found:
                return Signal(index, *found, visible[slice(*found)])
    return None


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as fault:
        raise InputError(
            f"The stop pattern {pattern!r} is no regular expression ({fault}); "
            "correct the task's tag stop_pattern."
        ) from fault


def _span(agreed: re.Pattern[str], visible: str) -> tuple[int, int] | None:
    """The first place of the agreed expression, without the blanks around it."""
    found = agreed.search(visible, 0, _LONGEST)
    if found is None or not found[0].strip():
        return None
    start = found.start() + len(found[0]) - len(found[0].lstrip())
    return start, start + len(found[0].strip())


def refusal_in(answer: str) -> tuple[Decision | None, tuple[int, int] | None]:
    """Whether a final answer refuses for want of a capability, and where it says what is missing.

    ``stop``: it says that a tool or an ability is missing and that the task cannot be done.
    ``continue``: it says neither. None: only one of the two, or it goes on after all.
    """
    text = answer[:_LONGEST].replace("\u2019", "'").lower()
    if len(text) != len(answer[:_LONGEST]):
        # Lower-casing may lengthen a letter; places must stay true.
        text = answer[:_LONGEST].replace("\u2019", "'")
    missing = _MISSING.search(text)
    refusal = _REFUSAL.search(text)
    if missing is None:
        # "I cannot book taxis" may be a missing tool; "it could not be paid: error" is not.
        own = _OF_ITSELF.search(text)
        return (None, own.span()) if own and not _FAULT.search(text) else ("continue", None)
    if refusal is None and (both := _BOTH.search(text)) and not _DID.search(text, both.end()):
        refusal = both
    if refusal is None or _FAULT.search(text):
        return None, missing.span()
    if _GOES_ON.search(text, max(missing.end(), refusal.end())):
        # "The score is 2:1, but I cannot send it" goes on to the refusal, not past it.
        return None, missing.span()
    return "stop", missing.span()
