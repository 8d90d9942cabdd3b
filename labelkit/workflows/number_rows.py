"""The published numbers of a report as rows of text: rates, means, conditions, fronts.

The terminal and the page Report show the same tables; only how a table is drawn is theirs. Nothing
is computed here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from labelkit.workflows.contrasts import CompositeResult, ContrastResult, FrontResult, Part
from labelkit.workflows.measures import MeasureResult
from labelkit.workflows.rates import Macro, RateResult
from labelkit.workflows.report import Report

RATES = "Rates"
"""The title of the first table, which the page Report draws in a way of its own."""
_CLUSTERED = (
    "Rows of one cluster may share their fate: these intervals allow for it, Wilson's do not. "
    "few_clusters, few_hits: they may still cover less than 95%."
)


@dataclass(frozen=True)
class NumberTable:
    """A table of texts: the first ``text_columns`` hold words, the others numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    text_columns: int = 1


def number_tables(result: Report) -> list[NumberTable | str]:
    """Return every table of published numbers that has a line, in reading order, and remarks."""
    parts: list[NumberTable | str] = []
    if result.rates:
        parts.append(_rates(result.rates))
        parts += _clustered(result.rates)
    if result.measures:
        parts += _measures(result.measures)
    if result.composites:
        parts.append(_composites(result.composites))
    if result.contrasts:
        parts += _contrasts(result.contrasts)
    return parts + [line for front in result.fronts for line in _front(front)]


