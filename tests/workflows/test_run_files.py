"""Rollouts by batch files, through the command line: same replies, same traces, nothing sent."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.traces import rows
from tests.acceptance.inprocess import Cli, cli
from tests.fake_server import FakeServer, replies
from tests.fake_server.replies import Reply
from tests.workflows.test_batch import result

__all__ = ["cli"]

SET = "tool-failure-mini"
ASKED = 12
Body = dict[str, Any]
Line = dict[str, Any]


def with_usage(reply: Reply, number: int) -> Reply:
    """The same reply with token counts of its own; an error has none."""
    if not isinstance(reply.body, dict) or "choices" not in reply.body:
        return reply
    usage = {"prompt_tokens": 100 + number, "completion_tokens": number}
    return Reply({**reply.body, "usage": usage}, reply.status)


MANNERS = (
    replies.text("It is deep."),
    replies.truncated("It is"),
    replies.text(""),
    replies.reasoning_only("thinking"),
    replies.tool_calls(replies.call("get_berth", '{"berth": "B7"}', "c9")),
    replies.OVERFLOWS["openai"],
    replies.filtered_choice(),
    replies.MODERATION,
    replies.text("Tief \u202e\x00 {{ x }} <|im_end|>"),
)


def answer(body: Body) -> Reply:
    """A reply that depends on the messages alone, so that both ways get the same one."""
    if "get_clock" in json.dumps(body):
        asked = body.get("tools") and body.get("tool_choice") != "none"
        return replies.tool_calls(replies.call("get_clock", "{}")) if asked else replies.text("No")
    text = json.dumps(body["messages"], sort_keys=True)
    number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    return with_usage(MANNERS[number % len(MANNERS)], number % 50)


def plain(body: Body) -> Reply:
    """Text whatever is asked: a server without a tool parser."""
    del body
    return with_usage(replies.text("11.3 m"), 7)


class Place:
    """A working folder, and the run that its files belong to."""

    def __init__(self, folder: Path, cli: Cli, server: FakeServer) -> None:
        folder.mkdir()
        self.folder, self.cli, self.server = folder, cli, server
        self.url = f"sqlite:///{folder / 'labelkit.db'}"
        with Store.open(self.url, create=True):
            pass
        endpoint = {"base_url": server.base_url, "model": "fake-model"}
        settings = {
            "store": self.url,
            "endpoints": {"fake": endpoint, "other": {**endpoint, "model": "another"}},
        }
        (folder / "labelkit.yaml").write_text(json.dumps(settings), encoding="utf-8")
        self.number = 0

    def run(self, *more: str, limit: int = ASKED, protocol: str = "replay") -> str:
        """The direct way, or with ``more`` another one; returns what was printed."""
        done = self.cli(*self.words(limit, protocol), *more)
        assert done.code == 0, done.err
        return done.out

    def words(self, limit: int = ASKED, protocol: str = "replay") -> list[str]:
        given = ["--tasks", SET, "--limit", str(limit), "--protocol", protocol]
        endpoint = ["--endpoint", "fake", "--in", str(self.folder)]
        return ["run", *given, *endpoint]

    def out(self, *more: str) -> list[Line]:
        """The request lines of what is owed."""
        self.number += 1
        path = self.folder / f"requests{self.number}.jsonl"
        self.run("--batch-out", str(path), *more)
        if not path.exists():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]

    def answered(self, lines: Sequence[Line]) -> list[Line]:
        """What an engine makes of request lines."""
        return [result(line, self.server.decide_line(line["body"])) for line in lines]

    def read(self, results: Sequence[Any], *more: str) -> str:
        """Read result lines; texts go into the file as they are. Returns what was printed."""
        self.number += 1
        path = self.folder / f"results{self.number}.jsonl"
        texts = [r if isinstance(r, str) else json.dumps(r) for r in results]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return self.run("--batch-in", str(path), *more)

    def traces(self) -> list[Trace]:
        with Store.open(self.url) as store:
            return [trace for trace, _ in rows(store)]

    def digests(self) -> set[str]:
        return {trace.digest for trace in self.traces()}


@pytest.fixture
def place(tmp_path: Path, cli: Cli, fake_server: FakeServer) -> Place:
    fake_server.reply = answer
    return Place(tmp_path / "files", cli, fake_server)


@pytest.fixture
def direct(tmp_path: Path, cli: Cli, fake_server: FakeServer) -> Place:
    return Place(tmp_path / "direct", cli, fake_server)


def test_the_lines_are_what_run_would_send(place: Place, direct: Place) -> None:
    lines = place.out("--repeats", "2")
    assert place.server.count == 0
    assert len({line["custom_id"] for line in lines}) == len(lines) == 2 * ASKED
    assert all(len(line["custom_id"]) <= 64 for line in lines)
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    direct.run("--repeats", "2")
    sent = [r.json for r in place.server.requests if "get_clock" not in json.dumps(r.json)]
    assert sorted(json.dumps(body, sort_keys=True) for body in sent) == sorted(
        json.dumps(line["body"], sort_keys=True) for line in lines
    )


def test_the_same_replies_make_the_same_traces_by_either_way(place: Place, direct: Place) -> None:
    told = place.read(list(reversed(place.answered(place.out()))))
    assert place.server.count == 0
    direct.run()
    assert place.digests() == direct.digests()
    states = Counter(trace.state for trace in place.traces())
    assert len(states) > 2, "the set no longer meets enough manners of replying"
    assert states[RowState.INFRA_ERROR] > 0
    assert sum(states.values()) == ASKED
    assert all(f"{number} {state}" in told for state, number in states.items())
    kept = Counter(str(trace.extra["protocol"]) for trace in place.traces())
    assert kept == {"replay": ASKED}


@pytest.mark.parametrize("number", range(len(MANNERS)))
def test_every_manner_of_replying_makes_the_same_trace(
    place: Place, direct: Place, number: int
) -> None:
    place.server.reply = fixed(with_usage(MANNERS[number], number))
    place.read(place.answered(place.out("--limit", "2")))
    direct.run(limit=2)
    assert len(place.traces()) == 2
    assert place.digests() == direct.digests()


def fixed(reply: Reply) -> Callable[[Body], Reply]:
    """Always the same reply, but for the questions before a run."""
    return lambda body: answer(body) if "get_clock" in json.dumps(body) else reply


def test_emulated_calls_and_dropped_parameters_are_those_of_run(
    place: Place, direct: Place
) -> None:
    parameter, refusal = replies.REJECTED_PARAMETERS["temperature_openai"]
    place.server.rejects[parameter] = refusal
    place.server.reply = plain
    place.run(limit=1)  # asks the endpoint what it does
    lines = place.out()
    assert len(lines) == ASKED - 1
    assert not any("tools" in line["body"] or parameter in line["body"] for line in lines)
    place.read(place.answered(lines))
    direct.run()
    assert {trace.tool_mode for trace in place.traces()} == {"emulated"}
    assert all(trace.extra["flags"] == ["dropped:temperature"] for trace in place.traces())
    assert place.digests() == direct.digests()


def test_what_is_learnt_on_the_way_does_not_spoil_older_lines(place: Place) -> None:
    place.server.reply = plain
    old = place.answered(place.out())
    place.run(limit=1)
    new = place.answered(place.out())
    told = place.read([*old, *new])
    # One row was played; the rest was asked for twice, in two ways, and counts once.
    assert f"{ASKED - 1} ok; {ASKED} known already" in told
    assert len(place.traces()) == ASKED


def test_the_same_file_twice_changes_nothing(place: Place) -> None:
    results = place.answered(place.out())
    place.read(results)
    before = place.digests()
    told = place.read(results)
    assert f"nothing new; {ASKED} known already" in told
    assert place.digests() == before
    assert len(place.traces()) == ASKED


def test_a_part_now_and_the_rest_later_with_repeats(place: Place) -> None:
    place.server.reply = fixed(replies.text("Deep."))
    results = place.answered(place.out())
    told = place.read([*results[:4], results[2], results[0]])
    assert "4 ok" in told
    assert "2 repeat another line" in told
    assert {line["custom_id"] for line in place.out()} == {r["custom_id"] for r in results[4:]}
    assert f"{ASKED - 4} ok; 4 known already" in place.read(results)
    assert place.out() == []
    assert "nothing new" in place.run()
    assert place.server.count == 0


def test_the_file_knows_the_number_of_repeats(place: Place) -> None:
    place.server.reply = fixed(replies.text("Deep."))
    place.read(place.answered(place.out("--repeats", "3")))
    assert Counter(trace.repeat for trace in place.traces()) == dict.fromkeys(range(3), ASKED)


def test_lines_from_elsewhere_and_rubbish_are_counted(place: Place) -> None:
    results = place.answered(place.out())
    name = results[0]["custom_id"]
    rubbish = [
        "no json", "[]", "7", '{"custom_id": 4}', '{"custom_id": "mine-1"}', "{" * 5000,
        '{"response": {}}', {**results[0], "custom_id": name[:43] + "A" * 8 + name[51:]},
        {**results[0], "custom_id": "A" * 43 + name[43:]},
        {**results[0], "custom_id": "é" * 57 + "-0-0"},
    ]  # fmt: skip
    stale = {**results[0], "custom_id": name[:51] + "A" * 6 + name[57:]}
    told = place.read([*rubbish, stale])
    assert f"{len(rubbish) + 1} lines read" in told
    assert f"{len(rubbish)} belong to other tasks" in told
    assert "1 answer a request that is asked differently now" in told
    assert place.traces() == []


@pytest.mark.parametrize(
    "otherwise",
    [
        ("--condition", "x"),
        ("--seed", "7"),
        ("--temperature", "0.5"),
        ("--max-tokens", "99"),
        ("--endpoint", "other"),
    ],
    ids=lambda words: words[0],
)
def test_lines_of_another_manner_are_foreign(place: Place, otherwise: tuple[str, str]) -> None:
    told = place.read(place.answered(place.out()), *otherwise)
    assert f"{ASKED} belong to other tasks, another endpoint or manner" in told
    assert place.traces() == []


def test_what_was_not_answered_stays_owed(place: Place) -> None:
    place.server.reply = fixed(replies.text("Deep."))
    lines = place.out()
    results = place.answered(lines)
    expired = {"code": "batch_expired", "message": "late"}
    results[0] = {**results[0], "response": None, "error": expired}
    results[1] = result(lines[1], replies.rate_limited())
    results[2] = result(lines[2], replies.server_error(500))
    told = place.read(results)
    assert "3 were not answered and stay owed" in told
    assert "1 HTTP 429, 1 HTTP 500" in told
    assert f"{ASKED - 3} ok" in told
    assert {line["custom_id"] for line in place.out()} == {r["custom_id"] for r in results[:3]}


def test_a_failed_row_is_asked_for_again_and_its_old_line_does_no_harm(place: Place) -> None:
    lines = place.out()
    failed = [result(line, replies.OVERFLOWS["openai"]) for line in lines[:2]]
    place.read(failed)
    assert [trace.state for trace in place.traces()] == [RowState.INFRA_ERROR] * 2
    assert {str(t.error.kind) for t in place.traces() if t.error} == {"overflow"}
    assert "2 known already" in place.read(failed)
    place.server.reply = fixed(replies.text("Deep."))
    again = place.out()
    assert [line["custom_id"] for line in again] == [line["custom_id"] for line in lines]
    # Output and error files may be put together in any order: the good line wins.
    told = place.read([*failed, *place.answered(again)])
    assert f"{ASKED} ok" in told
    assert "2 repeat another line" in told
    assert "2 answer a rollout that was there already" in place.read(failed)
    assert Counter(trace.state for trace in place.traces()) == {"infra_error": 2, "ok": ASKED}


@pytest.mark.parametrize("name", ["two_step", "live_loop", "agent", "react_text"])
@pytest.mark.parametrize("option", ["--batch-out", "--batch-in"])
def test_protocols_of_several_requests_are_refused(place: Place, name: str, option: str) -> None:
    path = place.folder / "file.jsonl"
    done = place.cli(*place.words(protocol=name), option, str(path))
    assert done.code == 2
    assert done.sentence.startswith(f"protocol {name} may ask several times in one episode")
    assert "--protocol replay" in done.sentence
    assert not path.exists()


def test_options_and_files_that_cannot_be_are_told(place: Place) -> None:
    there = place.folder / "there.jsonl"
    there.write_text("mine", encoding="utf-8")
    file = str(there)
    for words, said in (
        (("--batch-out", file), "exists already"),
        (("--batch-out", str(place.folder / "no" / "such.jsonl")), "cannot write"),
        (("--batch-in", str(place.folder / "nothing.jsonl")), "cannot read"),
        (("--batch-out", "new.jsonl", "--batch-in", file), "--batch-out only writes"),
        (("--batch-out", "new.jsonl", "--label"), "--batch-out only writes"),
    ):
        done = place.cli(*place.words(), *words)
        assert (done.code, said in done.sentence) == (2, True), done.err
    assert there.read_text(encoding="utf-8") == "mine"
    assert not list(place.folder.glob("*.part"))


def test_results_may_be_labelled_at_once(place: Place) -> None:
    place.server.reply = fixed(replies.text("Deep."))
    told = place.read(place.answered(place.out()), "--label")
    assert "Labels for tool-failure" in told
    assert place.server.count == 0
