"""Numbers in words: ``twenty-four``, ``eighteen and a half million``, ``a dozen``, ``1\u4e075000``.

They are read only where an answer states the wanted number in no digits, so that most answers pay
nothing. A wording that is not surely read is seen all the same (``spells_a_number``), so that
nothing is concluded from digits that are not there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

from labelkit.grounding.hints import Hint, heads_of, word_heads
from labelkit.grounding.numbers import CODES, SYMBOLS, Reading
from labelkit.grounding.units import convert, unit_of
from labelkit.grounding.value import Value

NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven",
    "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen",
    "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
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
_SMALL = {w: n for n, w in enumerate(NUMBER_WORDS)} | {w: 10 * n for n, w in enumerate(_TENS, 2)}
_LARGE = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "lakh": 5, "crore": 7}
_WORD = "|".join(sorted(_SMALL, key=len, reverse=True))
_SCALE = "|".join(_LARGE)
_HALVES = {
    "and a half": "0.5", "and a quarter": "0.25", "and three quarters": "0.75",
    "and three-quarters": "0.75", "and three-quarter": "0.75",
}  # fmt: skip
_RUN = re.compile(
    rf"\b(?:(?:an?(?= (?:hundred|{_SCALE}))|{_WORD})"
    rf"(?:[ -](?:and )?(?:{_WORD}|hundred|{_SCALE})s?\b){{0,9}}"
    rf"(?: point(?: (?:{'|'.join(NUMBER_WORDS[:10])})\b){{1,6}})?"
    rf"(?:,? (?:{'|'.join(_HALVES)})\b)?(?: (?:{_SCALE})\b)?)"
)
_ORDINALS = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
    "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth",
    "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
)  # fmt: skip
_RANKED = re.compile(
    r"(?:^|_)(?:rank|ranking|place|placing|position|standing|seed|floor|grade|round|edition"
    r"|generation|century)(?:_|$)"
)
_STEP = re.compile(r"[a-z]+")
_OTHER = re.compile(
    r"\b(?:half a (?P<half>million|billion|dozen)|(?P<dozen>(?:an?|two|three|four|five) dozen)"
    r"|(?P<share>three[- ]quarters|one half|half|a quarter|one quarter|a third|one third"
    r"|two[- ]thirds)(?= (?:full|of|empty|used|the)\b))"
)
_SHARES = {
    "three-quarters": "0.75", "three quarters": "0.75", "half": "0.5", "one half": "0.5",
    "a quarter": "0.25", "one quarter": "0.25",
}  # fmt: skip
# Every wording of ``_OTHER`` and ``_RUN`` has a word that begins so.
_NUMBER_HEADS = heads_of((*_SMALL, *_LARGE, "hundred", "dozen", "half", "quarter", "third"))
_AFTER = re.compile(r"[ -](per ?cent|percentage points?|basis points?|[a-z\u00b0%]{1,12})")
_TIMES = frozenset({"s", "min", "h", "d", "wk", "mo", "yr"})
_HOUR_AND = re.compile(
    r"(?<![\w-])(?<!ty )(?:(?P<part>half|(?:a )?quarter|three[- ]quarters)(?: of)? )?(?:an?|one) "
    r"(?P<unit>minute|hour|day|week|month|year)\b(?: (?P<more>and a half|and a quarter))?"
)
_IN_DIGITS = re.compile(r"(?<![\d.,])(\d{1,3}) (minute|hour|day|week|month|second)s?\b")
_CURRENCIES = {"dollar": "USD", "euro": "EUR", "pound": "GBP", "yen": "JPY", "rupee": "INR"}
_MYRIADS = re.compile(
    r"(?<![\d.,])(?:(\d{1,4}(?:\.\d{1,4})?)\u5104)?(?:(\d{1,4}(?:\.\d{1,4})?)\u4e07)(\d{1,4})?(?![\d.,])"
    r"|(?<![\d.,])(\d{1,4}(?:\.\d{1,4})?)\u5104(?!\d)"
)


def spelled_values(text: str) -> tuple[Value, ...]:
    """Return the numbers that the folded, lower-cased ``text`` writes in words, with their places.

    Read are English cardinal numbers (with "point", "and a half"), dozens, plain shares ("half
    full") and Japanese ten thousands. A lone "a" or "one" is no number.
    """
    return _read(text) if len(text) <= 20_000 else ()


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[Value, ...]:
    found: list[Value] = []
    in_words = not _NUMBER_HEADS.isdisjoint(word_heads(text))
    for match in _OTHER.finditer(text) if in_words else ():
        amount = _other(match)
        if amount is not None:
            found.append(_value(text, match.start(), match.end(), amount))
    taken = [(v.start, v.end) for v in found]
    for match in _RUN.finditer(text) if in_words else ():
        number = _number_of(match[0])
        if number is not None and not any(a <= match.start() < b for a, b in taken):
            found.append(_value(text, match.start(), match.end(), number))
    if "\u4e07" in text or "\u5104" in text:
        for match in _MYRIADS.finditer(text):
            found.append(  # noqa: PERF401 (a generator inside extend would be slower to read)
                _value(text, match.start(), match.end(), _myriads(match))
            )
    found.sort(key=lambda v: v.start)
    return tuple(found)


def ordinal_places(number: int, text: str, path: str) -> list[tuple[int, int]]:
    """Places of "third" or "3rd", where a field such as ``rank`` makes an ordinal of a 3.

    A share ("a third", "two thirds") is none.
    """
    if not _RANKED.search(path.rpartition(".")[2].lower()):
        return []
    words = [_ORDINALS[number]] if 0 < number < len(_ORDINALS) else []
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    body = "|".join((*words, f"{number}{ending}"))
    return [m.span() for m in re.finditer(rf"(?<![\w,.])(?<!\ba )(?:{body})(?!\w)", text)]


def spelled_durations(text: str) -> tuple[tuple[int, int, Decimal, str], ...]:
    """Return (start, end, amount, base) of the durations in words; base ``s`` or ``mo``.

    "three hours and ten minutes" is one, "an hour and a half" another. Digits are read where they
    go on: "one hour and 10 minutes".
    """
    found: list[tuple[int, int, Decimal, str]] = []
    parts = [(m.start(), m.end(), _around_an_hour(m), m["unit"]) for m in _HOUR_AND.finditer(text)]
    taken = [(start, end) for start, end, _, _ in parts]
    parts += [
        (v.start, v.end, v.readings[0].value, v.unit)
        for v in spelled_values(text)
        if v.unit in _TIMES and not any(a <= v.start < b for a, b in taken)
    ]
    if not parts:
        return ()
    digits = {m.start(): m for m in _IN_DIGITS.finditer(text)}
    parts += [(at, m.end(), Decimal(m[1]), m[2]) for at, m in digits.items()]
    for start, end, number, unit in sorted(parts):
        base = "mo" if unit.startswith(("mo", "y")) else "s"
        amount = convert(number, unit_of(unit) or unit, base)
        if amount is None:
            continue
        last = found[-1] if found else None
        joined = (
            last and last[3] == base and text[last[1] : start] in {" and ", ", ", " ", ", and "}
        )
        if last and joined:
            found[-1] = last[0], end, last[2] + amount, base
        elif start not in digits:
            found.append((start, end, amount, base))
    return tuple(found)


def spells_a_number(lowered: str) -> bool:
    """Whether a lower-cased text writes a larger number or a fraction in words."""
    return _MAY_SPELL.in_text(lowered) and _SPELLED.search(lowered) is not None


def beyond(read: Sequence[tuple[int, int]], lowered: str) -> bool:
    """Whether a larger number or a fraction is in words outside the places that were read."""
    return any(
        not any(start <= m.start() < end for start, end in read) for m in _SPELLED.finditer(lowered)
    )


def _around_an_hour(match: re.Match[str]) -> Decimal:
    """One and a half, a half, or a quarter of a unit of time."""
    if match["more"]:
        return 1 + Decimal(_HALVES[match["more"]])
    if match["part"]:
        word = match["part"].removeprefix("a ")
        return Decimal({"half": "0.5", "quarter": "0.25"}.get(word, "0.75"))
    return Decimal(1)


def _number_of(words: str) -> Decimal | None:
    """The number that a run of words writes, or None when it is none or only "a"."""
    fraction = ""
    whole, point, digits = words.partition(" point ")
    scale_word = ""
    if point:
        parts = digits.split()
        if parts[-1] in _LARGE:
            scale_word = parts.pop()
        fraction = "".join(str(_SMALL[p]) for p in parts if p in _SMALL)
    part = Decimal(0)
    for ending, size in _HALVES.items():
        if ending in whole:
            whole, _, rest = whole.partition(ending)
            part, scale_word = Decimal(size), rest.strip()
            break
    total = _whole(_STEP.findall(whole))
    if total is None:
        return None
    if fraction:
        total += Decimal(f"0.{fraction}")
    return (total + part).scaleb(_LARGE.get(scale_word, 0))


def _whole(words: list[str]) -> Decimal | None:
    """The whole number of the words: hundreds and tens, times a scale, largest scale first."""
    if words in (["a"], ["an"], ["one"], []):
        return None
    total, last, group = 0, 10**30, _Group()
    for at, raw in enumerate(words):
        word = raw if raw in _LARGE or raw in _SMALL else raw.removesuffix("s")
        if word in _LARGE:
            scale = 10 ** _LARGE[word]
            if not group.size or scale >= last:
                return None
            total, group, last = total + group.size * scale, _Group(), scale
        elif word != "and" and not group.take(word, first=not at):
            return None
    return Decimal(total + group.size)


class _Group:
    """A number below a thousand that is being read, word by word."""

    def __init__(self) -> None:
        self.size = 0
        self._room = 1000

    def take(self, word: str, *, first: bool) -> bool:
        """Read one word more; False where it may not stand here: "four twenty"."""
        if word in {"a", "an"}:
            self.size, self._room = 1, 1
            return first
        if word == "hundred":
            fits = 0 < self.size < 100
            self.size, self._room = self.size * 100, 100
            return fits
        size = _SMALL.get(word)
        if size is None or not _fits(self.size, size, self._room):
            return False
        self.size, self._room = self.size + size, 10 if size >= 20 else 1
        return True


def _fits(group: int, size: int, step: int) -> bool:
    """Whether a word of ``size`` may follow what was read: "twenty four", never "four twenty"."""
    return size < step and (group == 0 or group % step == 0) and (size > 0 or group == 0)


def _other(match: re.Match[str]) -> Decimal | None:
    if match["half"]:
        return Decimal(6 if match["half"] == "dozen" else 10 ** _LARGE[match["half"]] // 2)
    if match["dozen"]:
        return Decimal(12 * _SMALL.get(match["dozen"].split()[0], 1))
    size = _SHARES.get(match["share"])
    return Decimal(size) if size else None


def _myriads(match: re.Match[str]) -> Decimal:
    hundreds, tens, rest, alone = match.groups()
    if alone:
        return Decimal(alone).scaleb(8)
    return Decimal(hundreds or 0).scaleb(8) + Decimal(tens).scaleb(4) + Decimal(rest or 0)


def _value(text: str, start: int, end: int, number: Decimal) -> Value:
    number = number.normalize() if number else Decimal(0)
    number = number.quantize(Decimal(1)) if number == number.to_integral_value() else number
    digits = len(number.as_tuple().digits)
    quantum = Decimal(1).scaleb(min(0, int(number.as_tuple().exponent)))
    readings = (Reading(number, quantum, digits),)
    unit = code = None
    after = _AFTER.match(text, end)
    if after:
        word = after[1]
        code = _CURRENCIES.get(word.removesuffix("s"))
        unit = None if code else unit_of(word)
        code = code or (word.upper() if word.upper() in CODES else None)
        end = after.end() if unit or code else end
    code = code or SYMBOLS.get(text[end : end + 1])
    written = after[1] if after and unit else ""
    return Value(
        "number", start, end, text[start:end], readings, readings, unit, code, written_unit=written
    )
