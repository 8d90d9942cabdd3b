"""Words of which a second reason is made: rules, states of a thing, limits of the model.

Where one of them stands beside a decline, or in what sounds like a plain statement, the sentence
may say why there is no value, and no label rests on its being harmless.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from labelkit.rules.cue_patterns import any_of

DANGER = any_of(
    # Rules and rights.
    r"\b(?:forb\w+|prohibit\w*|law|laws|legal\w*|unlawful\w*|regulat\w+|polic(?:y|ies)|rules"
    r"|contract\w*"
    r"|agreements?|confidential\w*|priva\w+|secre\w+|entitl\w+|licen[cs]\w+|certif\w+|identi(?:fy"
    r"|ty)\w*"
    r"|embargo\w*|classified|oblig\w+|consent\w*|bann?(?:ed|s)?|disclos\w+|publi(?:sh|c)\w*"
    r"|releas(?:ed|es)|complian\w+|gdpr|hipaa|liab\w+|eligib\w+|reserved|against the"
    r"|off limits|sensitive|protected by|for (?:your|safety|security|legal) \w+)\b",
    # States of the thing, faults of others.
    r"\b(?:closed|closing|cancel\w*|discontinu\w+|retired|sold|blocked by|suspend\w*|frozen|froze"
    r"|locked|deactivat\w*|delet\w+|purg\w+|transferr?ed|resign\w*|withdrawn|postpon\w+|pending"
    r"|decided|under review|registered|unregistered|enroll?ed|assigned|vacant|decommission\w*"
    r"|defrost\w*|installed|uninstalled|dismantl\w*|taken out|shut|loan|stolen|repairs?"
    r"|construct\w*"
    r"|upgrad\w+|updated? tonight|being (?:updated|rebuilt|moved|audited|repaired|serviced|cleaned"
    r"|replaced|renovated|migrated)|rebuilt|maintenance|holidays?|weekends?|busy|overload\w*"
    r"|strikes?"
    r"|customs|held|booked|overdrawn|audit\w*|abroad|bankrupt\w*|out of business|weather|storm\w*"
    r"|power cut|fire|flood\w*|belongs to another|another (?:bank|customer|person|user|owner"
    r"|country"
    r"|register|system|office|department)|not (?:a )?(?:member|holder|customer|valid|approved)"
    r"|asked (?:us|me not|me to|not to|to be|for (?:discretion|privacy|his|her|their|its))"
    r"|prefers?|wishes|refus\w+|no longer (?:a|an|in|with|on|part|works?"
    r"|employed|offered|sold|exists?))\b",
    r"\b(?:in any case|anyway|anyhow|besides|moreover|furthermore|in addition|on top of|channel|by"
    r" chat|(?:over|by) (?:the )?phone|in writing)\b",
    # Limits of the model, faults of the user.
    r"\b(?:ai|language model|chat ?bot|assistant|trained|training|brows\w+|internet"
    r"|knowledge cut-?off"
    r"|designed|logg?ed (?:in|on)|log(?:ging)? in|sign(?:ed|ing)? in|passwords?|pin|subscri\w+|paid"
    r"|pay|fees?|invoices?|premium|quota\w*|rate limit\w*|remit|mistyp\w+|misspel\w+|typo\w*"
    r"|your (?:session|browser|permissions?|role|plan|e-?mail|credentials))\b",
)


def dangerous(clause: str, read: Sequence[tuple[int, int]], known: frozenset[str]) -> bool:
    """Whether a rule, a state or a limit is named outside what is read and what was given."""
    return any(matters(cue, read, known) for cue in DANGER.finditer(clause))


def matters(cue: re.Match[str], read: Sequence[tuple[int, int]], known: frozenset[str]) -> bool:
    """Whether a word of ``DANGER`` stands outside what is read, and was not given to the model."""
    if any(s < cue.end() and cue.start() < e for s, e in read):
        return False
    return not all(w in known or w.rstrip("s") in known for w in re.findall(r"[a-z]+", cue[0]))
