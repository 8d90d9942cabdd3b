"""Sums of what is known, and counts of what is not."""

from __future__ import annotations

import pytest

from labelkit.domain.endpoint import Price
from labelkit.domain.trace import Usage
from labelkit.models.ledger import Ledger, add_usage, cost_of

PRICE = Price(input=2.0, output=10.0)


def test_cost_is_price_times_tokens() -> None:
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=500_000)
    assert cost_of(PRICE, usage) == pytest.approx(2.0 + 5.0)


@pytest.mark.parametrize(
    ("price", "usage"),
    [
        (None, Usage(prompt_tokens=1, completion_tokens=1)),
        (PRICE, None),
        (PRICE, Usage(prompt_tokens=1)),
        (PRICE, Usage(completion_tokens=1)),
    ],
)
def test_an_unknown_part_makes_the_cost_unknown(price: Price | None, usage: Usage | None) -> None:
    assert cost_of(price, usage) is None


def test_a_free_endpoint_costs_zero_and_is_known() -> None:
    ledger = Ledger(price=Price(input=0, output=0))
    ledger.add_reply(Usage(prompt_tokens=5, completion_tokens=5))
    assert ledger.cost == 0.0
    assert ledger.snapshot()["replies_without_cost"] == 0


def test_one_reply_without_usage_makes_the_total_unknown_but_keeps_the_rest() -> None:
    ledger = Ledger(price=PRICE)
    ledger.add_reply(Usage(prompt_tokens=1_000_000, completion_tokens=0))
    ledger.add_reply(None)
    sums = ledger.snapshot()
    assert (sums["cost"], sums["known_cost"]) == (None, 2.0)
    assert (sums["replies"], sums["replies_without_usage"]) == (2, 1)
    assert sums["prompt_tokens"] == 1_000_000


def test_adding_usage_keeps_unknown_fields_unknown() -> None:
    total = add_usage(
        Usage(prompt_tokens=1, completion_tokens=2), Usage(prompt_tokens=10, cached_tokens=4)
    )
    assert total == Usage(prompt_tokens=11, completion_tokens=2, cached_tokens=4)
    assert add_usage(None, None) is None
