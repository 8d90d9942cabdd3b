"""Our value readers beside well-kept libraries: how many written values each reads right, how fast.

Each line of the table is a kind of writing. A library is given the *bare* value (it cannot find one
in a sentence), and is told the language; ours is given the same text and told nothing. A value is
right when the one reading equals the wanted one, ``open`` when the text alone does not decide and
the reader says so (ours keeps both readings), and wrong otherwise. A library that is not installed
is left out and named.

    pip install babel python-dateutil dateparser pint
    python benchmarks/value_parsers.py

Prints right / open / wrong / microseconds of CPU per value, for every kind and reader.
"""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from labelkit.grounding.folding import fold_values
from labelkit.grounding.values import _scan_all

REPEATS = 200
ELSE = datetime(2000, 1, 1)  # noqa: DTZ001 (parts that are not written)


class Kind(NamedTuple):
    """Texts of one way of writing, each with what it means; ``language`` for those that ask."""

    name: str
    what: str
    pairs: tuple[tuple[str, Any], ...]
    language: str = "en_US"


number = Decimal


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


KINDS = (
    Kind("plain and US grouping", "number", (
        ("1001", number("1001")), ("1,001.00", number("1001")),
        ("12,345,678.9", number("12345678.9")), ("0.000000602", number("6.02e-7")),
        (".5", number("0.5")), ("-17.8", number("-17.8")))),
    Kind("European grouping", "number", (
        ("1.234,5", number("1234.5")), ("1.234.567,8", number("1234567.8")),
        ("12,5", number("12.5")), ("0,125", number("0.125"))), "de_DE"),
    Kind("Indian grouping", "number", (
        ("12,34,567", number("1234567")), ("1,23,45,678.50", number("12345678.5"))), "en_IN"),
    Kind("space, NBSP, apostrophe", "number", (
        ("1\u00a0234\u00a0567", number("1234567")), ("1 234 567", number("1234567")),
        ("1\u202f234,50", number("1234.5")), ("1'234.50", number("1234.5"))), "fr_FR"),
    Kind("full width, unicode minus", "number", (
        ("\uff14\uff17\uff0e\uff12", number("47.2")), ("\u221217.8", number("-17.8")))),
    Kind("scientific", "number", (
        ("6.02e-07", number("6.02e-7")), ("6.02\u00d710\u207b\u2077", number("6.02e-7")),
        ("6.02 x 10^-7", number("6.02e-7")))),
    Kind("magnitude", "number", (
        ("3.4T", number("3.4e12")), ("3.4 trillion", number("3.4e12")), ("47 bn", number("47e9")),
        ("2.5 crore", number("2.5e7")))),
    Kind("money", "number", (
        ("$1,001.00", number("1001")), ("1,234.50 EUR", number("1234.5")),
        ("\u20ac1,234.5", number("1234.5")), ("US$2,750 million", number("2750000000")))),
    Kind("negative in brackets", "number", (
        ("$(2.35) million", number("-2350000")), ("($2,350)", number("-2350")))),
    Kind("dates", "time", (
        ("4 May 2026", at("2026-05-04")), ("May 4, 2026", at("2026-05-04")),
        ("May 4th, 2026", at("2026-05-04")), ("2026-05-04", at("2026-05-04")),
        ("2026/05/04", at("2026-05-04")), ("04.05.2026", at("2026-05-04")))),
    Kind("open dates (4 May or 5 April)", "open", (
        ("04/05/2026", at("2026-05-04")), ("05/04/2026", at("2026-04-05")))),
    Kind("dates with time and zone", "instant", (
        ("2026-05-04T08:30:00+09:00", at("2026-05-03T23:30:00+00:00")),
        ("4 May 2026 08:30 JST", at("2026-05-03T23:30:00+00:00")),
        ("May 3rd, 2026 at 7:30 PM EDT", at("2026-05-03T23:30:00+00:00")),
        ("4 May 2026 at 08:30 Tokyo time", at("2026-05-03T23:30:00+00:00")))),
    Kind("texts that are no date", "none", (
        ("Section 418", None), ("AA-1 costs 12.40", None), ("1.618", None),
        ("may well be 12", None))),
    Kind("durations", "duration", (
        ("5h 47m", number("20820")), ("5 hours and 47 minutes", number("20820")),
        ("347 minutes", number("20820")), ("PT5H47M", number("20820")),
        ("1.5 hours", number("5400")))),
)  # fmt: skip


