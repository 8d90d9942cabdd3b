"""Numbers and times in words: seen, so that nothing is concluded from digits that are not there.

Only small whole numbers are read; what else is spelled out is left to the judges.
"""

from __future__ import annotations

import re

from labelkit.grounding.hints import Hint

NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven",
    "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen",
    "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_SPELLED = re.compile(
    r"\b(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b|\bpoint (?:zero|one|two"
    r"|three|four|five|six|seven|eight|nine)\b|\bhalf a (?:million|billion|percent)"
    r"|\band (?:a half|three quarters|a quarter)\b"
    rf"|\b(?:an?|{'|'.join(NUMBER_WORDS[1:])}) (?:hundred|thousand|million|billion|trillion)\b"
)
_MAY_SPELL = Hint(
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "point ",
    "half", "three quarters", "a quarter", "hundred", "thousand", "million", "billion", "trillion",
)  # fmt: skip
SPELLED_TIME = re.compile(
    rf"\b(?:half|quarter|couple|{'|'.join(NUMBER_WORDS)}|an?|thirty|forty|fifty)\b"
    r"[^.\n\d]{0,16}\b(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)\b"
)


def spells_a_number(lowered: str) -> bool:
    """Whether a lower-cased text writes a larger number or a fraction in words."""
    return _MAY_SPELL.in_text(lowered) and _SPELLED.search(lowered) is not None
