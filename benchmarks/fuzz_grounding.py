"""Random and hostile strings through the grounding engine: no exception, no string that stalls it.

Not part of the default tests, because it takes minutes. Every string goes through value finding,
reasoning removal and call detection; every tenth also through a whole ruling, as the answer. Each
thousandth string, and each piece by itself, is repeated to 10 kB and timed; some pieces to 1 MB.

    python benchmarks/fuzz_grounding.py [count, default 100000] [seed, default 0]

Prints the count, the exceptions (with the string that caused each), and the slowest string in CPU
milliseconds per 10 kB, for finding values and for a ruling. Target: under 50 ms per 10 kB.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections.abc import Callable

from labelkit.domain.message import Message, ToolCall
from labelkit.domain.rubric import LabelDefinition, Question, Rubric
from labelkit.domain.task import AnswerKey, ExpectedCall, KeyValue, Reference, Task
from labelkit.domain.trace import RowState, Trace
from labelkit.grounding.textcalls import calls_in_text
from labelkit.grounding.values import find_values
from labelkit.grounding.visible import strip_reasoning
from labelkit.rules.registry import classifier

PIECES = (
    "1",
    "9,",
    "1.1",
    "(",
    ")",
    "[{",
    "}]",
    "2026-01-01",
    "1/2/2020",
    "May ",
    "z\u0300\u0301\u0302",
    "e\u0301",
    "a1",
    "1a-",
    "a-",
    "5 days ",
    "5d",
    "\u00a71 ",
    "$",
    "USD ",
    "12:",
    "12:30 ",
    "\u00a0",
    "1 234 ",
    "<think>",
    "</think>",
    "[think",
    "<|channel|>",
    "<",
    "1e",
    "1 x 10^",
    "No. 5 ",
    "minus ",
    "-",
    "(5",
    "| 5 ",
    "\uff15",
    "\u00bd",
    "\u1100\u1161",
    ".",
    "1_",
    "1 U.S. ",
    "\n",
    "\ud800",
    "\x00",
    "12:30 (in New York time) ",
    "http://a/1",
    "5 am ",
    "12.5% ",
    "not ",
    "recalled 35 but ",
    "Judge ",
    '"aaaa bbbb cccc dddd eeee" ',
    '{"name": "look", "arguments": {}}',
    "```json\n",
    "Action: ",
    "look(a=1)",
    "<tool_call>",
    "\u202e",
    "\u200b",
    "\u0661",
    "\u0130",
    "\u017fept 5 ",
    "word ",
    "is wrong ",
    "million ",
    " and ",
    "respectively",
    "Section 15.05(1) ",
    "apr\u0131l ",
    "3 APR\u0130L 2020 ",
    "March 5, ",
    "12 March 2019 ",
    "A_1:",
    "1#a",
    "Note 5",
    "a.m. ",
    "2020\u5e745\u6708",
    "no longer ",
    "loss of ",
    "typically ",
    "1,234.5 ",
    ". ",
)
LENGTHS = (20, 20, 100, 100, 400, 2000)
PER = 10_000


def structured(draw: random.Random, length: int) -> str:
    """Things that are well formed in themselves: nests, digits, tables, calls, marks."""
    digit = draw.choice("0123456789\u0661\uff15")
    return draw.choice(
        (
            digit * length,
            "(" * (length // 2) + digit + ")" * (length // 2),
            '{"a":[' * (length // 6) + "1",
            "[" * (length // 2) + "]" * (length // 2),
            "z" + "\u0301\u0316\u0323" * (length // 3),
            "\u202e" + "52.7 " * (length // 5),
            "\ud800" * length,
            "\x00" * length,
            "| a | 1.5 |\n" * (length // 12),
            "0." + digit * length,
            "1" + ",000" * (length // 4),
            "1e" + digit * length,
            "-" * length + digit,
            "\u00a7" * length,
            "a1" * length,
            "a_" * (length // 2) + digit,
            (digit + "_") * (length // 2),
            "March " * (length // 6) + digit,
            (digit + ".") * (length // 2),
            " " * length + "1",
        )
    )


def hostile(draw: random.Random) -> str:
    """One string: something structured, pieces repeated, a mix of pieces, random characters."""
    length = draw.choice(LENGTHS)
    way = draw.random()
    if way < 0.1:
        return structured(draw, length) or "1"
    if way < 0.3:
        part = "".join(draw.choices(PIECES, k=draw.randint(1, 3)))
        return (part * (length // len(part) + 1))[:length]
    if way < 0.8:
        return "".join(draw.choices(PIECES, k=max(1, length // 4)))[:length]
    top = draw.choice((0x7F, 0x2FF, 0xFFFF, 0x10FFFF))
    return "".join(chr(draw.randint(0, top)) for _ in range(length))


def rule_on() -> Callable[[str], object]:
    """A ruling over one task, with the given string as the answer and a part of the payload."""
    label = LabelDefinition(name="correct", title="c", key="1", include="c")
    scheme = Rubric(
        name="fuzz", version="1", title="f", source="f", subsets=("required",),
        questions=(Question(id="label", type="choice", text="?", labels=(label,)),),
        rule="tool_failure",
    )  # fmt: skip
    keys = (
        KeyValue(type="number", value=7.5, path="$.price"),
        KeyValue(type="datetime", value="2026-01-01", path="$.day"),
        KeyValue(type="text", value="alpha beta", path="$.note"),
    )
    question = Message(role="user", content="What is the price?")
    call = Message(role="assistant", tool_calls=(ToolCall(id="c", name="look", arguments="{}"),))
    payload = {"price": 7.5, "day": "2026-01-01", "note": "alpha beta", "rows": [1, 2.5, 40]}
    reference = Reference(
        expected_calls=(ExpectedCall(name="look"),),
        payload=payload,
        answer_key=AnswerKey(values=keys, traps=("35",)),
    )
    task = Task(
        set="fuzz", id="1", messages=(question,), reference=reference, tags={"subset": "required"}
    )
    classify = classifier("tool_failure")

    def run(text: str) -> object:
        result = Message(role="tool", tool_call_id="c", content=text[:2000])
        messages = (question, call, result, Message(role="assistant", content=text))
        return classify(scheme, Trace(model="m", messages=messages, state=RowState.OK), task)

    return run


def timed(steps: dict[str, Callable[[str], object]], text: str) -> dict[str, float]:
    """CPU milliseconds per 10 kB of every step on one string: the best of three.

    The string differs each time, so that nothing kept about it can help, and the collector of
    cycles waits: its passes over a hundred thousand earlier strings are no cost of this one.
    """
    spent = {}
    gc.disable()
    for name, step in steps.items():
        tries = []
        for number in range(3):
            varied = text + " " * number
            begin = time.process_time()
            step(varied)
            tries.append((time.process_time() - begin) * 1000 * PER / len(text))
        spent[name] = min(tries)
    gc.enable()
    return spent


def stretched(text: str, length: int) -> str:
    return (text * (length // len(text) + 1))[:length]


class Fuzz:
    """The steps under test, with what went wrong and what was slowest."""

    def __init__(self) -> None:
        self.steps: dict[str, Callable[[str], object]] = {
            "find_values": find_values,
            "strip_reasoning": strip_reasoning,
            "calls_in_text": lambda text: calls_in_text(text, ("look",)),
            "ruling": rule_on(),
        }
        timed(self.steps, "warm up 1.5 " * 1000)
        self.slowest = dict.fromkeys(self.steps, (0.0, "", 0))
        self.failed: list[str] = []

    def try_one(self, text: str, *, ruling: bool) -> None:
        """Run every step, and keep whatever escapes."""
        for name, step in self.steps.items():
            if name == "ruling" and not ruling:
                continue
            try:
                step(text)
            except Exception as error:  # a fuzzer reports whatever escapes
                self.failed.append(f"{name}: {type(error).__name__}: {error} on {text[:80]!a}")

    def time_one(self, text: str) -> None:
        """Time every step, and keep the slowest."""
        for name, spent in timed(self.steps, text).items():
            if spent > self.slowest[name][0]:
                self.slowest[name] = spent, text[:40], len(text)

    def report(self) -> None:
        """Print what escaped and what was slowest."""
        for line in self.failed[:20]:
            print("  " + line)
        for name, (spent, text, length) in self.slowest.items():
            print(f"  slowest {name:16} {spent:6.1f} ms per 10 kB  {length} x {text!a}")


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    draw = random.Random(seed)
    fuzz = Fuzz()
    characters = 0
    for number in range(wanted):
        text = hostile(draw)
        characters += len(text)
        fuzz.try_one(text, ruling=number % 10 == 0)
        if number % 1000 == 0:
            fuzz.time_one(stretched(text, PER))
    for piece in PIECES:
        fuzz.time_one(stretched(piece, PER))
    for piece in PIECES[:: max(1, 20_000 // max(1, wanted))]:
        fuzz.time_one(stretched(piece, 1_000_000))
    print(f"{wanted} strings, {characters} characters, seed {seed}: {len(fuzz.failed)} exceptions")
    fuzz.report()


if __name__ == "__main__":
    main()
