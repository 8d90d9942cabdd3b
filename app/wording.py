"""How numbers of a report are written: a value with its interval, or the reason there is none."""

from __future__ import annotations

from collections.abc import Mapping

from labelkit.workflows.browse import Interval, Number, Undefined, limits, number_or_reason

_REASONS = {
    "no_items": "no traces",
    "single_item": "one trace only",
    "no_overlap": "no trace with two labels",
    "one_category": "one label only",
    "zero_denominator": "nothing to divide by",
    "empty_denominator": "no rows to divide by",
    "all_replicates_undefined": "no interval",
}


def words(reason: str) -> str:
    """A reason code as people say it."""
    return _REASONS.get(reason, reason.replace("_", " "))


def counted(counts: Mapping[str, int]) -> str:
    """Counts in words."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def why_not(reason: str) -> str:
    """What stands where a number would: the reason in brackets."""
    return f"({words(reason)})"


def percent(value: Number | None) -> str:
    """A share, the reason in brackets, or nothing."""
    if value is None:
        return ""
    shown = number_or_reason(value)
    return why_not(shown) if isinstance(shown, str) else f"{shown:.1%}"


def three(value: Number) -> str:
    """A coefficient, or the reason in brackets."""
    shown = number_or_reason(value)
    return why_not(shown) if isinstance(shown, str) else f"{shown:.3f}"


def between(interval: Interval | Undefined, *, share: bool = False) -> str:
    """An interval, or nothing."""
    ends = limits(interval)
    if ends is None:
        return ""
    return f"{ends[0]:.1%} to {ends[1]:.1%}" if share else f"{ends[0]:.3f} to {ends[1]:.3f}"


def whole_number(value: Number) -> str:
    """A count, or the reason in brackets."""
    shown = number_or_reason(value)
    return why_not(shown) if isinstance(shown, str) else f"{shown:,.0f}"


def points(value: Number) -> str:
    """A half-width in percentage points, or the reason in brackets."""
    shown = number_or_reason(value)
    return why_not(shown) if isinstance(shown, str) else f"\u00b1{100 * shown:.1f}"


def defined(value: Number) -> float | None:
    """The number, or None where there is only a reason."""
    shown = number_or_reason(value)
    return None if isinstance(shown, str) else shown
