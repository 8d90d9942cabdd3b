"""Numbers as people write them, each with every value it can stand for.

``1,001`` is a thousand and one in London and one and a thousandth in Berlin; ``(2.35)`` may be a
loss. A number therefore carries *readings*, the likely one first, and keeps how precisely it was
written (its quantum), because a stated 4,237.29 only claims two decimals. The pattern is one
bounded expression: digits are consumed once, so hostile digit strings stay linear.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

MAX_DIGITS = 60
_MAX_EXPONENT = 400

MAGNITUDES = {
    "k": 3, "thousand": 3, "thousands": 3, "tsd": 3, "m": 6, "mn": 6, "mm": 6, "mio": 6,
    "million": 6, "millions": 6, "millionen": 6, "b": 9, "bn": 9, "billion": 9, "billions": 9,
    "mrd": 9, "t": 12, "tn": 12, "trn": 12, "trillion": 12, "trillions": 12, "lakh": 5,
    "lakhs": 5, "lac": 5, "crore": 7, "crores": 7, "cr": 7, "hundred": 2,
}  # fmt: skip
SYMBOLS = {"$": "USD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY", "\u20b9": "INR",
           "\u20a9": "KRW", "\u20bd": "RUB", "US$": "USD", "A$": "AUD", "C$": "CAD", "HK$": "HKD",
           "S$": "SGD", "NZ$": "NZD", "R$": "BRL"}  # fmt: skip
CODES = frozenset({
    "USD", "EUR", "GBP", "JPY", "INR", "CNY", "CHF", "CAD", "AUD", "NZD", "SEK", "NOK", "DKK",
    "KRW", "BRL", "MXN", "SGD", "HKD", "ZAR", "PLN", "CZK", "HUF", "RUB", "TRY", "AED", "SAR",
    "ILS", "THB", "IDR", "MYR", "PHP", "VND", "ISK", "RMB",
})  # fmt: skip
_CURRENCY_NAMES = {
    "dollar": "USD", "dollars": "USD", "euro": "EUR", "euros": "EUR", "pound": "GBP",
    "pounds": "GBP", "yen": "JPY", "rupee": "INR", "rupees": "INR", "yuan": "CNY",
}  # fmt: skip
CURRENCY_NAMES = frozenset(_CURRENCY_NAMES)
_CODE = "|".join(sorted(CODES))
_SYMBOL = "(?:US|HK|NZ|[ACSR])?\\$|[\u20ac\u00a3\u00a5\u20b9\u20a9\u20bd]"
_CORE = (
    r"\d{1,3}(?:\u00a0\d{3})+(?!\d)(?:[.,]\d+)?|\d{1,3}(?: \d{3}){2,}(?!\d)(?:[.,]\d+)?"
    r"|\d{1,3}(?: \d{3})+,\d{1,2}(?!\d)|\d{1,3}(?: \d{3})+(?=\s?(?:" + _CODE + "|\u20ac)\\b)"
    r"|\d+(?:[.,'_]\d+)*|\.\d+"
)
_SUFFIX = (
    r"thousands?|millions?|millionen|billions?|trillions?|hundred|lakhs?|lac|crores?"
    r"|bn|mn|mm|mio|mrd|tsd|trn|tn|cr|[kKMBTm]"
)
NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?:(?P<word>minus|negative)\s+)?(?P<sign>[-+](?![-+]))?"
    rf"(?:(?P<cur>(?:{_SYMBOL})|\b(?:{_CODE})\b)[ \u00a0]?)?(?P<open>\()?(?P<cur2>{_SYMBOL})?"
    rf"(?P<sign2>-)?(?P<core>{_CORE})"
    r"(?P<exp>[eE][-+]?\d{1,4}(?!\w)|\s?(?:x|\*)\s?10\s?(?:\^|\*\*)\s?[({]?[-+]?\d{1,4})?"
    r"(?P<close>\))?"
    rf"(?:(?:[ \u00a0]?|-(?=\w{{5}}))(?P<mag>{_SUFFIX})(?![A-Za-z0-9]))?(?P<close2>\))?"
    rf"(?:[ \u00a0]?(?P<cur3>(?:{_SYMBOL})|(?:{_CODE}|(?:dollar|euro|pound|rupee)s?|yen|yuan)\b))?",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d")
_IN_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+\.\d+")
_NUMBERS = (int, float, Decimal)


class Reading(NamedTuple):
    """One value a number can stand for.

    ``quantum`` is the size of its last written digit; ``digits`` counts its significant digits.
    ``sure`` is False for a reading that needs a special convention (decimal comma in an English
    text, brackets for a loss).
    """

    value: Decimal
    quantum: Decimal
    digits: int
    sure: bool = True


def split_core(core: str) -> list[tuple[str, bool]]:
    """Return the plain decimal texts ``core`` can mean, with whether the reading is usual.

    Empty when the separators fit no way of writing one number (``1.2.3``, ``1,2,3``).
    """
    text = core.replace("\u00a0", "").replace(" ", "").replace("'", "").replace("_", "")
    commas, dots = text.count(","), text.count(".")
    if not commas and not dots:
        return [(text, True)]
    if commas and dots:
        return _both(text)
    mark = "," if commas else "."
    head, *groups = text.split(mark)
    grouped = _grouped(head, groups)
    if len(groups) > 1:
        return [(text.replace(mark, ""), True)] if grouped else []
    decimal = text.replace(",", ".")
    if not grouped or head == "":
        return [(decimal, True)]
    joined = text.replace(mark, "")
    return [(joined, True), (decimal, False)] if commas else [(decimal, True), (joined, False)]


def _both(text: str) -> list[tuple[str, bool]]:
    decimal = max(",", ".", key=text.rfind)
    if text.count(decimal) > 1:
        return []
    whole, fraction = text.split(decimal)
    head, *groups = whole.split("," if decimal == "." else ".")
    return [("".join((head, *groups)) + "." + fraction, True)] if _grouped(head, groups) else []


def _grouped(head: str, groups: list[str]) -> bool:
    """Groups of three, or the Indian 12,34,567; a leading zero never begins a grouped number."""
    if not head or len(head) > 3 or head[0] == "0" or len(groups[-1]) != 3:
        return False
    inner = groups[:-1]
    return all(len(g) == 3 for g in inner) or (len(head) <= 2 and all(len(g) == 2 for g in inner))


def readings_of(match: re.Match[str]) -> tuple[Reading, ...]:
    """Return what a match of ``NUMBER`` can mean; empty when it is no single number."""
    word, sign, cur, opened, _, sign2, core, exp, close, mag, close2, cur3 = match.groups()
    if len(core) > MAX_DIGITS:
        return ()
    shift = 0
    if exp or mag:
        shift = _exponent(exp) + magnitude(match)
        if abs(shift) > _MAX_EXPONENT:
            return ()
    negative = word is not None or sign == "-" or sign2 == "-"
    bracket = opened is not None and (close is not None or close2 is not None)
    # $(2.35) million: amount and unit outside the brackets can only be the accounting style.
    outside = bracket and bool(cur or (close and (mag or cur3)))
    out: list[Reading] = []
    for text, usual in split_core(core):
        places = len(text) - text.find(".") - 1 if "." in text else 0
        value = Decimal(text)
        if shift:
            value = value.scaleb(shift)
        quantum = _quantum(shift - places)
        digits = len(text.replace(".", "").lstrip("0"))
        if not negative and not outside:
            out.append(Reading(value, quantum, digits, usual))
        if negative or bracket:
            out.append(Reading(-value, quantum, digits, usual))
    return tuple(out)


def plain_readings(core: str) -> tuple[Reading, ...]:
    """Return what digits with separators can mean, when nothing stands around them."""
    if len(core) > MAX_DIGITS:
        return ()
    if core.isdecimal():
        return (Reading(Decimal(core), _quantum(0), len(core.lstrip("0"))),)
    whole, _, fraction = core.partition(".")
    if whole.isdecimal() and fraction.isdecimal() and len(fraction) != 3:
        digits = len((whole + fraction).lstrip("0"))
        return (Reading(Decimal(core), _quantum(-len(fraction)), digits),)
    if _IN_THOUSANDS.fullmatch(core):
        joined = whole.replace(",", "")
        digits = len(joined) + len(fraction)
        return (Reading(Decimal(f"{joined}.{fraction}"), _quantum(-len(fraction)), digits),)
    return tuple(
        Reading(
            Decimal(text),
            _quantum(text.find(".") + 1 - len(text) if "." in text else 0),
            len(text.replace(".", "").lstrip("0")),
            usual,
        )
        for text, usual in split_core(core)
    )


@lru_cache(maxsize=1024)
def _quantum(shift: int) -> Decimal:
    """The size of a last digit."""
    return Decimal(1).scaleb(shift)


def magnitude(match: re.Match[str]) -> int:
    """Power of ten of the magnitude word or letter; ``m`` and ``mm`` count beside money only."""
    suffix = match["mag"]
    if not suffix:
        return 0
    if suffix in {"m", "t", "b", "mm"} and not currency(match):
        return 0
    return MAGNITUDES[suffix.lower()]


def currency(match: re.Match[str]) -> str | None:
    """ISO code of the currency beside the number, or None."""
    for group in ("cur", "cur2", "cur3"):
        found = match[group]
        if found:
            upper = found.upper()
            code = upper if upper in CODES else SYMBOLS.get(upper)
            return "CNY" if code == "RMB" else code or _CURRENCY_NAMES.get(found.lower())
    return None


def _exponent(text: str | None) -> int:
    if not text:
        return 0
    if text[0] in "eE":
        return int(text[1:])
    tail = re.split(r"\^|\*\*", text)[-1]
    return int(tail.strip().lstrip("({").lstrip())


def as_decimal(value: object) -> Decimal | None:
    """Exact decimal of a JSON number or of a text that is one number; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, _NUMBERS):
        try:
            number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        except (InvalidOperation, ValueError):
            return None
        return number if number.is_finite() and abs(number.adjusted()) <= _MAX_EXPONENT else None
    if isinstance(value, str) and len(value) <= MAX_DIGITS and _DIGITS.search(value):
        match = NUMBER.fullmatch(value.strip())
        found = readings_of(match) if match else ()
        return found[0].value if found else None
    return None
