"""Every golden table again in other clothes: the same data must give the same answers.

More cases of the same families exist than those in the folder. These variants change what must
not matter (order, names, kinds of labels, layout, empty rows and columns), so that what holds for
a case holds for its kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from labelkit.errors import StatisticsError
from tests.golden import agreement_answers
from tests.golden.reading import Check, checks
from tests.golden.test_golden import alternatives, answer, differences

Variant = Callable[[Check], Check | None]
ORDER_OF_RATERS = {"pairs", "labels", "posteriors", "errors"}


def _cells(check: Check) -> list[list[Any]] | None:
    """Items x raters, where the check has a table with raters and declared labels."""
    data = check.input
    labels = check.params.get("categories", data.get("categories"))
    if data["kind"] == "ratings" and labels:
        return [list(row) for row in data["values"]]
    if data["kind"] == "contingency":
        return [
            [labels[i], labels[j]]
            for i, row in enumerate(data["counts"])
            for j, times in enumerate(row)
            for _ in range(times)
        ]
    return None


def _wide(check: Check, rows: list[list[Any]], labels: list[Any] | None = None) -> Check:
    names = check.params.get("categories", check.input.get("categories"))
    data = {"kind": "ratings", "values": rows, "categories": labels or names}
    params = {k: v for k, v in check.params.items() if k != "categories"}
    return replace(check, input=data, params=params)


def items_shuffled(check: Check) -> Check | None:
    rows = _cells(check)
    if rows is None:
        return None
    return _wide(check, [rows[k] for k in np.random.default_rng(3).permutation(len(rows))])


def raters_reversed(check: Check) -> Check | None:
    rows = _cells(check)
    if rows is None:
        return None
    expect = {k: v for k, v in check.expect.items() if k not in ORDER_OF_RATERS}
    return replace(_wide(check, [row[::-1] for row in rows]), expect=expect)


def labels_renamed(check: Check) -> Check | None:
    """Other words, whose alphabet runs against the scale."""
    rows, labels = _cells(check), check.params.get("categories", check.input.get("categories"))
    needs_numbers = check.params.get("level") in {"interval", "ratio"}
    if rows is None or needs_numbers or check.expect.get("raises"):
        return None
    new = {label: f"{chr(122 - k)}-{label}" for k, label in enumerate(labels)}
    if len(new) < len(labels):
        return None  # True and 1 in one table: Python's dict cannot rename them
    try:
        cells = [[_renamed(new, v) for v in row] for row in rows]
    except KeyError:
        return None
    return _wide(check, cells, list(new.values()))


def _renamed(new: dict[Any, str], value: Any) -> str | None:
    missing = value is None or (isinstance(value, float) and np.isnan(value))
    return None if missing else new[value]


def numbers_as_floats(check: Check) -> Check | None:
    rows, labels = _cells(check), check.params.get("categories", check.input.get("categories"))
    if rows is None or any(type(label) is not int for label in labels):
        return None
    if any(isinstance(v, str | bool) for row in rows for v in row):
        return None
    cells = [[float("nan") if v is None else float(v) for v in row] for row in rows]
    return _wide(check, np.array(cells).reshape(len(rows), -1))  # type: ignore[arg-type]


def empty_row_and_column(check: Check) -> Check | None:
    rows = _cells(check)
    if not rows:
        return None
    width = len(rows[0]) + 1
    return _wide(check, [[None] * width, *([*row, None] for row in rows), [None] * width])


def long_layout(check: Check) -> Check | None:
    rows = _cells(check)
    if not rows:
        return None
    records = [
        [f"i{k}", f"r{g}", value]
        for g in range(len(rows[0]))
        for k, row in enumerate(rows)
        for value in [row[g]]
        if value is not None
    ]
    data = {"kind": "long", "records": records, "categories": check.input["categories"]}
    return replace(check, input=data)


def text_array(check: Check) -> Check | None:
    rows = _cells(check)
    if not rows or not all(isinstance(v, str) for row in rows for v in row):
        return None
    return _wide(check, np.array(rows))  # type: ignore[arg-type]


def unused_label(check: Check) -> Check | None:
    """A label that nobody used changes only AC, Brennan-Prediger and weights."""
    rows = _cells(check)
    labels = check.params.get("categories", check.input.get("categories"))
    weighted = check.params.get("weights", "identity") != "identity"
    counts_labels = {"gwet_ac", "brennan_prediger", "pabak"}
    if rows is None or weighted or check.statistic in counts_labels:
        return None
    kinds = {type(label) for label in labels}
    if kinds - {int, str} or len(kinds) != 1 or check.expect.get("raises"):
        return None
    extra = "zz-unused" if kinds == {str} else max(labels) + 7
    expect = {k: v for k, v in check.expect.items() if k != "category_kappas"}
    return replace(_wide(check, rows, [*labels, extra]), expect=expect)


VARIANTS: tuple[Variant, ...] = (
    items_shuffled,
    raters_reversed,
    labels_renamed,
    numbers_as_floats,
    empty_row_and_column,
    long_layout,
    text_array,
    unused_label,
)
TABLES = [
    check
    for check in checks()
    if check.statistic in agreement_answers.WEIGHTED
    or check.statistic in agreement_answers.PLAIN
    or check.statistic == "krippendorff_alpha"
]
PAIRED = [
    (check, variant, other)
    for check in TABLES
    for variant in VARIANTS
    for other in [variant(check)]
    if other is not None
]


@pytest.mark.parametrize(
    ("check", "other"),
    [(check, other) for check, _, other in PAIRED],
    ids=[f"{check.name}-{variant.__name__}" for check, variant, _ in PAIRED],
)
def test_the_same_data_in_other_clothes(check: Check, other: Check) -> None:
    try:
        got: Any = answer(other)
    except StatisticsError as error:
        got = error
    expect = {**other.expect}
    problems = [differences(other, wanted, got) for wanted in alternatives(expect)]
    assert any(not found for found in problems), "\n".join(map(str, problems))


def test_every_variant_was_tried() -> None:
    if not TABLES:
        pytest.skip("needs the golden cases beside the checkout")
    assert {variant for _, variant, _ in PAIRED} == set(VARIANTS)
