"""Charts as pages hand them to the browser: places as shares of the drawing, and texts."""

from __future__ import annotations

from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as some

from app import charts
from app.charts import Axis, Spot, round_step
from tests.app.stores import ATTACK


def test_points_and_intervals_stand_at_their_share_of_the_axis() -> None:
    spots = [
        Spot("a", 0.5, 0.4, 0.6, "raw"),
        Spot("a", 0.25, None, None, "corrected"),
        Spot("b", 0.2, 0.1, 0.3, "corrected"),
    ]
    found = charts.forest(spots, "rate", mark=0.1).parts
    assert found["series"] == ["raw", "corrected"]
    # Nothing lies below 0: the axis runs from 0 to 1, so places are the values themselves.
    assert found["rows"] == [
        ("a", [(0, 0.5, 0.4, 0.6), (1, 0.25, 0.25, 0.25)]),
        ("b", [(1, 0.2, 0.1, 0.3)]),
    ]
    assert found["mark"] == 0.1
    assert [text for _, text in found["ticks"]] == ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]


def test_an_axis_reaches_below_nothing_where_an_interval_does() -> None:
    found = charts.forest([Spot("a", 0.0, -0.25, 0.5)], "kappa", mark=0.0).parts
    # From -0.25 to 1: 1.25 long.
    (place,) = found["rows"][0][1]
    assert place == (0, 0.25 / 1.25, 0.0, 0.75 / 1.25)
    assert found["mark"] == 0.2
    assert [text for _, text in found["ticks"]] == [
        "-0.2",
        "0.0",
        "0.2",
        "0.4",
        "0.6",
        "0.8",
        "1.0",
    ]


def test_what_lies_beyond_the_axis_is_cut_at_its_end() -> None:
    found = charts.forest([Spot("a", 3.0, 1.0, 9.0)], "points", domain=(0.0, 4.0)).parts
    assert found["rows"] == [("a", [(0, 0.75, 0.25, 1.0)])]
    assert found["ticks"][0] == (0.0, "0.0")


def test_shares_are_written_in_percent() -> None:
    found = charts.forest([Spot("a", 0.5)], "share", percent=True).parts
    assert [text for _, text in found["ticks"]] == ["0%", "20%", "40%", "60%", "80%", "100%"]


def test_days_have_the_wide_interval_of_a_poor_one_cut() -> None:
    spots = [Spot("2026-11-02", 0.5, 0.4, 0.6, "x"), Spot("2026-11-01", 0.0, -9.0, 1.0, "x")]
    found = charts.over_days(spots, "agreement").parts
    assert found["days"] == [("1 Nov", [(0, 0.0, 0.0, 1.0)]), ("2 Nov", [(0, 0.5, 0.4, 0.6)])]
    assert found["every"] == 1


def test_of_many_days_every_so_manyth_has_its_date() -> None:
    spots = [Spot(f"2026-11-{n:02d}", 0.5) for n in range(1, 26)]
    assert charts.over_days(spots, "agreement").parts["every"] == 3  # 25 days, 12 dates: 8.3


def test_bars_of_days_leave_gaps_and_stack_people() -> None:
    counts = [("2026-01-02", "ana", 3), ("2026-01-04", "ben", 1), ("2026-01-02", "ben", 1)]
    found = charts.stacked_days(counts, 14).parts
    top = 4 * 1.05
    assert found["series"] == ["ana", "ben"]
    assert [name for name, _ in found["days"]] == ["2 Jan", "3 Jan", "4 Jan"]
    assert [parts for _, parts in found["days"]] == [
        [(0, 3 / top), (1, 1 / top)],
        [],
        [(1, 1 / top)],
    ]
    assert [text for _, text in found["ticks"]] == ["0", "1", "2", "3", "4"]


def test_days_before_the_last_ones_are_left_out() -> None:
    counts = [("2026-01-01", "ana", 3), ("2026-01-10", "ana", 1)]
    found = charts.stacked_days(counts, 2).parts
    assert [name for name, _ in found["days"]] == ["9 Jan", "10 Jan"]


def test_a_bar_has_its_number_and_its_share_of_the_longest() -> None:
    found = charts.bars([("ana", 4.0), ("ben", 9.6)], "seconds").parts
    assert found["rows"] == [("ana", 4.0 / 9.6, "4"), ("ben", 1.0, "10")]


def test_a_cell_is_as_dark_as_its_share_of_the_fullest() -> None:
    found = charts.heat(["yes", "no"], [[3, 1], [0, 2]], "ana", "ben", "0:1").parts
    assert found["cells"] == [[("3", 1.0), ("1", 1 / 3)], [("0", 0.0), ("2", 2 / 3)]]
    assert (found["rows"], found["columns"], found["chosen"]) == ("ana", "ben", "0:1")


def test_names_that_others_chose_cannot_act() -> None:
    drawn = [
        charts.forest([Spot(ATTACK, 0.5)], "rate").parts["rows"][0][0],
        charts.bars([(ATTACK, 1.0)], "s").parts["rows"][0][0],
        charts.stacked_days([("2026-01-02", ATTACK, 1)], 2).parts["series"][0],
        *charts.heat([ATTACK], [[1]], ATTACK, ATTACK).parts["names"],
    ]
    assert all(name.isprintable() for name in drawn)


@pytest.mark.parametrize(
    ("least", "step"), [(1.0, 1.0), (1.01, 2.0), (0.125, 0.2), (0.2, 0.2), (3.0, 5.0), (6.0, 10.0)]
)
def test_steps_are_round(least: float, step: float) -> None:
    assert isclose(round_step(least), step)


@given(low=some.floats(-100, 0), span=some.floats(1e-3, 1e6), percent=some.booleans())
def test_few_ticks_stand_on_the_axis_in_order(low: float, span: float, percent: bool) -> None:
    ticks = Axis(low, low + span, percent).ticks()
    places = [at for at, _ in ticks]
    assert 1 <= len(ticks) <= charts.MOST_TICKS
    assert places == sorted(places)
    assert 0 <= places[0] <= places[-1] <= 1
    assert len({text for _, text in ticks}) == len(ticks)
