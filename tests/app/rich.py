"""A store with traces as they really look: a clerk with tools, long payloads, values that differ.

For pictures, for the whole way in a browser and for benchmarks; every text is made up here.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.task import ExpectedCall, Reference, Task, Tool
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.tasks import add_tasks
from labelkit.store.traces import add_traces

MODELS = ("alder-7b", "birch-70b", "cedar-mini")
DOMAINS = ("orders", "travel", "billing")
PROSE = (
    "the order was checked against the ledger and the warehouse confirms that the item is ready "
    "for shipment while the customer asked about a delay in the previous quarter"
)
WORDS = PROSE.split()
TYPICAL = 20_000


def sentence(dice: random.Random, words: int) -> str:
    """Prose of a clerk."""
    return " ".join(dice.choice(WORDS) for _ in range(words)).capitalize() + "."


def rows(dice: random.Random, chars: int) -> list[dict[str, object]]:
    """Records of about this many characters."""
    return [
        {
            "id": f"ORD-{dice.randrange(10**6):06d}",
            "customer": sentence(dice, 2),
            "amount": round(dice.random() * 4000, 2),
            "status": dice.choice(["paid", "open", "refunded", "late"]),
            "notes": sentence(dice, 8),
        }
        for _ in range(max(1, chars // 150))
    ]


def rich_trace(number: int, chars: int = TYPICAL) -> Trace:
    """One run of about ``chars`` characters; its answer is right, swapped or invented by turns."""
    dice = random.Random(number)
    calls = 4
    found = [rows(dice, chars // calls) for _ in range(calls)]
    wanted = found[0][0]
    messages = [
        Message(role="system", content="You are a clerk. " + sentence(dice, 30)),
        Message(
            role="user", content=f"What is the amount of order {wanted['id']}, and is it settled?"
        ),
    ]
    for call, payload in enumerate(found):
        failed = call == 2 and number % 3 == 1
        arguments = json.dumps({"query": wanted["id"], "page": call})
        messages += [
            Message(
                role="assistant",
                content=sentence(dice, 25),
                tool_calls=(ToolCall(name="search_orders", arguments=arguments, id=f"c{call}"),),
            ),
            Message(
                role="tool",
                tool_call_id=f"c{call}",
                content=json.dumps(
                    {"error": "upstream timed out after 30 s"}
                    if failed
                    else {"ok": True, "count": len(payload), "rows": payload}
                ),
            ),
        ]
    stated = wanted["amount"] if number % 4 else round(dice.random() * 9000, 2)
    fee = " A handling fee of 18.37 EUR applies." if number % 5 == 2 else ""
    messages.append(
        Message(
            role="assistant",
            content=f"Order {wanted['id']} amounts to {stated:,.2f} EUR and is {wanted['status']}."
            f"{fee} {sentence(dice, 20)}",
        )
    )
    return Trace(
        model=MODELS[number % len(MODELS)],
        messages=tuple(messages),
        state=RowState.OK,
        task_set="clerk",
        task_id=f"task-{number % 40}",
        repeat=number // 40,
    )


def rich_task(number: int) -> Task:
    """The task of a run: the call it needs and where it belongs."""
    return Task(
        set="clerk",
        id=f"task-{number}",
        tools=(Tool(name="search_orders", description="Finds orders."),),
        reference=Reference(expected_calls=(ExpectedCall(name="search_orders"),)),
        tags={"domain": DOMAINS[number % len(DOMAINS)], "subset": "required"},
    )


def rich_traces(n: int, *, big_every: int = 0) -> Iterator[Trace]:
    """Return ``n`` runs; every ``big_every``-th holds half a megabyte."""
    for number in range(n):
        big = big_every and number % big_every == big_every - 1
        yield rich_trace(number, 500_000 if big else TYPICAL)


def rich_store(folder: Path, n: int, *, big_every: int = 0) -> str:
    """Make the store and return its URL."""
    url = f"sqlite:///{folder / 'labelkit.db'}"
    with Store.open(url, create=True) as store:
        add_tasks(store, [rich_task(number) for number in range(40)])
        add_traces(store, rich_traces(n, big_every=big_every))
    return url
