"""Judging by batch files: what goes out, and that nothing in a result file can do harm."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labelkit.domain.endpoint import Endpoint, Price
from labelkit.domain.label import Outcome
from labelkit.errors import InputError
from labelkit.settings import JudgeSettings, Settings
from labelkit.store import Store
from labelkit.store.completions import usage
from labelkit.store.labels import labels_of
from labelkit.store.reports import counts
from labelkit.store.traces import add_traces, rows
from labelkit.workflows.batch_in import BatchIn, read_verdicts
from labelkit.workflows.batch_out import write_requests
from labelkit.workflows.label import judge
from tests.fake_server import FakeServer, replies
from tests.fake_server.replies import Reply
from tests.workflows.test_label import RUBRIC, trace

ASKED = 10


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url, create=True) as opened:
        add_traces(opened, [trace(n) for n in range(ASKED)])
        yield opened


@pytest.fixture
def settings(make_endpoint: Callable[..., Endpoint]) -> Settings:
    endpoint = make_endpoint(name="fake", price=Price(input=1.0, output=2.0))
    judges = {"j": JudgeSettings(name="j", endpoint="fake")}
    return Settings(endpoints={"fake": endpoint}, judges=judges)


class Files:
    """Writes request files and runs them with the fake server's manners."""

    def __init__(self, store: Store, settings: Settings, folder: Path, server: FakeServer) -> None:
        self.store, self.settings, self.folder, self.server = store, settings, folder, server
        self.number = 0

    def out(self, **options: Any) -> list[dict[str, Any]]:
        """The request lines of what is owed."""
        self.number += 1
        path = self.folder / f"requests{self.number}.jsonl"
        sent = write_requests(self.store, RUBRIC, self.settings, path, **options)
        if not path.exists():
            assert sum(sent.written.values()) == 0
            return []
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert sum(sent.written.values()) == len(lines)
        return lines

    def answered(self, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What an engine makes of request lines."""
        return [result(line, self.server.decide_line(line["body"])) for line in lines]

    def read(self, results: list[Any]) -> BatchIn:
        """Read result lines; texts go into the file as they are."""
        self.number += 1
        path = self.folder / f"results{self.number}.jsonl"
        texts = [r if isinstance(r, str) else json.dumps(r) for r in results]
        path.write_text("\n".join(texts) + "\n", encoding="utf-8")
        return read_verdicts(self.store, RUBRIC, self.settings, path)


def result(line: dict[str, Any], reply: Reply) -> dict[str, Any]:
    """The result line of a reply."""
    response = {"status_code": reply.status, "request_id": "r1", "body": reply.body}
    return {"id": "b", "custom_id": line["custom_id"], "response": response, "error": None}


@pytest.fixture
def files(store: Store, settings: Settings, tmp_path: Path, fake_server: FakeServer) -> Files:
    return Files(store, settings, tmp_path, fake_server)


def bodies(fake_server: FakeServer) -> list[dict[str, Any]]:
    return [request.json for request in fake_server.requests]


def values(store: Store) -> dict[str, tuple[Any, ...]]:
    """What the labels of every trace say, apart from time and cost."""
    found = {}
    for row, _ in rows(store):
        (said,) = [label for label in labels_of(store, row.digest) if label.view]
        shown = {*type(said).model_fields} - {"created_at", "completion"}
        found[row.digest] = tuple(str(getattr(said, name)) for name in sorted(shown))
    return found


def test_the_lines_are_what_judge_would_send(
    files: Files, settings: Settings, store: Store, fake_server: FakeServer
) -> None:
    lines = files.out()
    assert len(lines) == ASKED
    assert fake_server.count == 0
    assert all(line["method"] == "POST" for line in lines)
    assert {line["url"] for line in lines} == {"/v1/chat/completions"}
    ids = [line["custom_id"] for line in lines]
    assert len(set(ids)) == ASKED
    assert all(len(name) <= 64 for name in ids)
    judge(store, RUBRIC, settings)
    sent = bodies(fake_server)[1:]  # the first one is the probe
    assert sorted(json.dumps(b, sort_keys=True) for b in sent) == sorted(
        json.dumps(line["body"], sort_keys=True) for line in lines
    )


def test_results_make_the_labels_that_judge_makes(
    files: Files, settings: Settings, store: Store, tmp_path: Path
) -> None:
    done = files.read(list(reversed(files.answered(files.out()))))
    (tally,) = done.tallies
    assert (tally.labelled, done.lines, done.foreign, done.known) == (ASKED, ASKED, 0, 0)
    by_file = values(store)
    with Store.open(f"sqlite:///{tmp_path / 'other.db'}", create=True) as other:
        add_traces(other, [trace(n) for n in range(ASKED)])
        judge(other, RUBRIC, settings)
        by_hand = values(other)
    # The marks around a trace's text are secret to a store, and with them the digest of a view.
    assert by_file.keys() == by_hand.keys()
    assert {v[0:4] for v in by_file.values()} == {v[0:4] for v in by_hand.values()}
    (spent,) = usage(store)
    assert (spent.exchanges, spent.accepted) == (ASKED, ASKED)
    assert spent.prompt_tokens == ASKED * 10
    assert spent.cost == pytest.approx(ASKED * (10 * 1.0 + 5 * 2.0) / 1e6)
    assert files.out() == []


def test_the_same_file_twice_changes_nothing(files: Files, store: Store) -> None:
    results = files.answered(files.out())
    files.read(results)
    before = counts(store)
    again = files.read(results)
    assert (again.known, again.tallies[0].labelled) == (ASKED, 0)
    assert counts(store) == before


def test_a_part_now_and_the_rest_later_with_repeats(files: Files) -> None:
    results = files.answered(files.out())
    first = files.read([*results[:4], results[2], results[0]])
    assert (first.tallies[0].labelled, first.repeated) == (4, 2)
    left = files.out()
    assert {line["custom_id"] for line in left} == {r["custom_id"] for r in results[4:]}
    rest = files.read(results)
    assert (rest.tallies[0].labelled, rest.known) == (6, 4)


def test_lines_from_elsewhere_and_rubbish_are_counted(files: Files, store: Store) -> None:
    results = files.answered(files.out())
    name = results[0]["custom_id"]
    other_rater = name[:43] + "A" * 8 + name[51:]
    other_trace = "A" * 43 + name[43:]
    other_request = name[:51] + "A" * 6 + name[57:]
    rubbish = [
        "no json", "[]", "7", '{"custom_id": 4}', '{"custom_id": "mine-1"}', "{" * 5000,
        '{"response": {}}', {**results[0], "custom_id": other_rater},
        {**results[0], "custom_id": other_trace}, {**results[0], "custom_id": "é" * 57 + "-0-0"},
    ]  # fmt: skip
    done = files.read([*rubbish, {**results[0], "custom_id": other_request}])
    assert (done.lines, done.foreign, done.stale) == (len(rubbish) + 1, len(rubbish), 1)
    assert done.tallies[0].labelled == 0
    assert counts(store).labels == 0


def test_what_was_not_answered_stays_owed(files: Files) -> None:
    lines = files.out()
    results = files.answered(lines)
    for place, error in enumerate([{"code": "batch_expired", "message": "late"}, None]):
        results[place] = {**results[place], "response": None, "error": error}
    results[2] = result(lines[2], replies.rate_limited())
    results[3] = result(lines[3], replies.server_error(500))
    done = files.read(results)
    assert sum(done.unanswered.values()) == 4
    assert done.unanswered["HTTP 429"] == done.unanswered["HTTP 500"] == 1
    assert done.tallies[0].labelled == ASKED - 4
    assert {line["custom_id"] for line in files.out()} == {r["custom_id"] for r in results[:4]}


def test_what_would_fail_again_is_a_failure_with_its_reason(files: Files, store: Store) -> None:
    lines = files.out()
    results = files.answered(lines)
    odd = [
        replies.OVERFLOWS["openai"], replies.filtered_choice(), replies.empty_choices(),
        replies.truncated(), replies.text("I would say rude."), replies.refusal(),
        replies.error(400, "messages: expected an array"),
    ]  # fmt: skip
    reasons = ["overflow", "filtered", "transport", "truncated", "parse", "refusal", "rejected"]
    for place, reply in enumerate(odd):
        shown = Reply({**reply.body, "usage": None}, reply.status)
        results[place] = result(lines[place], shown)
    done = files.read(results)
    assert dict(done.tallies[0].failed) == dict.fromkeys(reasons, 1)
    assert done.tallies[0].labelled == ASKED - len(odd)
    failed = [
        label
        for row, _ in rows(store)
        for label in labels_of(store, row.digest)
        if label.outcome is Outcome.FAILED
    ]
    assert sorted(str(label.reason) for label in failed) == sorted(reasons)
    assert usage(store)[0].cost is None  # a reply without usage has no known cost
    assert files.out() == []
    again = files.out(retry_failed=True)
    assert len(again) == len(odd)
    assert all(line["custom_id"].endswith("-0-1") for line in again)
    limits = sorted(line["body"]["max_tokens"] for line in again)
    # What was cut off is asked for with twice the room, everything else as before.
    assert limits[-1] == 2 * limits[0]
    assert limits[-2] == limits[0]
    mended = files.read(files.answered(again))
    assert mended.tallies[0].labelled == len(odd)


def test_a_good_line_wins_over_a_failed_one_of_the_same_row(files: Files) -> None:
    """Output and error files may be put together in any order."""
    lines = files.out()
    failed = result(lines[0], replies.OVERFLOWS["openai"])
    done = files.read([failed, *files.answered(lines)])
    assert (done.tallies[0].labelled, done.repeated) == (ASKED, 1)
    assert not done.tallies[0].failed


def test_replies_in_the_store_are_not_asked_for_again(
    files: Files, settings: Settings, store: Store, tmp_path: Path, fake_server: FakeServer
) -> None:
    """A judge of the same requests under another name: its labels come from the cache."""
    files.read(files.answered(files.out()))
    renamed = Settings(
        endpoints=settings.endpoints, judges={"k": JudgeSettings(name="k", endpoint="fake")}
    )
    sent = write_requests(store, RUBRIC, renamed, tmp_path / "more.jsonl")
    assert (sent.cached, sum(sent.written.values())) == (ASKED, 0)
    assert not (tmp_path / "more.jsonl").exists()
    assert fake_server.count == 0
    assert counts(store).labels == 2 * ASKED


def test_changed_questions_make_old_results_foreign(files: Files, store: Store) -> None:
    results = files.answered(files.out())
    path = files.folder / "old.jsonl"
    path.write_text("\n".join(json.dumps(r) for r in results), encoding="utf-8")
    changed = RUBRIC.model_copy(update={"version": "2.0.0"})
    done = read_verdicts(store, changed, files.settings, path)
    assert (done.foreign, counts(store).labels) == (ASKED, 0)


def test_a_file_is_never_overwritten_and_a_missing_one_is_named(
    files: Files, store: Store, settings: Settings, tmp_path: Path
) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=r"there\.jsonl exists already"):
        write_requests(store, RUBRIC, settings, there)
    assert there.read_text(encoding="utf-8") == "mine"
    with pytest.raises(InputError, match=r"cannot read .*nothing\.jsonl"):
        read_verdicts(store, RUBRIC, settings, tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="cannot write"):
        write_requests(store, RUBRIC, settings, tmp_path / "no" / "such.jsonl")


def test_what_an_endpoint_is_known_to_refuse_is_left_out(
    files: Files, settings: Settings, store: Store, fake_server: FakeServer
) -> None:
    parameter, refusal = replies.REJECTED_PARAMETERS["temperature_openai"]
    fake_server.rejects[parameter] = refusal
    judge(store, RUBRIC, settings, limit=1)
    lines = files.out()
    assert len(lines) == ASKED - 1
    assert all("temperature" not in line["body"] for line in lines)
