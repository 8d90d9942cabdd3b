"""Plans of samples: every expected number is worked out in the test."""

from __future__ import annotations

from math import ceil, sqrt
from pathlib import Path
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.errors import InputError, LabelkitError
from labelkit.stats.intervals import wilson
from labelkit.stats.undefined import Undefined
from labelkit.workflows.plan import (
    KappaWish,
    Spread,
    Wish,
    plan_kappa,
    plan_more,
    plan_sample,
    strata_of_file,
)

Z = NormalDist().inv_cdf(0.975)


def test_cochran_with_and_without_a_population() -> None:
    endless = plan_sample(Wish())
    assert endless.n == ceil(Z**2 * 0.25 / 0.05**2) == 385
    finite = plan_sample(Wish(population=1069))
    n0 = Z**2 * 0.25 / 0.05**2
    assert finite.n == ceil(n0 / (1 + (n0 - 1) / 1069)) == 283
    # The finite population shrinks the interval below the 5 points that were asked for.
    assert isinstance(finite.half_width, float)
    assert 0.04 < finite.half_width <= 0.05


def test_expected_width_is_the_width_of_the_interval_that_comes() -> None:
    plan = plan_sample(Wish(n=80, rate=0.15))
    interval = wilson(12, 80)
    assert not isinstance(interval, Undefined)
    assert plan.half_width == pytest.approx(interval.half_width)
    assert plan.n == 80


def test_design_effect_needs_that_many_times_the_rows() -> None:
    assert plan_sample(Wish(design_effect=2.0)).n == ceil(2 * Z**2 * 0.25 / 0.05**2)
    whole = plan_sample(Wish(design_effect=50.0, population=300))
    assert whole.n <= 300
    for effect in (0.5, float("nan"), float("inf")):
        with pytest.raises(InputError, match="design effect"):
            plan_sample(Wish(design_effect=effect))


def test_strata_in_proportion() -> None:
    plan = plan_sample(Wish(n=10), {"a": 60, "b": 30, "c": 10})
    assert [s.n for s in plan.strata] == [6, 3, 1]
    assert [s.inclusion for s in plan.strata] == pytest.approx([0.1, 0.1, 0.1])
    assert plan.half_width == plan_sample(Wish(n=10, population=100)).half_width


def test_design_effect_widens_every_stratum() -> None:
    plan = plan_sample(Wish(n=20, design_effect=2.0), {"a": 10**9})
    interval = wilson(5, 10)  # 20 rows that are worth 10
    assert not isinstance(interval, Undefined)
    assert plan.strata[0].half_width == pytest.approx(interval.half_width)


def test_strata_equally() -> None:
    plan = plan_sample(Wish(n=30), {"a": 60, "b": 30, "c": 4}, Spread("equal"))
    # c is taken whole; a and b share the 26 that are left.
    assert [s.n for s in plan.strata] == [13, 13, 4]
    assert plan.strata[2].half_width == 0.0
    squares = [(s.size / 94 * s.half_width) ** 2 for s in plan.strata]  # type: ignore[operator]
    assert plan.half_width == pytest.approx(sqrt(sum(squares)))


def test_neyman_draws_where_the_spread_is() -> None:
    plan = plan_sample(Wish(n=30), {"a": 100, "b": 100}, Spread("neyman", sds={"a": 0.1, "b": 0.2}))
    assert [s.n for s in plan.strata] == [10, 20]
    by_rate = plan_sample(
        Wish(n=40), {"a": 100, "b": 100}, Spread("neyman", rates={"a": 0.1, "b": 0.5})
    )
    # sqrt(.1 * .9) : sqrt(.25) = .3 : .5
    assert [s.n for s in by_rate.strata] == [15, 25]
    assert [s.rate for s in by_rate.strata] == [0.1, 0.5]
    none = plan_sample(Wish(n=5), {"a": 100, "b": 100}, Spread("neyman", sds={"a": 0.0, "b": 1.0}))
    assert isinstance(none.strata[0].half_width, Undefined)
    assert isinstance(none.half_width, Undefined)


