"""Batches at the fake server's Batch API: begun once, fetched whole, read into labels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import EndpointError, InputError
from labelkit.models import batch_api
from labelkit.store import Store
from labelkit.store.traces import add_traces
from labelkit.workflows.batch_in import read_verdicts
from labelkit.workflows.batch_jobs import fetch, submit
from labelkit.workflows.batch_out import write_requests
from tests.fake_server import FakeServer
from tests.workflows.test_batch import ASKED, settings  # noqa: F401 - a fixture
from tests.workflows.test_label import RUBRIC, trace


@pytest.fixture
def requests(tmp_path: Path, settings) -> Path:  # noqa: F811
    """Ten requests, as judge writes them."""
    path = tmp_path / "requests.jsonl"
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}", create=True) as store:
        add_traces(store, [trace(n) for n in range(ASKED)])
        write_requests(store, RUBRIC, settings, path)
    return path


@pytest.fixture
def endpoint(settings) -> Endpoint:  # noqa: F811
    return settings.endpoints["fake"]


def test_the_whole_way_with_a_part_that_expired(
    requests: Path,
    endpoint: Endpoint,
    settings,  # noqa: F811
    fake_server: FakeServer,
    tmp_path: Path,
) -> None:
    fake_server.batches.expire = 3
    (name,) = submit(requests, endpoint)
    results = tmp_path / "results.jsonl"
    early = fetch(requests, endpoint, results)
    assert [state.status for state in early.states] == ["in_progress"]
    assert (early.lines, results.exists()) == (0, False)
    done = fetch(requests, endpoint, results, wait=True, poll_s=0.01)
    assert [(s.id, s.status, s.done, s.failed) for s in done.states] == [
        (name, "completed", ASKED - 3, 3)
    ]
    assert done.lines == ASKED
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store:
        read = read_verdicts(store, RUBRIC, settings, results)
        assert read.tallies[0].labelled == ASKED - 3
        assert sum(read.unanswered.values()) == 3
        assert fetch(requests, endpoint, results).lines == ASKED
        again = read_verdicts(store, RUBRIC, settings, results)
        assert (again.tallies[0].labelled, again.known) == (0, ASKED - 3)


def test_nothing_is_submitted_twice(
    requests: Path, endpoint: Endpoint, fake_server: FakeServer
) -> None:
    (name,) = submit(requests, endpoint)
    with pytest.raises(InputError, match=f"was submitted already as {name}"):
        submit(requests, endpoint)
    requests.write_text(requests.read_text(encoding="utf-8") + "{}\n", encoding="utf-8")
    with pytest.raises(InputError, match="is not the file that"):
        submit(requests, endpoint)
    assert fake_server.batches.uploads == 1


def test_a_large_file_is_cut_and_goes_on_where_it_broke_off(
    requests: Path,
    endpoint: Endpoint,
    fake_server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch_api, "MAX_LINES", 4)
    ids = submit(requests, endpoint)
    assert len(ids) == 3
    sizes = [len(held.splitlines()) for held in fake_server.batches.files.values()]
    assert sizes == [4, 4, 2]
    note = requests.with_name("requests.jsonl.batches.json")
    kept = json.loads(note.read_text(encoding="utf-8"))
    kept["batches"] = kept["batches"][:1]
    note.write_text(json.dumps(kept), encoding="utf-8")
    assert submit(requests, endpoint)[0] == ids[0]
    assert fake_server.batches.uploads == 5
    done = fetch(requests, endpoint, tmp_path / "r.jsonl", wait=True, poll_s=0.01)
    assert (len(done.states), done.lines) == (3, ASKED)


def test_what_cannot_be_is_one_sentence(
    requests: Path, endpoint: Endpoint, tmp_path: Path, fake_server: FakeServer
) -> None:
    with pytest.raises(InputError, match="was not submitted"):
        fetch(requests, endpoint, tmp_path / "r.jsonl")
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    with pytest.raises(InputError, match="holds no requests"):
        submit(empty, endpoint)
    with pytest.raises(InputError, match=r"cannot read .*missing\.jsonl"):
        submit(tmp_path / "missing.jsonl", endpoint)
    elsewhere = endpoint.model_copy(update={"base_url": f"{endpoint.base_url}/nothing"})
    with pytest.raises(EndpointError, match=r"Batch API of endpoint 'fake' .*HTTP 404"):
        submit(requests, elsewhere)
    assert not requests.with_name("requests.jsonl.batches.json").exists()
    note = requests.with_name("requests.jsonl.batches.json")
    note.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="is not what `labelkit batch submit` wrote"):
        submit(requests, endpoint)
    assert fake_server.batches.uploads == 0


def test_a_key_is_sent_and_never_shown(
    requests: Path,
    endpoint: Endpoint,
    fake_server: FakeServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BATCH_KEY", "sk-very-secret")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    keyed = endpoint.model_copy(
        update={"api_key_env": "BATCH_KEY", "base_url": f"{endpoint.base_url}/nothing"}
    )
    with pytest.raises(EndpointError) as raised:
        submit(requests, keyed)
    assert "sk-very-secret" not in str(raised.value)
    sent = fake_server.other_requests[-1].headers
    assert sent["authorization"] == "Bearer sk-very-secret"
    assert "openai-organization" not in sent
