"""Charts of the pages: one look for all, legible on both grounds. A table beside has the numbers.

What is made here are plain places: shares of the drawing's width or height, and texts. The
component ``app.components.chart`` puts them there. Names that others chose are made visible by
``app.plain`` first. No chart has tooltips.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, floor, log10
from typing import Any

from app.components.chart import chart
from app.plain import visible

MOST_TICKS = 9
MOST_DATES = 12


@dataclass(frozen=True)
class Spot:
    """One estimate: its row, its value, the ends of its interval if it has one, its series."""

    row: str
    value: float
    low: float | None = None
    high: float | None = None
    series: str = ""


@dataclass(frozen=True)
class Drawing:
    """A chart: its kind, and places and texts by name; places are shares of 1."""

    kind: str
    parts: Mapping[str, Any]


def show_chart(
    drawing: Drawing, said: str, *, key: str, on_cell: Callable[[str], None] | None = None
) -> None:
    """Show a chart; ``said`` tells a screen reader what it shows and where the numbers are."""
    chart({"kind": drawing.kind, "said": said, **drawing.parts}, key=key, on_cell=on_cell)


@dataclass(frozen=True)
class Axis:
    """The values that a drawing spans, with the lines it shows."""

    low: float
    high: float
    percent: bool = False

    def at(self, value: float) -> float:
        """Return the place of a value, 0 to 1; what lies beyond the axis is put at its end."""
        share = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, share))

    def ticks(self, *, whole: bool = False) -> list[tuple[float, str]]:
        """Return at most ``MOST_TICKS`` round values by their place, with their texts."""
        step = round_step((self.high - self.low) / (MOST_TICKS - 1), whole=whole)
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        digits = max(0, -floor(log10(step) + 1e-9) - (2 if self.percent else 0))
        form = f".{digits}%" if self.percent else f",.{digits}f"
        return [(self.at(n * step), format(n * step, form)) for n in range(first, last + 1)]


def round_step(least: float, *, whole: bool = False) -> float:
    """Return the smallest of 1, 2, 5, 10 ... or 0.1, 0.2, 0.5 ... that is ``least`` or more."""
    if whole:
        least = max(1.0, least)
    power = 10.0 ** floor(log10(least))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= least * (1 - 1e-9))


def series_of(spots: Sequence[Spot]) -> list[str]:
    """Return the series in the order in which they come."""
    return list(dict.fromkeys(spot.series for spot in spots))


def placed(spots: Sequence[Spot], row: str, axis: Axis) -> list[tuple[int, float, float, float]]:
    """Return what stands in a row: number of the series, place, ends of the interval."""
    series = series_of(spots)
    return [
        (
            series.index(spot.series),
            axis.at(spot.value),
            axis.at(spot.value if spot.low is None else spot.low),
            axis.at(spot.value if spot.high is None else spot.high),
        )
        for spot in spots
        if spot.row == row
    ]


def forest(
    spots: Sequence[Spot],
    title: str,
    *,
    percent: bool = False,
    domain: tuple[float, float] | None = None,
    mark: float | None = None,
    width: int = 220,
) -> Drawing:
    """Points with their intervals, one row each; several series of a row stand below each other.

    Args:
        spots: in the order in which they are shown.
        title: of the axis, with the unit.
        percent: whether the values are shares, written in percent.
        domain: of the axis; default from 0, or from below it, to 1.
        mark: a value to compare with, drawn as a line.
        width: most pixels for the names of the rows.
    """
    low = min((s.low if s.low is not None else s.value for s in spots), default=0.0)
    axis = Axis(*(domain or (min(0.0, low), 1.0)), percent=percent)
    rows = dict.fromkeys(spot.row for spot in spots)
    parts = {
        "title": title,
        "width": width,
        "series": series_of(spots),
        "ticks": axis.ticks(),
        "mark": None if mark is None else axis.at(mark),
        "rows": [(visible(row, 60), placed(spots, row, axis)) for row in rows],
    }
    return Drawing("forest", parts)


def over_days(spots: Sequence[Spot], title: str) -> Drawing:
    """Points with their intervals over days (``row`` is a day), series side by side."""
    days = sorted({spot.row for spot in spots})
    # The interval of a day with few labels would push everything else together: it is cut.
    axis = Axis(min([0.0, *(spot.value for spot in spots)]), 1.0)
    parts = {
        "title": title,
        "series": series_of(spots),
        "ticks": axis.ticks(),
        "every": ceil(len(days) / MOST_DATES),
        "days": [(short_day(day), placed(spots, day, axis)) for day in days],
    }
    return Drawing("days", parts)


def short_day(day: str) -> str:
    """``2026-11-30`` as ``30 Nov``."""
    found = date.fromisoformat(day)
    return f"{found.day} {found:%b}"


def stacked_days(counts: Sequence[tuple[str, str, int]], last: int) -> Drawing:
    """Bars of (day, person, count) for the ``last`` days; days without any leave a gap."""
    end = max(date.fromisoformat(day) for day, _, _ in counts)
    start = max(
        min(date.fromisoformat(day) for day, _, _ in counts), end - timedelta(days=last - 1)
    )
    days = [str(start + timedelta(days=n)) for n in range((end - start).days + 1)]
    people = sorted({person for _, person, _ in counts})
    sums = [sum(n for day, _, n in counts if day == one) for one in days]
    axis = Axis(0.0, max(1.0, 1.05 * max(sums)))
    parts = {
        "title": "labels",
        "series": [visible(person, 24) for person in people],
        "ticks": axis.ticks(whole=True),
        "every": ceil(len(days) / MOST_DATES),
        "days": [
            (
                short_day(one),
                [(people.index(who), axis.at(n)) for day, who, n in sorted(counts) if day == one],
            )
            for one in days
        ],
    }
    return Drawing("stacked", parts)


def bars(named: Sequence[tuple[str, float]], title: str) -> Drawing:
    """One bar a row with its number, rounded to a whole one, beside it."""
    most = max((value for _, value in named), default=1.0) or 1.0
    rows = [(visible(name, 30), value / most, f"{value:,.0f}") for name, value in named]
    return Drawing("bars", {"title": title, "rows": rows})


def heat(
    labels: Sequence[str],
    counts: Sequence[Sequence[float]],
    row_of: str,
    column_of: str,
    chosen: str = "",
) -> Drawing:
    """Counts of pairs of labels as a table, darker for more; ``chosen`` is ``row:column``."""
    most = max((count for row in counts for count in row), default=0) or 1
    parts = {
        "names": [visible(label) for label in labels],
        "rows": visible(row_of),
        "columns": visible(column_of),
        "chosen": chosen,
        "cells": [[(f"{count:,.0f}", count / most) for count in row] for row in counts],
    }
    return Drawing("heat", parts)