@pytest.mark.parametrize(
    ("wish", "strata", "spread", "sentence"),
    [
        (Wish(population=5, n=6), None, None, "6 rows cannot be drawn from a population of 5"),
        (Wish(n=0), None, None, "a plan for 0 rows"),
        (Wish(population=9), {"a": 5, "b": 5}, None, "10 rows together, not the population of 9"),
        (Wish(), {"a": 0}, None, "all strata are empty"),
        (Wish(), {"a": 9}, Spread("neyman"), "give --sds"),
        (Wish(), {"a": 9, "b": 9}, Spread("neyman", sds={"a": 1.0}), "'b' has no standard dev"),
        (Wish(), {"a": 9}, Spread(rates={"x": 0.5}), "no stratum 'x' for a rate"),
        (Wish(), {"a": 9}, Spread(rates={"a": 5.0}), "a rate of 5.0 is no share"),
        (Wish(), {"a": 9}, Spread("equal", minimum=2), "--minimum has no meaning"),
        (Wish(margin=1.5), None, None, "must lie between 0 and 1"),
        (Wish(n=3), {"a": 9, "b": 9}, Spread(minimum=2), "too few for 2 in every stratum"),
    ],
)
def test_impossible_plans_say_why(wish: Wish, strata, spread, sentence: str) -> None:
    with pytest.raises(LabelkitError, match=sentence):
        plan_sample(wish, strata, spread)


@given(
    st.lists(st.integers(1, 500), min_size=1, max_size=8),
    st.sampled_from(["proportional", "equal", "neyman"]),
    st.floats(0.02, 0.3),
)
def test_every_split_adds_up_and_fits(sizes: list[int], method, margin: float) -> None:
    strata = {f"s{k}": size for k, size in enumerate(sizes)}
    spread = Spread(method, rates={"s0": 0.1})
    plan = plan_sample(Wish(margin=margin), strata, spread)
    assert sum(s.n for s in plan.strata) == plan.n <= sum(sizes)
    assert all(0 <= s.n <= s.size for s in plan.strata)


@given(st.integers(0, 60), st.integers(1, 60))
def test_more_labels_reach_the_margin_and_one_less_does_not(hits: int, more: int) -> None:
    n = hits + more
    found = plan_more(hits, n, Wish(margin=0.07))
    assert isinstance(found.more.needed, float)
    needed = int(found.more.needed)
    rate = hits / n

    def width(rows: int) -> float:
        interval = wilson(rate * rows, rows)
        assert not isinstance(interval, Undefined)
        return interval.half_width

    assert width(needed) <= 0.07 + 1e-12
    assert needed == 1 or width(needed - 1) > 0.07 - 1e-12
    assert found.more.more == max(0, needed - n)


def test_kappa_sizes() -> None:
    # Cantor (1996), eq. 7, for margins of 1/2, where Q(k) = 1 - k^2, and a null of 0:
    # n = ((z_a + z_b sqrt(1 - k^2)) / k)^2.
    z_power = NormalDist().inv_cdf(0.8)
    for kappa in (0.3, 0.5):
        wanted = ceil(((Z + z_power * sqrt(1 - kappa**2)) / kappa) ** 2 - 1e-9)
        assert plan_kappa(KappaWish(kappa, 0.0, (0.5, 0.5)), 0.95).n_items == wanted
    with pytest.raises(LabelkitError, match=r"kappa of 0\.9 is impossible"):
        plan_kappa(KappaWish(0.9, 0.2, (0.1, 0.5)), 0.95)
    with pytest.raises(LabelkitError, match="equal"):
        plan_kappa(KappaWish(0.6, 0.6, (0.5, 0.5)), 0.95)
    for wish in (
        KappaWish(0.8, 0.6, (0.0, 0.5)),
        KappaWish(0.8, 0.6, (0.5, 0.5), power=1.5),
        KappaWish(float("nan"), 0.6, (0.5, 0.5)),
    ):
        with pytest.raises(InputError):
            plan_kappa(wish, 0.95)


def test_strata_are_counted_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text("id,domain\n1,law\n2,tax\n3,law\n4,\n", encoding="utf-8")
    assert strata_of_file(path, "domain") == {"law": 2, "tax": 1, "(none)": 1}
    with pytest.raises(InputError, match=r"no column 'topic'; its columns are: 'id', 'domain'"):
        strata_of_file(path, "topic")