def ours(text: str, kind: Kind) -> Any:
    """The one reading of the one value, ``open`` for several, None for none."""
    # Not through the memory of known texts, or nothing would be measured.
    found = _scan_all(fold_values(text).text)
    if kind.what == "none":
        return next((v for v in found if v.kind == "datetime" and v.whens[0].day), None)
    if len(found) != 1:
        return "several"
    value = found[0]
    if kind.what == "number":
        signs = {r.value.is_signed() for r in value.readings}
        return value.readings[0].value if len(signs) == 1 else "open"
    if kind.what == "duration":
        return value.seconds.value if value.seconds else None
    if not value.whens:
        return None
    if len(value.whens) > 1:
        return "open"
    when = value.whens[0]
    if kind.what == "instant":
        return when.instant()
    return datetime(when.year or 1, when.month or 1, when.day or 1)  # noqa: DTZ001 (a day)


def babel_reader() -> Callable[[str, Kind], Any]:
    numbers = importlib.import_module("babel.numbers")
    return lambda text, kind: numbers.parse_decimal(text, locale=kind.language)


def babel_strict() -> Callable[[str, Kind], Any]:
    numbers = importlib.import_module("babel.numbers")
    return lambda text, kind: numbers.parse_decimal(text, locale=kind.language, strict=True)


def dateutil_reader() -> Callable[[str, Kind], Any]:
    parser = importlib.import_module("dateutil.parser")
    return lambda text, _: parser.parse(text, default=ELSE)


def dateparser_reader() -> Callable[[str, Kind], Any]:
    dateparser = importlib.import_module("dateparser")
    settings = {"RELATIVE_BASE": ELSE}
    return lambda text, _: dateparser.parse(text, languages=["en"], settings=settings)


def pint_reader() -> Callable[[str, Kind], Any]:
    registry = importlib.import_module("pint").UnitRegistry()

    def read(text: str, kind: Kind) -> Any:
        quantity = registry.Quantity(text)
        if kind.what == "duration":
            return Decimal(repr(round(quantity.to("second").magnitude, 6)))
        return Decimal(str(quantity.magnitude))

    return read


READERS: dict[str, tuple[Callable[[], Callable[[str, Kind], Any]], frozenset[str]]] = {
    "babel": (babel_reader, frozenset({"number"})),
    "babel strict": (babel_strict, frozenset({"number"})),
    "dateutil": (dateutil_reader, frozenset({"time", "open", "instant", "none"})),
    "dateparser": (dateparser_reader, frozenset({"time", "open", "instant", "none"})),
    "pint": (pint_reader, frozenset({"duration"})),
}


def agrees(said: Any, wanted: Any, kind: Kind) -> bool:
    """Whether the reading is the wanted value; a time without a zone is no instant."""
    if kind.what == "instant":
        return isinstance(said, datetime) and said.tzinfo is not None and (
            said.astimezone(UTC) == wanted
        )  # fmt: skip
    if isinstance(said, datetime) and isinstance(wanted, datetime):
        return said.replace(tzinfo=None) == wanted
    return bool(said == wanted)


def judge(read: Callable[[str, Kind], Any], kind: Kind) -> tuple[int, int, int, float]:
    """Right, open, wrong or unread, and microseconds of CPU per value."""
    right = undecided = 0
    for text, wanted in kind.pairs:
        try:
            said = read(text, kind)
        except Exception:  # a library's refusal, of whatever class, is its reading
            said = None
        if said == "open":
            undecided += 1
        elif agrees(said, wanted, kind):
            right += 1
    begin = time.process_time()
    for _ in range(REPEATS):
        for text, _wanted in kind.pairs:
            try:
                read(text, kind)
            except Exception:
                continue
    spent = (time.process_time() - begin) * 1e6 / REPEATS / len(kind.pairs)
    return right, undecided, len(kind.pairs) - right - undecided, spent


def main() -> None:
    warnings.simplefilter("ignore")
    readers: dict[str, tuple[Callable[[str, Kind], Any], frozenset[str]]] = {}
    for name, (build, kinds) in READERS.items():
        try:
            readers[name] = build(), kinds
        except ImportError as error:
            print(f"{name} is not installed and left out ({error})")
    print(f"{'kind':31} {'reader':13} right open wrong    us per value")
    totals: dict[str, list[int]] = {}
    for kind in KINDS:
        lines = [("labelkit", judge(ours, kind))]
        lines += [
            (n, judge(read, kind)) for n, (read, kinds) in readers.items() if kind.what in kinds
        ]
        for name, (right, undecided, wrong, spent) in lines:
            print(f"{kind.name:31} {name:13} {right:5} {undecided:4} {wrong:5} {spent:15.1f}")
            total = totals.setdefault(name, [0, 0, 0])
            for place, count in enumerate((right, undecided, wrong)):
                total[place] += count
    for name, (right, undecided, wrong) in totals.items():
        print(f"{'all of its kinds':31} {name:13} {right:5} {undecided:4} {wrong:5}")


if __name__ == "__main__":
    main()
