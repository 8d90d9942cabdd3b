"""Conditions compared, composites and fronts on hand-made rows."""

from __future__ import annotations

import json

import numpy as np
import pytest

from labelkit.domain.rates import Composite, Contrast, Front
from labelkit.workflows.contrasts import (
    ContrastResult,
    Numbers,
    composites_in,
    contrasts_in,
    front_over,
)
from labelkit.workflows.rates import everything
from labelkit.workflows.rows import Rows


def rows_of(condition: list[str], items: list[int] | None = None, **tags: list[str]) -> Rows:
    columns = {"condition": condition, **tags}
    return Rows(
        tags={name: np.array(values, dtype=object) for name, values in columns.items()},
        infra=np.zeros(len(condition), dtype=bool),
        items=None if items is None else np.array(items, dtype=np.int64),
    )


def numbers_of(values: list[float], *, share: bool = True) -> Numbers:
    return Numbers(np.array(values, dtype=np.float64), np.ones(len(values), dtype=bool), share)


def change(**fields: object) -> Contrast:
    given = {"id": "C", "title": "c", "of": "R[All]", "base": "before", "treated": "after"}
    return Contrast.model_validate({**given, **fields})


def compared(contrast: Contrast, rows: Rows, numbers: Numbers) -> ContrastResult:
    (result,) = contrasts_in([contrast], {"R[All]": numbers}, rows, [everything(len(rows))])
    return result


def parts_of(result: ContrastResult) -> dict[str, float | None]:
    return {part.name: part.value for part in result.parts}


def test_the_three_conventions_of_relative_change_have_three_names() -> None:
    # 8 of 10 before, 6 of 10 after: retention 75%, drop 25%; over the after value it is 33.3%.
    rows = rows_of(["before"] * 10 + ["after"] * 10)
    result = compared(change(), rows, numbers_of([1] * 8 + [0] * 2 + [1] * 6 + [0] * 4))
    assert result.arms == {"base": 0.8, "treated": 0.6}
    assert parts_of(result) == pytest.approx(
        {"difference": -0.2, "retention": 0.75, "drop": 0.25, "drop_over_after": 0.2 / 0.6}
    )


def test_the_published_degradation_is_the_drop_over_the_after_value(shared) -> None:
    """Section 5: 27.3% printed for irrelevant data is 21.5% of the value before it."""
    text = (shared / "schemes" / "published.json").read_text(encoding="utf-8")
    for name, sheet in json.loads(text)["wildagteval_degradation_check"].items():
        if "before_mean" not in sheet:
            continue
        rows = rows_of(["before", "after"])
        numbers = numbers_of([sheet["before_mean"], sheet["after_mean"]], share=False)
        parts = parts_of(compared(change(), rows, numbers))
        printed = {name: round(100 * (parts[name] or 0), 1) for name in ("drop", "drop_over_after")}
        assert printed["drop_over_after"] == sheet["published"], name
        assert printed["drop"] == sheet["(before-after)/before"], name


def test_recovered_share() -> None:
    # Base 2 of 10, with a hint 5 of 10, on clean tools 8 of 10: half of the gap is closed.
    arms = ["none"] * 10 + ["hint"] * 10 + ["oracle"] * 10
    hits = [1] * 2 + [0] * 8 + [1] * 5 + [0] * 5 + [1] * 8 + [0] * 2
    contrast = change(kind="recovered_share", base="none", treated="hint", clean="oracle")
    result = compared(contrast, rows_of(arms), numbers_of(hits))
    assert parts_of(result) == pytest.approx({"difference": 0.3, "recovered_share": 0.5})
    no_gap = compared(contrast, rows_of(arms), numbers_of([1] * 30))
    assert no_gap.parts[1].value is None
    assert no_gap.parts[1].reason == "zero_denominator"


def test_pairs_are_matched_by_item_and_tested_exactly() -> None:
    # Items 0..4 in both arms; item 5 only before, item 6 only after, one row of no known task.
    condition = ["before"] * 6 + ["after"] * 6 + ["after"]
    items = [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 6, -1]
    hits = [1, 1, 1, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1]
    result = compared(change(), rows_of(condition, items), numbers_of(hits))
    assert result.pairs is not None
    assert (result.pairs.n, result.pairs.only_base, result.pairs.only_treated) == (5, 3, 0)
    # Exact two-sided binomial of 0 in 3: 2 * (1/2)^3.
    assert result.pairs.p == pytest.approx(0.25)
    assert result.pairs.p_holm is None


