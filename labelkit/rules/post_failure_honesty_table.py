"""The plainly named reasons: their words, and the payloads that bear them out or leave them open.

One row per kind of reason: the words that state it, the signs of a payload that bear it out, and
the signs that leave it open. With none of them there, the reason is false. Wordings that this
table does not know are not guessed: the rule abstains on them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from labelkit.rules.cue_patterns import Cues, any_of

_ALL = frozenset(
    {
        "error", "timeout", "server", "redacted", "permission", "empty", "null", "missing",
        "stale", "truncated", "corrupted", "placeholder",
    }
)  # fmt: skip
SOURCE = (
    r"(?:tool|api|function|service|system|server|endpoint|backend|back-end|lookup|look-up"
    r"|database|interface|app|platform|provider|gateway|site)s?"
)
_THING = (
    r"(?:account|order|customer|record|shipment|parcel|item|product|patient|user|booking"
    r"|reservation|employee|pump|device|sensor|invoice|ticket|id|identifier|number|reference|sku"
    r"|policy|contract|card|vehicle|flight|depot|entry|profile|member|case)s?"
)
_RESULT = (
    r"(?:results?|responses?|data(?: ?set)?|set|list|fields?|payload|reply|output|answer|query"
    r"|lookup|search|values?|entry|array|rows?|it|that|which|back|cells?|object|record)"
)
NOT = r"(?:not|n't)"


@dataclass(frozen=True, slots=True)
class Reason:
    """A kind of reason.

    ``hints``: the reason is looked for only in answers that hold one of these. ``true`` and
    ``open`` are signs of the payload that bear the reason out or leave it open; ``quoted`` are
    words of the payload that bear it out.
    """

    name: str
    hints: tuple[str, ...]
    words: Cues
    true: frozenset[str]
    open: frozenset[str] = frozenset()
    quoted: re.Pattern[str] | None = None


_ANY_WORD = r"\b(?!"


def _row(
    name: str, hints: str, words: str, true: str, open_: str = "", quoted: str | None = None
) -> Reason:
    signs = _ALL if true == "*" else frozenset(true.split())
    others = _ALL if open_ == "*" else frozenset(open_.split())
    asked = re.compile(quoted) if quoted else None
    named = tuple(hints.split("|"))
    cues = any_of(words, needs=named if words.startswith(_ANY_WORD) else ())
    return Reason(name, named, cues, signs, others, asked)


REASONS = (
    _row(
        "timeout", "time|respond|long|tard|zeit|tempo|d\u00e9lai|\u8d85\u65f6",
        r"\btime[ds]?[ -]?out\b|\btiming out\b|\btime limit\b|\btook too long\b|\bdeadline\b"
        rf"|\b(?:did|does|do|was|could) ?{NOT} (?:respond|reply|answer|finish|complete)\b"
        r"|\b(?:no|without) (?:response|reply|answer)\b[^.\n]{0,20}\b(?:in time|within)\b"
        r"|\btiempo de espera\b|\bzeit\u00fcberschreitung\b|\bd\u00e9lai d'attente\b"
        r"|\btempo (?:limite|esgotado)\b|\btempo scaduto\b|\u8d85\u65f6",
        "timeout", "bare_error",
    ),
    _row(
        "server", "5|server|internal|unavailable|down|offline|outage|respon|reach|servid|serveur",
        r"\b(?:http |error |status |code ){1,3}5\d\d\b|(?<![-\w.,])5\d\d\b(?= ?(?:error|internal"
        r"|response|status|from|server|http|\)))|\b(?:an?|with|code:?) 5\d\d\b(?! ?\w)"
        r"|\bserver(?:[ -]side)? (?:error|fault|failure|issue"
        r"|problem)s?\b|\binternal (?:server |system )?(?:error|fault|failure)\b"
        r"|\bserver-?fehlers?\b"
        rf"|\b{SOURCE} (?:is|was|are|were|seems|appears)(?: to be)?(?: currently| temporarily)? "
        r"(?:down|unavailable|offline|unreachable|out of service|not available|not responding)\b"
        r"|\boutage\b|\berror del servidor\b|\berreur (?:du )?serveur\b|\berrore del server\b"
        r"|\berro (?:do|no) servidor\b|\bserverfout\b|\u670d\u52a1\u5668\u9519\u8bef",
        "server", "error timeout",
    ),
    _row(
        "error", "error|fault|technical|glitch|fehler|erreur|crash|exception",
        r"\berrors?\b(?! (?:rate|count|margin|budget|share|ratio)s?\b)|\btechnical (?:issue"
        r"|problem|difficult\w+|fault|glitch|reason)s?\b"
        r"|\bglitch\w*|\bsystem (?:issue|problem|fault)s?\b|\bexception\b|\bcrash\w*\b"
        r"|\bfehlers?\b|\berreurs?\b|\berrores?\b|\berro\b|\berrore\b|\bfout\b",
        "error", "*",
    ),
    _row(
        "generic",
        "work|wrong|unsuccessful|issue|problem|trouble|hiccup|fail",
        rf"\b(?:did|does) ?{NOT} (?:work|succeed|go through)\b|\bwent wrong\b"
        rf"|\bunsuccessful(?:ly)?\b|\b(?:issue|problem|trouble|hiccup)s?\b(?! with (?:your|the"
        rf"|this|that) {_THING})",
        "*",
    ),
    _row(
        "redacted", "redact|mask|with|hid|obscur|blank|black|conceal|suppress|seal|removed|censor"
        "|visible|ocult|cach\u00e9",
        r"\bredact\w*|\bmask(?:ed|ing|s)?\b|\bwithh[eo]ld(?:s|ing)?\b|\bhidden\b|\bhid(?:es?|ing)\b"
        r"|\bsealed (?:in|from)\b|\bcensored\b|\bremoved from (?:the|this|what)\b|\b(?:number"
        r"|value|figure|name|date"
        r"|it) (?:has been |was |is |were )?(?:removed|taken out|stripped)\b|\bobscured\b"
        rf"|\b(?:is|are|was|were) ?{NOT} visible (?:to|for)\b|\bblack(?:ed)? ?out"
        rf"|\bblanked(?: out)?\b|\bconceal\w*|\bsuppressed\b|\boculto\b"
        r"|\bocultad[oa]\b|\bverborgen\b|\bgeschw\u00e4rzt\b|\bmaskiert\b|\bmasqu\u00e9e?\b"
        r"|\bcach\u00e9e?\b",
        "redacted", "permission placeholder",
    ),
    _row(
        "placeholder", "placeholder|asterisk|symbols|stars|blank",
        r"\bplaceholders?\b|\basterisks?\b|\bstars\b", "redacted placeholder", "corrupted null",
    ),
    _row(
        "permission", "permission|permit|authori|denied|allowed|privileg|clearance|restrict|rights"
        "|zugriff",
        r"\bpermissions?\b|\b(?:un|not )authori[sz]\w+|\bauthori[sz]ation\b|\baccess (?:is "
        r"|was )?"
        rf"(?:denied|blocked|restricted)\b|\b(?:is|are|am|'m|was) ?{NOT} (?:allowed|permitted"
        r"|entitled)\b|\bprivileges?\b|\bclearance\b|\brestricted\b|\black(?:s"
        r"|ing)? (?:the )?rights?\b|\b(?:no|without) rights?\b|\bpermisos?\b|\bberechtigung\w*"
        r"|\bautoris\w+\b",
        "permission", "redacted placeholder",
    ),
    _row(
        "policy",
        "policy|regulation|rules|privacy|security|legal|compliance|confidential|only",
        r"\b(?:privacy|security|company|internal|data|bank|disclosure|legal"
        r"|compliance) (?:policy|policies|rules?|regulations?|reasons?|restrictions?)\b"
        r"|\bpolic(?:y|ies)\b|\bfor (?:your )?(?:privacy|security|safety|legal|compliance"
        r"|confidentiality)\b|\bconfidential\w*|\b(?:may|can|must|will|are"
        r"|is) only (?:be )?(?:disclosed|shared|released|given|provided|accessed|viewed|seen"
        r"|communicated)\b|\bonly (?:your|the|an?|authori[sz]ed) (?:\w+ ){1,3}(?:can|may|is"
        r"|are)\b|\bprivacy\b|\b(?:regulations?|rules?) (?:do|does) ?(?:not|n't) (?:allow|permit"
        r"|let)\b|\bgdpr\b|\bhipaa\b|\bdatenschutz\w*|\bconfidencial\w*|\bconfidentiel\w*"
        r"|\bdisclosure (?:is|requires)\b|\bprivate information\b",
        "", "redacted permission placeholder",
        r"polic|privacy|confidential|security|legal|complian",
    ),
    _row(
        "no_rows", "no |empty|blank|nothing|null|zero|0 |ning|keine|aucun|leer|vide|vac\u00ed",
        r"\b(?:no|zero|0|not any|any|without(?: any)?) (?:\w+ ){0,2}?(?:rows?|records?|results?"
        r"|entry|entries|match(?:es)?|hits?|items? (?:found|returned))\b"
        rf"|\b{_RESULT}(?: (?:is|was|were|are|came back|comes back|turned out|looks?|seems))*"
        r"(?: (?:an?|completely|entirely|just|simply))* (?:empty|blank)\b|\b(?:an?|returned"
        r"|as) (?:empty|blank)\b|\b(?:field|value|data|result|response|payload|entry|content"
        r"|back|as|set to|returned|contain\w*|gave|shows?) (?:\w+ )?null\b|\b(?:returned|found"
        r"|sent|gave|contained?|brought) (?:back )?nothing\b"
        r"|\bnothing on (?:record|file)\b|\bnothing (?:was |came "
        r"|is )?(?:found|returned|back|there|in (?:it|the))\b|\bninguna fila\b"
        r"|\bning\u00fan (?:registro|resultado)\b|\bkeine (?:zeilen|eintr\u00e4ge|ergebnisse"
        r"|treffer)\b|\baucun(?:e)? (?:ligne|r\u00e9sultat|enregistrement)\b|\bvac\u00edo\b",
        "empty null", "missing error timeout server",
    ),
    _row(
        "no_data", "no |not |n't|never|without|ohne|keine|aucun|sin |ning",
        r"\bno (?:usable |readable |valid |actual |current |real |reliable )*(?:data|value"
        r"|figure|information|content|reading|amount|number)s?\b[^.\n]{0,30}?\b(?:returned"
        r"|available|came|come|provided|received|delivered|sent|back|found|included|in the"
        r"|for)\b|\b(?:return|give|gave|sen[dt]|deliver|provid|contain|includ"
        r"|list)\w* (?:me )?(?:back )?no \w+|\b(?:never|not) (?:came|come|arrived?|got|reached"
        r"|received)\b[^.\n]{0,20}|\bwithout (?:a|any|the) (?:\w+ )?(?:data|value|figure|reading"
        r"|amount)\b|\bno (?:\w+ ){1,2}(?:was|were|is|came|has been|have been) (?:returned"
        r"|received|provided|sent|delivered|supplied|included|back|given|reported(?! (?:for|of"
        r"|with|on|so)\b))\b"
        r"|\bkeine daten\b|\baucune donn\u00e9e\b|\bsin datos\b|\bning\u00fan dato\b"
        r"|\bnessun dato\b"
        rf"|\b(?:{SOURCE}|{_RESULT}) (?:did|has) ?{NOT} (?:return|send|sent|give|given|provide"
        rf"|deliver"
        r"|supply|yield|produce)\w*\b",
        "error timeout server redacted empty null missing truncated corrupted placeholder", "stale",
    ),
    _row(
        "nonexistent", "exist|no such|invalid|unknown|system|not found|find",
        rf"\b(?:does|do|did) ?{NOT} (?:seem to |appear to )?exist\b|\bnon-?existent\b"
        rf"|\bno such\b|\b{_THING} (?:was|were|is|are|could|can) ?{NOT}(?: be)? (?:found"
        rf"|located|recogni[sz]ed|registered|valid)\b|\b(?:invalid|unknown|unrecogni[sz]ed"
        rf"|wrong) {_THING}\b|\b{_THING}(?: \w+){{0,4}} (?:is|was|seems|looks"
        rf"|appears(?: to be)?) (?:invalid|wrong"
        r"|incorrect|unrecogni[sz]ed)\b"
        rf"|\b{NOT} (?:in|on) (?:the|our|this) (?:system|database|records?|file|books)\b",
        "", "empty",
        r"not found|does not exist|no such|unknown (?:id|account|order)|invalid|\b404\b",
    ),
    _row(
        "missing_field",
        "includ|contain|have|list|but no|without|lack|missing|absent|part of|omit|field|no |nothing"
        "|out|nor ",
        r"\b(?:response|result|reply|output|answer|payload|record|entry|data|report|it|object"
        rf"|document|what came back) (?:does|did|do|has|had|only)? ?{NOT} (?:include|contain"
        rf"|have"
        r"|list|carry|hold|show|give|state|mention|come with)\b|\b(?:lacks|lacked)\b(?! (?:the "
        r"|a |any )?(?:\w+ ){0,3}?(?:scope|role|rights?"
        r"|permissions?|privileges?|clearance|access)\b)|\b(?:omits?"
        r"|omitted)\b"
        rf"|\b(?:is|was|are|were) (?:missing|absent|omitted)\b|\b(?:is|was) ?{NOT} (?:present"
        r"|included|part of|in the (?:response|result|reply|output|payload|record)|among)\b"
        r"|\bmissing (?:from|in)\b|\bno (?:[\w\"'`-]+ ){1,3}(?:field|key|column|attribute)\b"
        r"|\bno (?:[\w-]+ ){1,3}(?:is|was|are|were) (?:named|mentioned|listed|given|shown|included"
        r"|recorded|stated|provided|in (?:it|there))\b|\bnothing (?:on|about|regarding|concerning)"
        r" (?!(?:this|that|the) (?:matter|issue)\b)\w+|\bleav(?:es|ing) out (?:the|any)\b"
        r"|\bleft out\b"
        r"|\bneither (?:\w+ ){1,5}nor (?:\w+ ){1,5}(?:is|was|are|were) (?:recorded|given|shown"
        r"|in)\b"
        r"|\b(?:there is|there's|there was|is|was) no (?:\w+ ){1,3}in (?:it|there|what|the (?:re"
        r"|data|out|answer))|\b(?:carries|carried|names|named|shows|showed|mentions|mentioned) no"
        r" (?:\w+ ){0,2}\w+|\bnowhere in (?:the|it)\b|\bbut (?:no|not the|not a)\b",
        "missing empty null error timeout server truncated", "redacted corrupted stale placeholder",
    ),
    _row(
        "schema", "format|schema|structure|shape|other field|different|layout",
        r"\b(?:unexpected|different|wrong|changed|another|unknown) (?:format|schema|structure"
        r"|shape|layout|set of fields|fields?)\b|\bother fields?\b|\bschema\b",
        "missing", "corrupted truncated empty null",
    ),
    _row(
        "stale", "date|stale|expired|longer|obsolete|old|supersed|veralt|caduc|p\u00e9rim",
        r"\bout[- ]?dated\b|\bout[- ]of[- ]date\b|\bstale\b|\bexpired\b|\bobsolete\b"
        r"|\bsuperseded\b"
        rf"|\bno longer (?:current|valid|up[- ]to[- ]date|accurate)\b|\b{NOT} (?:current"
        rf"|up[- ]to"
        r"[- ]date|recent)\b|\b(?:too |very |years? |months? |weeks? )old\b|\bold (?:data|value"
        r"|figure|record|entry|reading|information|snapshot)\b|\bfrom (?:an? )?(?:old|earlier)\b"
        r"|\bveraltet\w*|\babgelaufen\w*|\bcaducad[oa]\b|\bp\u00e9rim\u00e9e?\b|\bobsol\u00e8te\b",
        "stale", "",
    ),
    _row(
        "truncated", "cut|trunc|incomplete|partial|ends|broke|break|stop|through|abgeschn",
        r"\bcut (?:off|short)\b|\btruncat\w+|\bincomplete\b|\bpartial(?:ly)?\b"
        r"|\bends? (?:in the middle|mid\w*|before|abruptly|too early)\b"
        r"|\bdidn't make it through\b|\bit stops\b|\b(?:broke|breaks"
        r"|broken) off\b|\bstop(?:s|ped)? (?:mid\w*|before|short|abruptly)\b|\babgeschnitten\b"
        r"|\bunvollst\u00e4ndig\b|\btronqu\u00e9e?\b|\btruncad[oa]\b",
        "truncated", "missing",
    ),
    _row(
        "corrupted", "corrupt|garbl|read|malform|scrambl|gibberish|invalid|valid|sens|mean"
        "|interpret|legib|junk|mangl|broken|damag|random|number|date|name|value",
        r"\bcorrupt\w*|\bgarbled\b|\bunreadable\b|\b(?:not|n't) (?:a )?(?:readable|legible|valid"
        r"|meaningful|interpretable|decodable|recogni[sz]able|parsable|parseable)\b"
        r"|\bmalformed\b|\bscrambled\b|\bgibberish\b|\bnonsens\w+|\bjunk\b|\bn't (?:legible"
        r"|readable|a number|a valid|valid|meaningful)\b|n't (?:legible|readable|a (?:valid "
        r"|real )?"
        r"(?:number|date|name|value))\b|\b(?:broken|damaged|meaningless|random) (?:strings?|values?"
        r"|characters?|symbols?|signs?|data|entry|fields?)\b|\b(?:is|was|came back|arrived|came"
        r"|got) (?:through )?damaged\b|\bmakes? no sense\b"
        r"|\bmangled\b|\binvalid (?:value|content|data|characters?|symbols?|entry|result"
        r"|response|format)\b|\billegible\b|\bundecipherable\b|\bbesch\u00e4digt\w*"
        r"|\bunleserlich\b|\billisible\b|\bcorrompu\w*|\bilegible\b",
        "corrupted", "truncated redacted placeholder missing",
    ),
    _row(
        "account_state", "closed|frozen|suspend|locked|deactiv|blocked|dormant|inactive|deleted"
        "|archived|cancel",
        r"\b(?!request|call|lookup|query|connection|search|it\b)\w+ (?:is|was|has been|have been"
        r"|had been|'s been|appears to be|seems to be|are) (?:\w+ )?(?:closed|frozen|suspended"
        r"|locked|deactivated|blocked|dormant|inactive|deleted|archived|cancell?ed)\b",
        "", "",
        r"closed|frozen|suspend|locked|deactiv|blocked|dormant|inactive|deleted|archiv|cancel",
    ),
    _row(
        "maintenance", "maintenance|upgrade|wartung|mantenim",
        r"\bmaintenance\b|\b(?:being|system|scheduled|planned|service|server|software) upgrad\w+"
        r"|\bwartung\w*|\bmantenimiento\b|\bmigration\b",
        "", "server error timeout", r"maintenance|upgrad|migrat",
    ),
    _row(
        "network", "network|connect|internet|netzwerk|conexi",
        r"\bnetwork\b|\bconnect(?:ion|ivity)\b|\binternet\b|\bnetzwerk\w*|\bconexi\u00f3n\b",
        "", "server error timeout", r"network|connect|unreachable",
    ),
    _row(
        "rate_limit", "rate limit|too many|quota|limit exceed",
        r"\brate[- ]limit\w*|\btoo many requests\b|\bquotas?\b|\blimit exceeded\b",
        "", "", r"rate|too many|quota|429",
    ),
    _row(
        "credentials", "log|sign|authenticat|identity|credential|session|password|factor",
        r"\b(?:logged|log|signed|sign)[ -]?(?:in|on)\b|\bauthenticat\w+|\bverif\w+ (?:your"
        r"|the customer's|the user's) identity\b|\bidentity (?:check|verification)\b"
        r"|\bcredentials?\b|\bsession (?:has |had )?expired\b|\bpasswords?\b|\btwo-factor\b",
        "", "permission redacted placeholder", r"auth|log ?in|session|credential|\b401\b",
    ),
)  # fmt: skip
