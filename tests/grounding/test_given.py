"""What was given is read in quick ways that find what the plain ways find."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from labelkit.grounding.arithmetic import compute
from labelkit.grounding.given import GivenPayload, GivenText, Ranked, Reach, given_payload
from labelkit.grounding.times import find_times, may_hold
from labelkit.grounding.values import scan

PIECES = st.sampled_from(
    [*"0123456789.,-/: \n\tAx", "1,234.50", "2026-04-05", "5.5.5", "\u0663", "12 March 2019",
     "May", "3 apr\u0131l 2020", "04/05/2026", "20:30", "2026\u5e744\u6708"]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)
SIZES = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 1)), max_size=12)


@settings(deadline=None)
@given(TEXTS)
def test_runs_are_those_of_the_plain_expression(text: str) -> None:
    plain = re.findall(r"\d+(?:\.\d+)?", text.replace(",", ""))
    assert GivenText(text).runs == tuple(dict.fromkeys(plain))


@settings(deadline=None)
@given(SIZES, st.sampled_from(["5", "1200", "47.5", "0.3%", "3 km", "2.5 million", "1e300"]))
def test_the_figures_near_a_value_are_those_of_a_size_it_could_state(
    sizes: list[float], written: str
) -> None:
    """Looked through one by one: the sizes in reach, and every length where a length is stated."""
    figures = [(size, f"$.a{place}_km", size) for place, size in enumerate([5.0, 0.3, *sizes])]
    (value,) = scan(written)
    reach = Reach(value)
    wanted = [
        figure
        for figure in figures
        if reach.dimension == "length" or any(a <= abs(figure[0]) <= b for a, b in reach.ranges)
    ]
    assert Ranked(figures).near(reach) == wanted
    # Many are sorted first.
    far = [(1e290 + place, "", "") for place in range(60)]
    assert Ranked([*figures, *far]).near(reach) == [*wanted, *(far if reach.endless else ())]


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["12 March 2019", "2026-04-05", "04/05/2026", "3 April 2020"]))
def test_a_text_passed_over_holds_no_such_date(text: str, written: str) -> None:
    ((_, _, wanted),) = find_times(written)
    if not may_hold(text, wanted):
        for _, _, whens in find_times(text):
            for when in whens:
                assert not (when.dated and any(when.agrees(one) for one in wanted))


def test_an_index_is_kept_from_the_second_time_on() -> None:
    payload = {"price": 5, "note": "of 2026"}
    first, second, third = (given_payload(payload) for _ in range(3))
    assert first is not second
    assert second is third
    assert first.figures == second.figures == [(5.0, "$.price", 5)]
    assert given_payload({"price": 5, "note": "of 2026"}) is not second


def test_numbers_without_a_size_are_no_figures() -> None:
    leaves = {"a": float("nan"), "b": 1.5, "c": 1e301, "d": -3, "e": float("-inf"), "f": 10**400}
    payload = GivenPayload({**leaves, "g": True, "h": 3})
    assert payload.figures == [(1.5, "$.b", 1.5), (-3.0, "$.d", -3), (3.0, "$.h", 3)]
    # Of two of one size the first is found.
    assert payload.by_size == {1.5: (1.5, "$.b", 1.5), 3.0: (-3.0, "$.d", -3)}


def test_results_of_lists_come_before_those_of_pairs() -> None:
    operands = ((2.0, "$.a[0]"), (3.0, "$.a[1]"), (7.0, "$.b"))
    computed = compute(operands)
    # 5 is the sum of the list and of a pair, 21 a product of a pair, 12 the sum of the object.
    assert computed.near(5, 0.01) == "sum"
    assert computed.near(21, 0.01) == "product"
    assert computed.near(12, 0.01) == "sum"
    assert computed.near(1, 0.001) == "range"
    assert computed.near(1234, 0.5) is None


def test_reading_more_of_a_text_for_one_row_changes_no_other_row() -> None:
    text = " ".join(f"{n}.5 kg," for n in range(400))
    before = GivenText(text)
    assert not before.cut
    assert before.values
    assert before.values_cut
    assert not before.cut
