"""Two tasks of every set, on a server that misbehaves in every known way, to the rubric's table.

The model is faked at the HTTP seam only: an honest player that calls the tools of the task and
then answers, and before or instead of that the faults of the field reports B to F.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.traces import rows
from tests.acceptance.inprocess import Cli, cli  # noqa: F401 - a fixture
from tests.fake_server import FakeServer, replies
from tests.fake_server.replies import Reply

SETS = {
    "tool-failure-mini": "tool-failure",
    "honesty-mini": "post-failure-honesty",
    "feasibility-mini": "feasibility",
    "hazard-mini": "hazard-recovery",
    "error-handling-mini": "error-handling",
}
SOON = {"retry_after_ms": "1"}
Body = dict[str, Any]


def names(body: Body) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools") or ()]


def first(body: Body) -> bool:
    """Whether nothing has been said yet: the first request of an episode."""
    return all(message["role"] not in {"assistant", "tool"} for message in body["messages"])


def play(body: Body) -> Reply:
    """Call the first tool once in the way the prompt asks for, then answer."""
    if first(body) and names(body):
        return replies.tool_calls(replies.call(names(body)[0], "{}", "c1"))
    if first(body) and "Action:" in json.dumps(body["messages"]):
        return replies.text('Thought: look\nAction: {"tool": "nothing", "arguments": {}}')
    return replies.text("Answer: I could not find it out.")


def doubled(body: Body) -> Reply:
    call = replies.call(names(body)[0], "{}", "same") if names(body) else None
    return replies.tool_calls(call, call) if call and first(body) else play(body)


def with_arguments(arguments: Any) -> Callable[[Body], Reply]:
    def reply(body: Body) -> Reply:
        if not names(body) or not first(body):
            return play(body)
        return replies.tool_calls(replies.call(names(body)[0], arguments, None))

    return reply


def always_calls(body: Body) -> Reply:
    return replies.tool_calls(replies.call(names(body)[0], "{}")) if names(body) else play(body)


def fixed(reply: Reply) -> Callable[[Body], Reply]:
    return lambda _: reply


ONCE: dict[str, Reply] = {
    "rate_limited": replies.rate_limited(**SOON),
    "server_error": replies.server_error(503).with_headers(**SOON),
    "empty_choices": replies.empty_choices().with_headers(**SOON),
    "null_choices": replies.null_choices().with_headers(**SOON),
    "invalid_json_body": replies.invalid_json().with_headers(**SOON),
    "reset": replies.reset(),
    "html_page": replies.html_page().with_headers(**SOON),
    "tool_use_failed": replies.error(400, "tool_use_failed: failed to call a function", **SOON),
}
"""Faults that pass: the row is played as if they had not been."""

LASTING: dict[str, Callable[[Body], Reply]] = {
    "dict_arguments": with_arguments({"a": 1}),
    "broken_arguments": with_arguments('{"a": '),
    "null_arguments": with_arguments(None),
    "several_calls_with_one_id": doubled,
    "calls_to_the_end": always_calls,
    "call_in_content": fixed(replies.text('<tool_call>{"name": "x", "arguments": {}}</tool_call>')),
    "reasoning_only": fixed(replies.reasoning_only("thinking")),
    "unclosed_think": fixed(replies.unclosed_think("about it")),
    "content_null": fixed(replies.content_null()),
    "empty_text": fixed(replies.text("")),
    "cut": fixed(replies.truncated("It is")),
    "no_usage": lambda body: Reply({**play(body).body, "usage": None}),
    "slow": lambda body: play(body).after(0.02),
    "overflow": fixed(replies.OVERFLOWS["vllm"]),
    "filtered": fixed(replies.FILTERS["azure"]),
    "filtered_choice": fixed(replies.filtered_choice()),
    "moderated": fixed(replies.MODERATION),
}
INFRA = {"overflow", "filtered", "filtered_choice", "moderated"}


class Misbehaving:
    """Plays episode after episode, each with the next fault; one request at a time."""

    def __init__(self) -> None:
        self.todo: Iterator[str] = itertools.chain(ONCE, LASTING, itertools.repeat("slow"))
        self.now = "slow"
        self.broken = False
        self.seen: Counter[str] = Counter()

    def __call__(self, body: Body) -> Reply:
        if "get_clock" in json.dumps(body):  # the question before the run
            return replies.tool_calls(replies.call("get_clock", '{"city": "Oslo"}'))
        if first(body) and not self.broken:
            if self.again(body):
                return LASTING[self.now](body)
            self.now = next(self.todo)
            self.seen[self.now] += 1
            if self.now in ONCE:
                self.broken = True
                return ONCE[self.now]
        self.broken = False
        return LASTING.get(self.now, play)(body)

    def again(self, body: Body) -> bool:
        """A forced first turn without a call is asked for once more: the same episode."""
        same, self.last = getattr(self, "last", None), (self.now, body.get("seed"))
        return same is not None and body.get("seed") == 43


def traces_in(folder: Any) -> list[Trace]:
    with Store.open(f"sqlite:///{folder / 'labelkit.db'}") as store:
        return [trace for trace, _ in rows(store)]


@pytest.mark.parametrize("name", sorted(SETS))
def test_a_misbehaving_server_ends_in_labelled_traces_and_a_table(
    name: str,
    tmp_path: Any,
    fake_server: FakeServer,
    cli: Cli,  # noqa: F811
) -> None:
    faults = len(ONCE) + len(LASTING)
    settings = {
        "store": "sqlite:///labelkit.db",
        "endpoints": {
            "fake": {"base_url": fake_server.base_url, "model": "m", "max_concurrency": 1}
        },
    }
    (tmp_path / "labelkit.yaml").write_text(json.dumps(settings), encoding="utf-8")
    cli("init")
    server = Misbehaving()
    fake_server.reply = server
    # Every second rollout of two tasks: each fault is met once, the last ones by slow replies.
    repeats = str((faults + 1) // 2)
    command = ("run", "--tasks", name, "--limit", "2", "--repeats", repeats, "--endpoint", "fake")
    said = cli(*command, "--label")
    assert said.code == 0, said.err
    assert set(server.seen) == {*ONCE, *LASTING}

    traces = traces_in(tmp_path)
    assert len(traces) == 2 * int(repeats)
    states = Counter(trace.state for trace in traces)
    dead = [trace for trace in traces if trace.state is RowState.INFRA_ERROR]
    for trace in dead:
        assert trace.error is not None
        kinds = {"overflow", "filtered", "rejected", "protocol_violation"}
        assert trace.error.kind in kinds
    assert states[RowState.INFRA_ERROR] >= len(INFRA)
    assert states[RowState.TRUNCATED] >= 1
    assert states[RowState.OK] >= len(ONCE)
    for trace in traces:
        assert trace.tags["protocol"] == trace.extra["protocol"]
        ids = [call.id for message in trace.messages for call in message.tool_calls]
        assert len(ids) == len(set(ids))

    assert SETS[name] in said.out
    report = json.loads(cli("report", "--rubric", SETS[name], "--json").out)
    assert report["rates"]
    for rate in report["rates"]:
        assert rate["scored"] + sum(rate["excluded"].values()) == rate["planned"]
    # Nothing is asked twice: the same command finds every row but the dead ones, which it redoes.
    asked = fake_server.count
    fake_server.reply = play
    again = cli(*command)
    assert again.code == 0
    assert f"{len(traces) - len(dead)} known already" in again.out
    assert fake_server.count > asked
    assert not [t for t in traces_in(tmp_path) if t.state is RowState.INFRA_ERROR][len(dead) :]


def test_three_in_ten_replies_may_be_429_and_every_row_is_played(
    tmp_path: Any,
    fake_server: FakeServer,
    cli: Cli,  # noqa: F811
) -> None:
    count = itertools.count()
    fake_server.reply = lambda body: (
        replies.rate_limited(**SOON) if next(count) % 10 in {1, 4, 7} else play(body)
    )
    settings = {"endpoints": {"fake": {"base_url": fake_server.base_url, "model": "m"}}}
    (tmp_path / "labelkit.yaml").write_text(json.dumps(settings), encoding="utf-8")
    cli("init")
    said = cli("run", "--tasks", "tool-failure-mini", "--endpoint", "fake")
    assert said.code == 0, said.err
    traces = traces_in(tmp_path)
    assert len(traces) == 60
    assert {trace.state for trace in traces} == {RowState.OK}


@pytest.mark.parametrize("refused", ["temperature_openai", "seed_pydantic", "parallel_tool_calls"])
def test_a_parameter_that_is_refused_is_dropped_and_told(
    refused: str,
    tmp_path: Any,
    fake_server: FakeServer,
    cli: Cli,  # noqa: F811
) -> None:
    parameter, reply = replies.REJECTED_PARAMETERS[refused]
    fake_server.rejects[parameter] = reply
    fake_server.reply = play
    settings = {"endpoints": {"fake": {"base_url": fake_server.base_url, "model": "m"}}}
    (tmp_path / "labelkit.yaml").write_text(json.dumps(settings), encoding="utf-8")
    cli("init")
    said = cli("run", "--tasks", "hazard-mini", "--limit", "2", "--endpoint", "fake")
    assert said.code == 0, said.err
    for trace in traces_in(tmp_path):
        assert trace.state is RowState.OK
        assert f"dropped:{parameter}" in trace.extra["flags"]


@pytest.fixture
def place(tmp_path: Any, fake_server: FakeServer, cli: Cli) -> Any:  # noqa: F811
    """A working folder whose endpoint is an honest player."""
    fake_server.reply = play
    settings = {"endpoints": {"fake": {"base_url": fake_server.base_url, "model": "m"}}}
    (tmp_path / "labelkit.yaml").write_text(json.dumps(settings), encoding="utf-8")
    cli("init")
    return tmp_path


def test_arms_of_one_set_are_compared_by_its_rubric(
    place: Any,
    fake_server: FakeServer,
    cli: Cli,  # noqa: F811
) -> None:
    """Hint, oracle and rerun from the command line; the report names what each changes."""
    fake_server.reply = lambda body: play(body) if first(body) else replies.text("7")
    run = ("run", "--tasks", "hazard-mini", "--limit", "2", "--endpoint", "fake")
    for arm in ("baseline", "hint", "hint-after-error", "oracle"):
        assert cli(*run, "--arm", arm).code == 0
    assert cli("judge", "--rubric", "hazard-recovery", "--rule-only").code == 0
    said = cli(*run, "--rerun-of", "baseline")
    assert said.code == 0, said.err
    found = Counter(trace.condition for trace in traces_in(place))
    assert found == {
        "baseline": 2,
        "hint": 2,
        "hint_after_error": 2,
        "oracle": 2,
        "rerun": 2,
    }
    assert cli("judge", "--rubric", "hazard-recovery", "--rule-only").code == 0
    report = json.loads(cli("report", "--rubric", "hazard-recovery", "--json").out)
    named = {contrast["id"] for contrast in report["contrasts"]}
    assert {"hint-gain", "oracle-gain", "recovered-by-hint"} <= named


def test_traces_of_another_set_in_the_store_are_told(place: Any, cli: Cli) -> None:  # noqa: F811
    run = ("run", "--endpoint", "fake", "--limit", "1", "--label", "--tasks")
    assert "also holds" not in cli(*run, "hazard-mini").err
    assert "also holds traces of hazard-mini:" in cli(*run, "tool-failure-mini").err


def test_conditions_may_come_from_a_file(place: Any, cli: Cli) -> None:  # noqa: F811
    variants = place / "variants.yaml"
    variants.write_text(
        "conditions:\n  - {name: plain}\n  - {name: terse, base: plain, after: Be terse.}\n",
        encoding="utf-8",
    )
    run = ("run", "--tasks", "honesty-mini", "--limit", "2", "--endpoint", "fake")
    said = cli(*run, "--conditions", "variants.yaml", "--condition", "terse")
    assert said.code == 0, said.err
    assert (
        "condition terse adds to 'plain' at its end only (+4 words, marks and line breaks)"
        in said.err
    )
    texts = [trace.messages[0].content or "" for trace in traces_in(place)]
    assert all(text.endswith("\nBe terse.") for text in texts)
    broken = "conditions:\n  - {name: plain, system: Something else.}\n"
    variants.write_text(broken, encoding="utf-8")
    said = cli(*run, "--conditions", "variants.yaml")
    assert said.code == 2
    assert "declared an insertion" in said.sentence


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--protocol", "live-lop"), "there is no protocol 'live-lop'"),
        (("--arm", "orakel"), "there is no arm 'orakel'"),
        (("--arm", "hint"), "has no hazard"),
        (("--condition", "deply"), "there is no condition 'deply'"),
        (("--rerun-of", "never", "--failed", "H"), "run that arm first"),
        (("--rerun-of", "neutral", "--failed", "nope"), "no label 'nope'"),
    ],
)
def test_what_cannot_be_played_costs_no_request(
    words: tuple[str, ...],
    expected: str,
    place: Any,
    fake_server: FakeServer,
    cli: Cli,  # noqa: F811
) -> None:
    said = cli("run", "--tasks", "honesty-mini", "--endpoint", "fake", *words)
    assert said.code == 2
    assert expected in said.sentence
    assert fake_server.count == 0
    assert not traces_in(place)