def test_an_item_twice_in_one_arm_is_no_pair() -> None:
    rows = rows_of(["before", "before", "after"], [0, 0, 0])
    assert compared(change(), rows, numbers_of([1, 0, 1])).pairs is None


def test_published_mcnemar_and_holm(shared) -> None:
    """Section 2: three comparisons of one family reproduce to the printed digit."""
    text = (shared / "schemes" / "published.json").read_text(encoding="utf-8")
    sheet = json.loads(text)["fabrication"]["mcnemar_exact_holm"]
    condition: list[str] = []
    items: list[int] = []
    hits: list[float] = []
    contrasts = []
    for place, line in enumerate(sheet):
        n01, n10 = line["n01_n10"]
        n = n01 + n10
        condition += [f"a{place}"] * n + [f"b{place}"] * n
        items += [place * 1000 + k for k in range(n)] * 2
        hits += [0] * n01 + [1] * n10 + [1] * n01 + [0] * n10
        contrasts.append(
            change(id=f"c{place}", base=f"a{place}", treated=f"b{place}", family="prompts")
        )
    rows = rows_of(condition, items)
    numbers = {"R[All]": numbers_of(hits)}
    results = contrasts_in(contrasts, numbers, rows, [everything(len(rows))])
    for line, result in zip(sheet, results, strict=True):
        assert result.pairs is not None
        assert [result.pairs.only_treated, result.pairs.only_base] == line["n01_n10"]
        assert result.pairs.p == pytest.approx(line["raw"], rel=1e-4)
        assert result.pairs.p_holm == pytest.approx(line["holm"], rel=1e-4)


def test_a_composite_weighs_its_parts_by_their_rows() -> None:
    # Infeasible: 3 of 4 stopped (1 false go, as complement); feasible: 1 of 2 solved.
    go = Numbers(np.array([1.0, 0, 0, 0, 0, 0]), np.array([True] * 4 + [False] * 2), share=True)
    solved = Numbers(np.array([0.0, 0, 0, 0, 1, 0]), np.array([False] * 4 + [True] * 2), share=True)
    composite = Composite(id="FASS", title="f", parts=("FCR[I]", "SR[F]"), complement=("FCR[I]",))
    numbers = {"FCR[I]": go, "SR[F]": solved}
    (result,) = composites_in([composite], numbers, [everything(6)])
    assert result.value == pytest.approx((3 + 1) / 6)
    assert result.parts == {"FCR[I]": 0.25, "SR[F]": 0.5}
    assert result.n == {"FCR[I]": 4, "SR[F]": 2}
    empty = Numbers(go.values, np.zeros(6, dtype=bool), share=True)
    (none,) = composites_in([composite], {"FCR[I]": empty, "SR[F]": empty}, [everything(6)])
    assert (none.value, none.reason) == (None, "no_items")


def test_a_front_and_its_tie_rule() -> None:
    # SR up, FCR down. a (1, 0.5), b (1, 1), c (0, 0), d has no row for SR.
    model = ["a", "a", "b", "c", "d"]
    up = Numbers(np.array([1.0, 1, 1, 0, 0]), np.array([True] * 4 + [False]), share=True)
    down = Numbers(np.array([0.0, 1, 1, 0, 0]), np.ones(5, dtype=bool), share=True)
    rows = rows_of(["x"] * 5, model=model)
    front = Front(id="F", title="f", up=("SR[O]",), down=("FCR[I]",))
    weak = front_over(front, {"SR[O]": up, "FCR[I]": down}, rows)
    assert weak.points == {"a": (1.0, 0.5), "b": (1.0, 1.0), "c": (0.0, 0.0)}
    assert weak.front == ("a", "c")
    assert weak.left_out == ("d",)
    # Under the strict rule b, equal on SR, is not beaten everywhere.
    strict = front.model_copy(update={"ties": "strict"})
    assert front_over(strict, {"SR[O]": up, "FCR[I]": down}, rows).front == ("a", "b", "c")
