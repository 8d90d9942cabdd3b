"""What ``labelkit agree`` shows on a terminal: one block per question and stratum.

The tables hold what a paper needs beside a kappa; the JSON holds everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from rich.console import RenderableType

from labelkit.cli import console
from labelkit.stats.agreement import Coefficient, RaterPair
from labelkit.stats.undefined import Number, Undefined, is_defined
from labelkit.workflows.agreement import GroupAgreement, ItemVote, Scale, Settled, vote_tally
from labelkit.workflows.agreement_words import interval_of, name_of, remarks_on

_MOST_PAIRS = 15
_MOST_LABELS = 20
_USUAL = ("fleiss_kappa", "gwet_ac")


def show(
    source: Mapping[str, Any],
    scale: Scale,
    groups: Sequence[GroupAgreement],
    remarks: Sequence[str],
    votes: Sequence[ItemVote] | None,
) -> None:
    """Print everything as tables."""
    out = console.out()
    out.print(console.plain(_head(source, scale)))
    for group in groups:
        for part in _group(group):
            out.print(part)
    for remark in remarks:
        out.print(console.plain(f"Note: {remark}."))
    if votes is not None:
        tally = ", ".join(f"{number:,} {name}" for name, number in vote_tally(votes).items())
        out.print(
            console.plain(
                f"Votes: {tally}. The label of every item: --votes OUT.csv, or --votes --json."
            )
        )


def _head(source: Mapping[str, Any], scale: Scale) -> str:
    if "sample" in source:
        return (
            f"sample {source['sample'][:12]} of {source['rubric']} {source['version']}, "
            f"{source['n']} items: agreement of the people on their first labels"
        )
    if "rubric" in source:
        return f"{source['rubric']} {source['version']}: agreement of its raters"
    columns = source["columns"]
    item = "row numbers" if columns["item"] is None else repr(columns["item"])
    if source["layout"] == "wide":
        raters = columns["raters"]
        more = f" and {len(raters) - 8} more" if len(raters) > 8 else ""
        parts = f"raters {', '.join(map(repr, raters[:8]))}{more}"
    else:
        parts = f"rater {columns['rater']!r}, label {columns['label']!r}"
    missing = ""
    if source["n_missing"]:
        kinds = ", ".join(f"{text!r} {number:,}" for text, number in source["missing"].items())
        missing = f"; missing ratings: {source['n_missing']:,} ({kinds})"
    weights = f"; {scale.weights} weights" if scale.weights not in {None, "identity"} else ""
    return (
        f"{source['file']}: {source['n_rows']:,} rows, {source['layout']}, item {item}, "
        f"{parts}{missing}{weights}"
    )


def brief(group: GroupAgreement) -> list[RenderableType]:
    """Return what a report shows: the coefficients, every pair, and what must be said of them.

    For a part of the rows only the coefficients that are asked for most; ``labelkit agree`` and
    the JSON have all.
    """
    shown = group
    if group.group != "all":
        usual = tuple(c for c in group.coefficients if c.name in _USUAL)
        shown = replace(group, coefficients=usual)
    parts = [_coefficients(_title(group), shown, group.scale)]
    if group.pairs:
        parts.append(_pairs(group.pairs, group.scale))
    return parts + [console.plain(line) for line in remarks_on(shown, group.scale)]


def _title(group: GroupAgreement) -> str:
    where = [] if group.question is None else [f"question {group.question!r}"]
    where += [] if group.group == "all" else [group.group]
    return (
        f"{', '.join(where) or 'All raters'}: {group.n_items:,} items, {group.n_raters:,} raters, "
        f"{group.n_ratings:,} ratings, {len(group.labels)} labels"
    )


def _group(group: GroupAgreement) -> list[RenderableType]:
    scale = group.scale
    parts: list[RenderableType] = [_coefficients(_title(group), group, scale)]
    if len(group.pairs) > 1:
        parts.append(_pairs(group.pairs, scale))
    if 0 < len(group.categories) <= _MOST_LABELS:
        parts.append(_categories(group))
    if is_defined(group.two_by_two.prevalence_index) and is_defined(group.two_by_two.bias_index):
        parts.append(
            console.plain(
                f"Prevalence index {group.two_by_two.prevalence_index:.3f}, "
                f"bias index {group.two_by_two.bias_index:.3f}."
            )
        )
    return parts + [console.plain(line) for line in remarks_on(group, scale)]


def _coefficients(title: str, group: GroupAgreement, scale: Settled) -> RenderableType:
    bands = {b.coefficient: b for b in group.benchmarks}
    rows = []
    for c in group.coefficients:
        mark = bands.get(c.name)
        band = "" if mark is None else mark.landis_koch or ""
        if band and mark is not None and mark.borrowed:
            band = f"({band})"
        numbers = (f"{c.n_items:,}", f"{c.n_raters:,}", f"{c.n_pairs:,}")
        rows.append((name_of(c.name, scale), *_values(c), *numbers, band))
    names = ("coefficient", "value", "SE", _interval_title(scale), "raw agr.")
    return console.table(title, (*names, "items", "raters", "pairs", "band"), rows)


def _interval_title(scale: Settled) -> str:
    return f"{100 * scale.confidence:g}% CI"


def _values(c: Coefficient) -> tuple[str, str, str, str]:
    # Under distances that are no shares (interval alpha) observed agreement is no percentage.
    shown = is_defined(c.observed) and 0 <= c.observed <= 1
    raw = f"{c.observed:.1%}" if shown else ""
    return _number(c.value), f"{c.se:.4f}" if is_defined(c.se) else "", interval_of(c), raw


def _number(value: Number) -> str:
    return f"null ({value.reason.value})" if isinstance(value, Undefined) else f"{value:.4f}"


def _pairs(pairs: Sequence[RaterPair], scale: Settled) -> RenderableType:
    if len(pairs) > _MOST_PAIRS:
        return console.plain(_range(pairs))
    rows = [(f"{p.first} - {p.second}", *_values(p.result), f"{p.result.n_items:,}") for p in pairs]
    columns = ("raters", "Cohen's kappa", "SE", _interval_title(scale), "raw agr.", "items")
    return console.table("Pairs of raters", columns, rows)


def _range(pairs: Sequence[RaterPair]) -> str:
    known = sorted(
        (p.result.value, f"{p.first} - {p.second}", p.result.n_items)
        for p in pairs
        if is_defined(p.result.value)
    )
    if not known:
        return f"{len(pairs):,} pairs of raters, none with a kappa."
    low, high = known[0], known[-1]
    return (
        f"{len(pairs):,} pairs of raters, {len(known):,} with a kappa: lowest {low[0]:.3f} "
        f"({low[1]}, {low[2]} items), median {median(k[0] for k in known):.3f}, highest "
        f"{high[0]:.3f} ({high[1]}, {high[2]} items); all of them: --json."
    )


def _categories(group: GroupAgreement) -> RenderableType:
    rows = [
        (
            str(c.label),
            f"{c.share:.1%}" if is_defined(c.share) else "",
            f"{c.n_ratings:,}",
            f"{c.specific:.1%}" if is_defined(c.specific) else f"null ({_reason(c.specific)})",
        )
        for c in group.categories
    ]
    columns = ("label", "mean share per item", "ratings", "specific agreement")
    return console.table("Agreement label by label", columns, rows)


def _reason(value: Number) -> str:
    return value.reason.value if isinstance(value, Undefined) else ""
