"""Units of measure: which numbers may be compared, and by which factor.

Only units that are certain are listed. An unknown word beside a number says nothing, and nothing
is concluded from it.
"""

from __future__ import annotations

import re
from decimal import Decimal

_TABLE: dict[str, tuple[str, str]] = {
    "mm": ("length", "0.001"), "cm": ("length", "0.01"), "m": ("length", "1"),
    "km": ("length", "1000"), "in": ("length", "0.0254"), "ft": ("length", "0.3048"),
    "mi": ("length", "1609.344"), "nmi": ("length", "1852"), "mg": ("mass", "0.001"),
    "mcg": ("mass", "0.000001"), "ug": ("mass", "0.000001"), "g": ("mass", "1"),
    "kg": ("mass", "1000"), "t": ("mass", "1000000"), "lb": ("mass", "453.59237"),
    "oz": ("mass", "28.349523125"), "ml": ("volume", "0.001"), "l": ("volume", "1"),
    "w": ("power", "1"), "kw": ("power", "1000"), "mw": ("power", "1000000"),
    "wh": ("energy", "1"), "kwh": ("energy", "1000"), "mwh": ("energy", "1000000"),
    "byte": ("data", "1"), "kb": ("data", "1000"),
    "kib": ("data", "1024"), "mib": ("data", "1048576"), "gib": ("data", "1073741824"),
    "mb": ("data", "1000000"), "gb": ("data", "1000000000"),
    "tb": ("data", "1000000000000"), "s": ("time", "1"), "min": ("time", "60"),
    "h": ("time", "3600"), "d": ("time", "86400"), "ms": ("time", "0.001"),
    "wk": ("time", "604800"), "mo": ("months", "1"), "yr": ("months", "12"),
    "kmh": ("speed", "1"), "mph": ("speed", "1.609344"), "kn": ("speed", "1.852"),
    "mps": ("speed", "3.6"), "hpa": ("pressure", "1"), "mbar": ("pressure", "1"),
    "kpa": ("pressure", "10"), "bar": ("pressure", "1000"), "psi": ("pressure", "68.94757293"),
    "gal": ("volume", "3.785411784"),
    "m3": ("volume", "1000"), "cm3": ("volume", "0.001"), "ft3": ("volume", "28.316846592"),
    "m2": ("area", "1"), "cm2": ("area", "0.0001"), "km2": ("area", "1000000"),
    "ft2": ("area", "0.09290304"), "ha": ("area", "10000"), "acre": ("area", "4046.8564224"),
    "c": ("temperature", "1"), "f": ("temperature", "1"), "k": ("temperature", "1"),
    "fraction": ("share", "1"), "percent": ("share", "0.01"), "bps": ("share", "0.0001"),
}  # fmt: skip
_NAMES = {
    "millimetre": "mm", "millimeter": "mm", "centimetre": "cm", "centimeter": "cm", "metre": "m",
    "meter": "m", "kilometre": "km", "kilometer": "km", "inch": "in", "inches": "in",
    "foot": "ft", "feet": "ft", "mile": "mi", "milligram": "mg", "microgram": "mcg",
    "gram": "g", "kilogram": "kg", "kilo": "kg", "tonne": "t", "pound": "lb", "lbs": "lb",
    "ounce": "oz", "millilitre": "ml", "milliliter": "ml", "litre": "l", "liter": "l",
    "second": "s", "sec": "s", "secs": "s", "seconds": "s", "minute": "min", "mins": "min",
    "minutes": "min", "hour": "h", "hours": "h", "hr": "h", "hrs": "h", "day": "d", "days": "d",
    "week": "wk", "weeks": "wk", "month": "mo", "months": "mo", "year": "yr", "years": "yr",
    "yrs": "yr", "millisecond": "ms", "milliseconds": "ms", "celsius": "c", "fahrenheit": "f",
    "kelvin": "k", "\u00b0c": "c", "\u00b0f": "f", "degc": "c", "degf": "f", "km/h": "kmh",
    "kph": "kmh", "m/s": "mps", "millibar": "mbar",
    "gallon": "gal", "hectare": "ha", "sqm": "m2", "sqft": "ft2",
    "knot": "kn", "knots": "kn", "%": "percent", "pct": "percent",
    "per cent": "percent", "percentage": "percent", "bp": "bps", "basis point": "bps",
    "basis points": "bps", "ratio": "fraction", "share": "fraction", "kilowatt": "kw",
    "bytes": "byte", "megawatt": "mw", "watt": "w",
}  # fmt: skip
_PARTS = re.compile(r"[A-Za-z]+[23]?(?!\d)|[A-Za-z]+|%")
_SCALES = {
    "musd": 6, "meur": 6, "million": 6, "millions": 6, "mn": 6, "mm": 6, "mio": 6, "bn": 9,
    "busd": 9, "billion": 9, "billions": 9, "thousand": 3, "thousands": 3, "kusd": 3,
    "trillion": 12, "crore": 7, "lakh": 5, "mcm": 6, "bcm": 9, "cents": -2, "pence": -2,
}  # fmt: skip


def unit_of(text: str | None) -> str | None:
    """Return the canonical name of a unit, or None when it is not known."""
    if not text:
        return None
    plain = text.strip().lower().replace("\u00b0 ", "\u00b0").replace("^", "")
    if plain in _TABLE:
        return plain
    return _NAMES.get(plain) or _NAMES.get(plain.removesuffix("s"))


def dimension(unit: str | None) -> str | None:
    """Return what the canonical unit measures."""
    return _TABLE[unit][0] if unit in _TABLE else None


def convert(value: Decimal, unit: str, into: str) -> Decimal | None:
    """Convert between canonical units; None when they measure different things."""
    if unit == into:
        return value
    if unit not in _TABLE or into not in _TABLE or dimension(unit) != dimension(into):
        return None
    if dimension(unit) == "temperature":
        celsius = {"c": value, "f": (value - 32) * 5 / 9, "k": value - Decimal("273.15")}[unit]
        return {"c": celsius, "f": celsius * 9 / 5 + 32, "k": celsius + Decimal("273.15")}[into]
    return value * Decimal(_TABLE[unit][1]) / Decimal(_TABLE[into][1])


def unit_in_path(path: str | None) -> str | None:
    """Unit named by the last words of a field name: ``temp_c``, ``duration_min``, ``rate_pct``."""
    words = _PARTS.findall((path or "").rpartition(".")[2].lower())
    if len(words) < 2:
        return "percent" if words in (["pct"], ["percent"], ["percentage"]) else None
    last = words[-1]
    if last in {"in", "d", "s", "t", "k", "l", "w", "mm", "share", "ratio"}:
        return None
    return unit_of(last)


def scale_in_name(*names: str | None) -> int:
    """Power of ten in a field or unit name: 6 in ``revenue_musd``, -2 in ``price_cents``."""
    for name in names:
        for word in _PARTS.findall((name or "").rpartition(".")[2].lower()):
            if word in _SCALES:
                return _SCALES[word]
    return 0