def counted(counts: Mapping[str, int]) -> str:
    """Counts in words."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def _grouped(
    lines: Sequence[RateResult | MeasureResult | ContrastResult | CompositeResult],
) -> bool:
    return len({line.group for line in lines}) > 1


def _rates(rates: Sequence[RateResult]) -> NumberTable:
    grouped = _grouped(rates)
    averaged = any(rate.macro is not None for rate in rates)
    rows = []
    for rate in rates:
        value = f"{rate.value:.1%}" if rate.value is not None else f"null ({rate.reason})"
        coverage = f"{rate.coverage:.0%}" if rate.coverage is not None else "null"
        row = [rate.name, value, _percents(rate.low, rate.high), f"{rate.hits}/{rate.scored}"]
        row += [coverage, counted(rate.excluded) if rate.excluded else ""]
        if averaged:
            row.insert(4, of_groups(rate.macro))
        rows.append(([rate.group] if grouped else []) + row)
    columns = ["rate", "value", "95% Wilson", "hits/n", "coverage", "excluded"]
    if averaged:
        columns.insert(4, "mean of group rates")
    if grouped:
        columns.insert(0, "group")
    return NumberTable(RATES, columns, rows, 2 if grouped else 1)


def of_groups(macro: Macro | None) -> str:
    """Return the mean of group rates with what it is over; empty where the rubric asks for none."""
    if macro is None:
        return ""
    value = "null" if macro.value is None else f"{macro.value:.1%}"
    return f"{value} over {macro.n_groups} {macro.tag}"


def _clustered(rates: Sequence[RateResult]) -> list[NumberTable | str]:
    """Intervals over clusters; one sentence says why they are there."""
    rows = [
        (
            f"{rate.group} {rate.name}" if rate.group != "all" else rate.name,
            f"{c.n_clusters} x {c.cluster}",
            _percents(c.low, c.high),
            _percents(c.bootstrap_low, c.bootstrap_high),
            ", ".join(c.flags),
        )
        for rate in rates
        if (c := rate.clustered) is not None and rate.value is not None
    ]
    if not rows:
        return []
    columns = ("rate", "clusters", "95% cluster t", "95% bootstrap", "flags")
    return [
        NumberTable("The same rates over clusters", columns, rows, 2),
        _CLUSTERED,
    ]


def _measures(measures: Sequence[MeasureResult]) -> list[NumberTable | str]:
    grouped = _grouped(measures)
    rows = []
    for one in measures:
        value = f"{one.value:.4g}" if one.value is not None else f"null ({one.reason})"
        macro = "" if one.macro is None else f"{one.macro:.4g} over {one.n_groups}"
        n = f"{one.scored}" + (f" / {one.scored_against}" if one.scored_against else "")
        row = [one.name, value, _numbers(one.low, one.high), macro, n]
        row.append(counted(one.excluded) if one.excluded else "")
        rows.append(([one.group] if grouped else []) + row)
    columns = ["measure", "value", "95% t", "mean of group means", "n", "excluded"]
    if grouped:
        columns.insert(0, "group")
    table = NumberTable("Means", columns, rows, 2 if grouped else 1)
    said = dict.fromkeys(f"{m.name}: {m.definition}." for m in measures if m.definition)
    flags = dict.fromkeys(f"{m.name}: {', '.join(m.flags)}." for m in measures if m.flags)
    return [table, *said, *flags]


def _composites(composites: Sequence[CompositeResult]) -> NumberTable:
    rows = [
        (
            one.group,
            one.id,
            f"{one.value:.1%}" if one.value is not None else f"null ({one.reason})",
            _percents(one.low, one.high),
            ", ".join(
                f"{name} {'null' if value is None else f'{value:.1%}'} (n={one.n[name]})"
                for name, value in one.parts.items()
            ),
        )
        for one in composites
    ]
    columns = ("group", "composite", "value", "95% t", "put together from")
    return NumberTable("Composites", columns, rows, 2)


def _contrasts(contrasts: Sequence[ContrastResult]) -> list[NumberTable | str]:
    rows = []
    held = [one for one in contrasts if any(one.n.values())]
    for one in held:
        arms = ", ".join(
            f"{arm} {'null' if value is None else f'{value:.3g}'} (n={one.n[arm]})"
            for arm, value in one.arms.items()
        )
        for place, part in enumerate(one.parts):
            head = (one.group, one.id, arms) if place == 0 else ("", "", "")
            rows.append((*head, part.name, _value(part), _numbers(part.low, part.high)))
    columns = ("group", "contrast", "arms", "number", "value", "95% t")
    tables: list[NumberTable | str] = []
    if rows:
        tables.append(NumberTable("Conditions compared", columns, rows, 4))
    grouped = _grouped(contrasts)
    bare = [
        f"{one.id} ({one.group})" if grouped else one.id
        for one in contrasts
        if not any(one.n.values())
    ]
    if bare:
        have = "1 contrast has" if len(bare) == 1 else f"{len(bare)} contrasts have"
        tables.append(f"{have} no rows: {', '.join(bare)}")
    tests = [
        (
            one.group,
            one.id,
            f"{one.pairs.n}",
            f"{one.pairs.only_base}",
            f"{one.pairs.only_treated}",
            f"{one.pairs.p:.4g}",
            "" if one.pairs.p_holm is None else f"{one.pairs.p_holm:.4g} ({one.pairs.family})",
        )
        for one in contrasts
        if one.pairs is not None
    ]
    if tests:
        names = ("group", "contrast", "pairs", "only base", "only treated", "exact p", "Holm")
        tables.append(NumberTable("McNemar on matched rows", names, tests, 2))
    return tables


def _front(front: FrontResult) -> list[NumberTable | str]:
    rows = [
        (name, *(f"{number:.3g}" for number in point), "yes" if name in front.front else "no")
        for name, point in front.points.items()
    ]
    columns = ("", *front.criteria, "on the front")
    table = NumberTable(f"Pareto front: {front.title}", columns, rows)
    rule = {
        "weak": "as good everywhere and better somewhere dominates",
        "strict": "only better everywhere dominates; ties stay on the front",
    }[front.ties]
    said = f"Tie rule: {rule}."
    if front.left_out:
        said += f" Left out, for want of a number: {', '.join(front.left_out)}."
    return [table, said]


def _value(part: Part) -> str:
    return f"null ({part.reason})" if part.value is None else f"{part.value:.4g}"


def _percents(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.1%} - {high:.1%}"


def _numbers(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.4g} - {high:.4g}"
