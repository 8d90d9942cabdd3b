"""The twelve properties of the golden schema, over the table of coefficients."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.stats import allocation, proportions, ratings
from labelkit.stats.agreement import COEFFICIENTS, Coefficient, Entry, krippendorff_alpha
from labelkit.stats.agreement.weights import SCHEMES
from labelkit.stats.intervals import Interval
from labelkit.stats.ratings import RatingTable
from labelkit.stats.undefined import Number, Undefined, is_defined

LABELS = ("a", "b", "c", "d")
Rows = list[list[str | None]]

quick = settings(max_examples=10, deadline=None)
ALL = pytest.mark.parametrize("name", COEFFICIENTS)


@st.composite
def tables(
    draw: st.DrawFn, raters: int | None = None, *, full: bool = False, labels: int | None = None
) -> tuple[Rows, tuple[str, ...]]:
    """Ratings with missing entries, and their declared labels."""
    q = labels or draw(st.integers(2, 4))
    width = raters or draw(st.integers(2, 4))
    label: Any = st.sampled_from(LABELS[:q])
    cell = label if full else st.one_of(label, label, label, st.none())
    rows = draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=2, max_size=12))
    return rows, LABELS[:q]


def compute(name: str, table: RatingTable, **options: Any) -> Coefficient:
    entry = COEFFICIENTS[name]
    if not entry.weighted:
        options.pop("weights", None)
        options.pop("scores", None)
    return entry.compute(table, **options)


def same(first: Number, second: Number, tol: float = 1e-10) -> bool:
    if isinstance(first, Undefined) or isinstance(second, Undefined):
        return isinstance(first, Undefined) and isinstance(second, Undefined)
    return abs(first - second) <= tol * max(1.0, abs(first))


def alike(first: Coefficient, second: Coefficient, tol: float = 1e-10) -> None:
    assert same(first.value, second.value, tol), (first.value, second.value)
    # A standard error of 0 is a square root of rounding noise.
    assert same(first.se, second.se, max(tol, 1e-6)), (first.se, second.se)


@pytest.mark.parametrize("name", [n for n in COEFFICIENTS if n != "krippendorff_alpha_ordinal"])
@quick
@given(data=tables(), order=st.permutations(range(4)))
def test_p1_renaming_nominal_labels_changes_nothing(name: str, data: Any, order: Any) -> None:
    rows, labels = data
    shuffled = [k for k in order if k < len(labels)]
    renamed = {label: LABELS[shuffled[k]].upper() for k, label in enumerate(labels)}
    other = [[None if v is None else renamed[v] for v in row] for row in rows]
    alike(
        compute(name, ratings.from_rows(rows, labels)),
        compute(name, ratings.from_rows(other, [v.upper() for v in labels])),
    )


@ALL
@quick
@given(data=tables(), seed=st.integers(0, 99))
def test_p2_reordering_items_changes_nothing(name: str, data: Any, seed: int) -> None:
    rows, labels = data
    order = np.random.default_rng(seed).permutation(len(rows))
    alike(
        compute(name, ratings.from_rows(rows, labels)),
        compute(name, ratings.from_rows([rows[k] for k in order], labels)),
    )


@ALL
@quick
@given(data=tables(), pick=st.integers(0, 23))
def test_p3_swapping_raters_changes_nothing(name: str, data: Any, pick: int) -> None:
    rows, labels = data
    orders = list(permutations(range(len(rows[0]))))
    order = orders[pick % len(orders)]
    alike(
        compute(name, ratings.from_rows(rows, labels)),
        compute(name, ratings.from_rows([[row[k] for k in order] for row in rows], labels)),
    )


@quick
@given(data=tables(raters=2), k=st.integers(2, 5))
def test_p4_repeating_every_item_only_divides_the_error(data: Any, k: int) -> None:
    rows, labels = data
    once = compute("cohen_kappa", ratings.from_rows(rows, labels))
    often = compute("cohen_kappa", ratings.from_rows(rows * k, labels))
    assert same(once.value, often.value, 1e-12)
    assert same(once.observed, often.observed, 1e-12)
    assert same(once.expected, often.expected, 1e-12)
    if is_defined(once.se) and is_defined(often.se):
        assert often.se * np.sqrt(k) == pytest.approx(once.se, abs=1e-7)


@quick
@given(data=tables(raters=2, full=True))
def test_p5_fleiss_scott_and_alpha_of_two_complete_raters(data: Any) -> None:
    rows, labels = data
    table, n = ratings.from_rows(rows, labels), len(rows)
    pi = compute("scott_pi", table)
    alike(pi, compute("fleiss_kappa", table))
    alpha = compute("krippendorff_alpha", table).value
    assert same(pi.value, alpha) or is_defined(pi.value) == is_defined(alpha)
    if is_defined(pi.value) and is_defined(alpha):
        assert alpha == pytest.approx(1 - (1 - pi.value) * (2 * n - 1) / (2 * n), abs=1e-10)
    squared = compute("scott_pi", table, weights="quadratic").value
    interval = krippendorff_alpha(table, "interval", scores=range(len(labels))).value
    if is_defined(squared) and is_defined(interval):
        assert interval == pytest.approx(1 - (1 - squared) * (2 * n - 1) / (2 * n), abs=1e-10)


@ALL
@quick
@given(data=tables())
def test_p6_unused_labels_change_only_what_counts_labels(name: str, data: Any) -> None:
    rows, labels = data
    before = compute(name, ratings.from_rows(rows, labels))
    after = compute(name, ratings.from_rows(rows, [*labels, "never"]))
    if not COEFFICIENTS[name].uses_unused:
        alike(before, after)
    elif name != "pabak" and is_defined(before.value) and before.value < 1:
        assert not same(before.expected, after.expected)


@quick
@given(data=tables(), scale=st.floats(0.1, 9), shift=st.floats(0, 9))
@pytest.mark.parametrize("scheme", ["linear", "quadratic"])
@pytest.mark.parametrize("name", [n for n, e in COEFFICIENTS.items() if e.weighted])
def test_p7_affine_scores(name: str, scheme: str, data: Any, scale: float, shift: float) -> None:
    rows, labels = data
    table = ratings.from_rows(rows, labels)
    plain = [1.0, 2.0, 4.0, 7.0][: len(labels)]
    other = [scale * x + shift for x in plain]
    alike(
        compute(name, table, weights=scheme, scores=plain),
        compute(name, table, weights=scheme, scores=other),
        1e-8,
    )
    alike(
        krippendorff_alpha(table, "interval", scores=plain),
        krippendorff_alpha(table, "interval", scores=other),
        1e-8,
    )


@quick
@given(data=tables(labels=2))
@pytest.mark.parametrize("name", [n for n, e in COEFFICIENTS.items() if e.weighted])
def test_p8_two_labels_know_no_weights(name: str, data: Any) -> None:
    rows, labels = data
    table = ratings.from_rows(rows, labels)
    plain = compute(name, table)
    for scheme in SCHEMES:
        alike(plain, compute(name, table, weights=scheme))


@quick
@given(data=tables(labels=2, raters=2))
def test_p8_pabak_and_conger_of_two(data: Any) -> None:
    table = ratings.from_rows(*data)
    alike(compute("pabak", table), compute("brennan_prediger", table))


@quick
@given(data=tables(raters=2, full=True))
def test_p8_conger_of_two_complete_raters_is_cohen(data: Any) -> None:
    table = ratings.from_rows(*data)
    assert same(compute("conger_kappa", table).value, compute("cohen_kappa", table).value)


@ALL
@quick
@given(data=tables())
def test_p9_intervals_hold_their_estimate(name: str, data: Any) -> None:
    rows, labels = data
    result = compute(name, ratings.from_rows(rows, labels))
    if isinstance(result.interval, Interval):
        assert is_defined(result.value)
        assert result.interval.low <= result.value <= result.interval.high <= 1.0
    else:
        assert result.interval.reason


@quick
@given(n=st.integers(1, 2000), share=st.floats(0, 1), level=st.floats(0.5, 0.999))
@pytest.mark.parametrize("method", proportions.METHODS)
def test_p9_proportion_limits(method: str, n: int, share: float, level: float) -> None:
    hits = round(n * share)
    found = proportions.proportion_interval(hits, n, method, level)
    assert isinstance(found, Interval)
    assert 0.0 <= found.low <= hits / n <= found.high <= 1.0


@ALL
@quick
@given(data=tables())
def test_p10_nobody_and_nothing_change_nothing(name: str, data: Any) -> None:
    rows, labels = data
    before = compute(name, ratings.from_rows(rows, labels))
    width = len(rows[0])
    alike(before, compute(name, ratings.from_rows([*rows, [None] * width], labels)))
    alike(before, compute(name, ratings.from_rows([[*row, None] for row in rows], labels)))


def agree_across_layouts(name: str, entry: Entry, rows: Rows, labels: tuple[str, ...]) -> None:
    wide = ratings.from_rows(rows, labels)
    triples = [(i, r, v) for i, row in enumerate(rows) for r, v in enumerate(row)]
    layouts = [
        ratings.from_triples(triples, labels),
        ratings.from_triples([t for t in reversed(triples) if t[2] is not None], labels),
        ratings.from_rows(np.array(rows, dtype=object), labels),
    ]
    if entry.anonymous and not (entry.two_raters and len(rows[0]) > 2):
        # Counts cannot tell three raters in turns from two.
        counts = [[sum(v == label for v in row) for label in labels] for row in rows]
        layouts.append(ratings.from_counts(counts, labels))
    complete = len(rows[0]) == 2 and all(v is not None for row in rows for v in row)
    if complete:
        cross = [[sum(r == [a, b] for r in rows) for b in labels] for a in labels]
        layouts.append(ratings.from_contingency(cross, labels))
    expected = compute(name, wide)
    for table in layouts:
        alike(expected, compute(name, table), 1e-12)


@ALL
@quick
@given(data=tables())
def test_p11_layouts_agree(name: str, data: Any) -> None:
    agree_across_layouts(name, COEFFICIENTS[name], *data)


@ALL
@quick
@given(data=tables(raters=2, full=True))
def test_p11_cross_tables_agree(name: str, data: Any) -> None:
    agree_across_layouts(name, COEFFICIENTS[name], *data)


@quick
@given(
    sizes=st.lists(st.integers(0, 60), min_size=1, max_size=6).filter(sum),
    share=st.floats(0, 1),
    sds=st.lists(st.floats(0, 5), min_size=6, max_size=6),
)
def test_p12_allocations(sizes: list[int], share: float, sds: list[float]) -> None:
    n = round(share * sum(sizes))
    for found in (
        allocation.proportional_allocation(sizes, n),
        allocation.equal_allocation(sizes, n),
        allocation.neyman_allocation(sizes, sds[: len(sizes)], n),
    ):
        assert sum(found.rows) == n
        assert all(0 <= r <= s for r, s in zip(found.rows, sizes, strict=True))


@quick
@given(
    p=st.floats(0.001, 0.999),
    margin=st.floats(0.005, 0.4),
    small=st.integers(0, 5000),
    more=st.integers(0, 5000),
)
def test_p12_sample_sizes(p: float, margin: float, small: int, more: int) -> None:
    def size(population: int) -> int:
        return allocation.cochran_size(margin, p=p, population=population).n

    assert size(small) <= small
    assert size(small) <= size(small + more)
