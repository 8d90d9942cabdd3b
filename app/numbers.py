"""How numbers of a report are written: a value with its interval, or the reason there is none."""

from __future__ import annotations

from collections.abc import Mapping

from labelkit.workflows.browse import Interval, Number, Undefined, limits, number_or_reason


def counted(counts: Mapping[str, int]) -> str:
    """Counts in words."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "none"


def percent(value: Number | None) -> str:
    """A share, the reason in brackets, or nothing."""
    if value is None:
        return ""
    shown = number_or_reason(value)
    return f"({shown})" if isinstance(shown, str) else f"{shown:.1%}"


def three(value: Number) -> str:
    """A coefficient, or the reason in brackets."""
    shown = number_or_reason(value)
    return f"({shown})" if isinstance(shown, str) else f"{shown:.3f}"


def between(interval: Interval | Undefined, *, share: bool = False) -> str:
    """An interval, or nothing."""
    ends = limits(interval)
    if ends is None:
        return ""
    return f"{ends[0]:.1%} to {ends[1]:.1%}" if share else f"{ends[0]:.3f} to {ends[1]:.3f}"
