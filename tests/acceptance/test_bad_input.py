"""Wrong invocations and files: each ends in one clear sentence and exit code 2, nothing is lost."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.acceptance.conftest import Workplace
from tests.acceptance.inprocess import Cli, Outcome, cli
from tests.fake_server import FakeServer, replies

__all__ = ["cli"]

TRACES = 3


@dataclass
class Place:
    """A folder in good order: settings, a rubric, traces, a store with labels by the rule."""

    folder: Path
    server: FakeServer
    work: Workplace

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def write(self, name: str, text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        (self / name).write_bytes(data)

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self / name).read_text(encoding="utf-8")
        assert old in text
        (self / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    def endpoint(self, **fields: object) -> None:
        self.work.configure(fields.pop("base_url", self.server.base_url), **fields)

    def settings(self, **sections: object) -> None:
        known = json.loads((self / "labelkit.yaml").read_text(encoding="utf-8"))
        self.write("labelkit.yaml", json.dumps({**known, **sections}))

    def store(self, url: str) -> None:
        self.settings(store=url)


def rows_in(store: Path) -> dict[str, int]:
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for name in ("trace", "label", "task")
        }


@pytest.fixture
def place(make_workplace, cli: Cli, fake_server: FakeServer) -> Place:
    work = make_workplace(fake_server.base_url)
    work.write_traces(TRACES)
    for words in (
        ("init",),
        ("import", "traces.jsonl"),
        ("judge", "--rubric", "politeness", "--rule-only"),
    ):
        done = cli(*words)
        assert done.code == 0, done.err
    return Place(work.folder, fake_server, work)


@dataclass(frozen=True)
class Case:
    """``words`` are run after ``arrange``; the sentence must hold every text of ``says``."""

    name: str
    words: str
    says: tuple[str, ...]
    arrange: Callable[[Place], object] = field(default=lambda place: None)


def foreign(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE task (id INTEGER)")
        connection.commit()


def newer(place: Place) -> None:
    shutil.copy(place / "labelkit.db", place / "newer.db")
    with contextlib.closing(sqlite3.connect(place / "newer.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    place.store("sqlite:///newer.db")


JUDGE = "judge --rubric politeness"
REPORT = "report --rubric politeness"
YAML = "labelkit.yaml"
RUBRIC = "politeness/rubric.yaml"

SETTINGS = [
    Case(
        "no settings",
        REPORT,
        ("no labelkit.yaml in", "labelkit init"),
        lambda p: (p / YAML).unlink(),
    ),
    Case("no such folder", f"{REPORT} --in nowhere", ("nowhere", "labelkit init")),
    Case(
        "broken yaml",
        REPORT,
        ("labelkit.yaml:2", "mapping"),
        lambda p: p.write(YAML, "store: x\n  y: [\n"),
    ),
    Case(
        "duplicate key",
        REPORT,
        ("labelkit.yaml:2", "'store'", "twice", "keep one"),
        lambda p: p.write(YAML, "store: sqlite:///a.db\nstore: sqlite:///b.db\n"),
    ),
    Case(
        "unknown key",
        REPORT,
        ("labelkit.yaml:1", "unknown key 'stroe'", "did you mean 'store'?"),
        lambda p: p.write(YAML, "stroe: sqlite:///a.db\n"),
    ),
    Case(
        "empty settings", REPORT, ("labelkit.yaml", "empty", "fill in"), lambda p: p.write(YAML, "")
    ),
    Case(
        "settings that are a list",
        REPORT,
        ("labelkit.yaml:1", "mapping of keys", "start with"),
        lambda p: p.write(YAML, "- a\n"),
    ),
    Case(
        "settings in Latin-1",
        REPORT,
        ("labelkit.yaml:1", "not UTF-8", "save it as UTF-8"),
        lambda p: p.write(YAML, b"store: caf\xe9\n"),
    ),
    Case(
        "judge with an unknown endpoint",
        JUDGE,
        ("there is no endpoint 'fakk'", "did you mean 'fake'?"),
        lambda p: p.settings(judges={"j": {"endpoint": "fakk"}}),
    ),
    Case(
        "endpoint without base_url",
        JUDGE,
        ("endpoint 'fake' has no base_url", "add `base_url:"),
        lambda p: p.settings(endpoints={"fake": {"model": "m"}}),
    ),
    Case(
        "endpoint without a model",
        JUDGE,
        ("'endpoints.fake.model' is missing", "add `model:"),
        lambda p: p.settings(endpoints={"fake": {"base_url": "http://127.0.0.1:9/v1"}}),
    ),
    Case(
        "no repeats in the settings",
        JUDGE,
        ("judges.j.repeats", "greater than or equal to 1"),
        lambda p: p.settings(judges={"j": {"endpoint": "fake", "repeats": 0}}),
    ),
    Case(
        "base_url that is no address",
        JUDGE,
        ("endpoint 'fake'", "is no http(s) address", "such as http://"),
        lambda p: p.endpoint(base_url="localhost:8000"),
    ),
    Case(
        "base_url with the path of a request",
        JUDGE,
        ("ends in /chat/completions", "leave that part out"),
        lambda p: p.endpoint(base_url="http://127.0.0.1:9/v1/chat/completions"),
    ),
]

RUBRICS = [
    Case(
        "unknown rubric",
        "report --rubric tool-failur",
        ("no rubric 'tool-failur'", "did you mean 'tool-failure'?"),
    ),
    Case(
        "rubric that is a file",
        "report --rubric traces.jsonl",
        ("no rubric 'traces.jsonl'", "this file is no rubric.yaml", "give the path"),
    ),
    Case(
        "rubric folder without rubric.yaml",
        "report --rubric politeness",
        ("this folder holds no rubric.yaml", "give the path"),
        lambda p: (p / RUBRIC).unlink(),
    ),
    Case(
        "rate with an unknown label",
        REPORT,
        ("rubric.yaml:", "'rood'", "rude"),
        lambda p: p.edit(RUBRIC, "labels: [rude]", "labels: [rood]"),
    ),
    Case(
        "template variable that nothing fills",
        REPORT,
        ("plain.md:1", "rubrik", "rubric"),
        lambda p: p.edit("politeness/plain.md", "rubric.title", "rubrik.title"),
    ),
    Case(
        "template that does not end",
        REPORT,
        ("plain.md:", ";"),
        lambda p: p.edit("politeness/plain.md", "{% endfor %}{% endfor %}", "{% endfor %}"),
    ),
    Case(
        "label `no` without quotes",
        REPORT,
        ("rubric.yaml:", "read as true or false", 'quote it: "no"'),
        lambda p: p.edit(RUBRIC, "{name: rude", "{name: no"),
    ),
    Case(
        "template that is not there",
        REPORT,
        ("rubric.yaml:", "'plane.md' does not exist", "name a Markdown file"),
        lambda p: p.edit(RUBRIC, "template: plain.md", "template: plane.md"),
    ),
    Case(
        "template outside the folder",
        REPORT,
        ("'../secret.md'", "outside the rubric's folder"),
        lambda p: p.edit(RUBRIC, "template: plain.md", "template: ../secret.md"),
    ),
    Case(
        "two labels on one key",
        REPORT,
        ("rubric.yaml:", "key", "'p'"),
        lambda p: p.edit(RUBRIC, "key: r", "key: p"),
    ),
    Case(
        "unknown rule",
        JUDGE,
        ("'fakts'", "facts"),
        lambda p: p.edit(RUBRIC, "rule: facts", "rule: fakts"),
    ),
    Case(
        "two rubrics of one name",
        "report --rubric tool-failure",
        ("two rubrics are called 'tool-failure'", "./tool-failure"),
        lambda p: shutil.copytree(p / "politeness", p / "tool-failure"),
    ),
]

FILES = [
    Case(
        "missing file",
        "import nowhere.jsonl",
        ("nowhere.jsonl does not exist", "name a trace or task file"),
    ),
    Case("empty file", "import x", ("x is empty", "expected JSON"), lambda p: p.write("x", "")),
    Case(
        "folder",
        "import politeness",
        ("no file in the folder is in a known format", "politeness/rubric.yaml"),
    ),
    Case(
        "broken JSON",
        "import x",
        ("x", "not valid JSON", "no format can read it as it is"),
        lambda p: p.write("x", '{"messages": [\n'),
    ),
    Case(
        "binary",
        "import x",
        ("x is a binary file", "expected JSON"),
        lambda p: p.write("x", bytes(range(256)) * 9),
    ),
    Case(
        "gzip",
        "import x.gz",
        ("x.gz is gzip", "gunzip"),
        lambda p: p.write("x.gz", gzip.compress(b"{}")),
    ),
    Case(
        "zip",
        "import x.zip",
        ("x.zip is a zip archive", "unpack it first"),
        lambda p: p.write("x.zip", b"PK\x03\x04" + b"x" * 99),
    ),
    Case(
        "Parquet",
        "import x.parquet",
        ("is a damaged Parquet file", "write it again"),
        lambda p: p.write("x.parquet", b"PAR1" + b"x" * 99),
    ),
    Case(
        "the store itself",
        "import labelkit.db",
        ("is an SQLite database", "name a trace or task file"),
    ),
    Case(
        "prose",
        "import x.txt",
        ("x.txt is in no known format", "`labelkit import --help`"),
        lambda p: p.write("x.txt", "Dear diary"),
    ),
    Case(
        "JSON of something else",
        "import x.json",
        ("no known format", "'colour'", "`labelkit import --help`"),
        lambda p: p.write("x.json", '{"colour": "red"}'),
    ),
    Case(
        "wrong --format",
        "import traces.jsonl --format tau-bench",
        ("traces.jsonl", "tau-bench", "--format"),
    ),
    Case(
        "unknown --format", "import traces.jsonl --format csv", ("no format 'csv'", "openai-chat")
    ),
    Case(
        "Latin-1",
        "import x.jsonl",
        ("not UTF-8", "iconv"),
        lambda p: p.write("x.jsonl", '{"messages": "é"}'.encode("latin-1")),
    ),
    Case(
        "UTF-16",
        "import x.jsonl",
        ("is UTF-16", "iconv"),
        lambda p: p.write("x.jsonl", '{"messages": []}'.encode("utf-16")),
    ),
    Case(
        "a file that may not be a name",
        "import x" + "y" * 300,
        ("cannot be read", "check its name"),
    ),
]


def broken_gguf(place: Place) -> None:
    place.write("broken.gguf", b"GGUF\x03\x00\x00\x00" + bytes(range(256)) * 40)
    path = str(place / "broken.gguf")
    place.settings(endpoints={"fake": {"engine": "local", "model": "m", "model_path": path}})


ENDPOINTS = [
    Case("a GGUF that is damaged", JUDGE, ("broken.gguf", "GGUF"), broken_gguf),
    Case(
        "dead endpoint",
        JUDGE,
        ("endpoint 'fake' at http://127.0.0.1:9/v1", "no connection", "start the server"),
        lambda p: p.endpoint(base_url="http://127.0.0.1:9/v1"),
    ),
    Case(
        "unknown host",
        JUDGE,
        ("no-such-host.invalid", "correct its base_url"),
        lambda p: p.endpoint(base_url="http://no-such-host.invalid/v1"),
    ),
    Case(
        "no key where one is needed",
        JUDGE,
        ("HTTP 401", "api_key_env"),
        lambda p: setattr(p.server, "api_key", "right"),
    ),
    Case(
        "unknown model",
        JUDGE,
        ("HTTP 404", "check its base_url and the model name 'nope'"),
        lambda p: (setattr(p.server, "strict_model", True), p.endpoint(model="nope")),
    ),
    Case(
        "no money",
        JUDGE,
        ("HTTP 402", "no credit", "run again"),
        lambda p: setattr(
            p.server, "reply", lambda body: replies.error(402, "You have no credit left.")
        ),
    ),
    Case(
        "no quota",
        JUDGE,
        ("HTTP 429", "run again"),
        lambda p: setattr(p.server, "reply", lambda body: replies.quota_exhausted()),
    ),
    Case(
        "forbidden",
        JUDGE,
        ("HTTP 403", "key"),
        lambda p: setattr(p.server, "reply", lambda body: replies.FORBIDDEN),
    ),
    Case(
        "web page",
        JUDGE,
        ("endpoint 'fake'", "HTTP 200", "not JSON", "check that its base_url"),
        lambda p: setattr(p.server, "reply", lambda body: replies.html_page()),
    ),
    Case(
        "redirect",
        JUDGE,
        ("HTTP 301", "redirects elsewhere", "write the final address"),
        lambda p: setattr(
            p.server,
            "reply",
            lambda body: replies.error(301, "moved").with_headers(
                location="https://elsewhere.invalid/"
            ),
        ),
    ),
    Case(
        "missing key variable",
        JUDGE,
        ("LABELKIT_NO_SUCH_KEY", "is not set", "export it"),
        lambda p: p.endpoint(api_key_env="LABELKIT_NO_SUCH_KEY"),
    ),
    Case("unknown judge", f"{JUDGE} --judge jj", ("no judge 'jj'", "configured judges: j")),
    Case(
        "unknown framing",
        JUDGE,
        ("judge 'j'", "framing 'fancy'", "its framings are: plain"),
        lambda p: p.settings(judges={"j": {"endpoint": "fake", "framings": ["fancy"]}}),
    ),
    Case(
        "a model that judges itself",
        JUDGE,
        ("judge 'j'", "a model must not grade itself", "allow_self_judging"),
        lambda p: p.endpoint(model="agent"),
    ),
    Case(
        "GGUF that is not there",
        JUDGE,
        ("nowhere.gguf", "models"),
        lambda p: p.settings(
            endpoints={"fake": {"engine": "local", "model": "m", "model_path": "nowhere.gguf"}}
        ),
    ),
    Case(
        "model file that is no GGUF",
        JUDGE,
        ("traces.jsonl", "GGUF"),
        lambda p: p.settings(
            endpoints={
                "fake": {"engine": "local", "model": "m", "model_path": str(p / "traces.jsonl")}
            }
        ),
    ),
]

STORES = [
    Case(
        "store that is not there",
        REPORT,
        ("other.db", "labelkit init"),
        lambda p: p.store("sqlite:///other.db"),
    ),
    Case(
        "store that is a folder",
        REPORT,
        ("politeness is a folder", "expected the file of a labelkit store"),
        lambda p: p.store("sqlite:///politeness"),
    ),
    Case(
        "store that is a text file",
        REPORT,
        ("traces.jsonl is not a labelkit store", "labelkit init"),
        lambda p: p.store("sqlite:///traces.jsonl"),
    ),
    Case(
        "store that is an empty file",
        REPORT,
        ("none.db holds no labelkit store", "labelkit init"),
        lambda p: (p.write("none.db", ""), p.store("sqlite:///none.db")),
    ),
    Case(
        "store of another program",
        "init",
        ("tables of another program", "choose another"),
        lambda p: (foreign(p / "foreign.db"), p.store("sqlite:///foreign.db")),
    ),
    Case(
        "store of a newer labelkit",
        REPORT,
        ("schema version 9999", "upgrade labelkit"),
        newer,
    ),
    Case(
        "unreachable PostgreSQL",
        REPORT,
        ("postgresql://me@127.0.0.1:9/db cannot be reached", "check host and port"),
        lambda p: p.store("postgresql://me@127.0.0.1:9/db"),
    ),
    Case(
        "unknown scheme",
        REPORT,
        ("unknown scheme 'mysql'", "expected sqlite:///FILE"),
        lambda p: p.store("mysql://me@127.0.0.1/db"),
    ),
    Case(
        "store that is no URL",
        REPORT,
        ("'labelkit.db' cannot be read", "expected sqlite:///FILE"),
        lambda p: p.store("labelkit.db"),
    ),
    Case(
        "store in memory",
        REPORT,
        ("names no file", "expected sqlite:///FILE"),
        lambda p: p.store("sqlite://"),
    ),
]

WORDS = [
    Case(
        "unknown verb",
        "jugde --rubric politeness",
        ("'jugde'", "did you mean 'judge'?", "labelkit --help"),
    ),
    Case(
        "unknown option",
        "judge --rubrik politeness",
        ("--rubrik", "did you mean '--rubric'?", "labelkit judge --help"),
    ),
    Case("missing option", "judge", ("--rubric", "labelkit judge --help")),
    Case("missing argument", "import", ("PATHS", "labelkit import --help")),
    Case("--limit 0", f"{JUDGE} --limit 0", ("--limit", "0", "judge --help")),
    Case("--limit many", f"{JUDGE} --limit many", ("--limit", "'many'", "judge --help")),
    Case(
        "--repeats 0",
        "run --tasks tool-failure-mini --endpoint fake --repeats 0",
        ("--repeats", "0", "run --help"),
    ),
    Case(
        "--max-tokens 0",
        "run --tasks tool-failure-mini --endpoint fake --max-tokens 0",
        ("--max-tokens", "0", "run --help"),
    ),
    Case(
        "unknown rater", f"{REPORT} --rater nobody", ("no rater 'nobody'", "choose one of: facts")
    ),
    Case(
        "unknown question", f"{REPORT} --question why", ("no question 'why'", "choose one of: tone")
    ),
    Case("unknown tag", f"{REPORT} --by planet", ("tag 'planet'", "known are:", "model")),
    Case(
        "unknown task set",
        "run --tasks tool-failure-min --endpoint fake",
        ("no task set 'tool-failure-min'", "did you mean 'tool-failure-mini'?"),
    ),
    Case(
        "unknown endpoint",
        "run --tasks tool-failure-mini --endpoint fakk",
        ("no endpoint 'fakk'", "configured endpoints: fake"),
    ),
    Case("unknown model to fetch", "models fetch nothing-known", ("nothing-known", "--url")),
    Case(
        "init in a folder that is not there",
        "init --in nowhere",
        ("nowhere does not exist", "make it first"),
    ),
    Case(
        "demo in a place that is a file",
        "demo --in traces.jsonl",
        ("cannot write to traces.jsonl", "--in"),
    ),
    Case(
        "unknown rubric command",
        "rubric chek politeness",
        ("'chek'", "did you mean 'check'", "labelkit rubric --help"),
    ),
]

CASES = [*SETTINGS, *RUBRICS, *FILES, *ENDPOINTS, *STORES, *WORDS]


def check(outcome: Outcome, says: tuple[str, ...]) -> None:
    assert outcome.code == 2, (outcome.err, outcome.out)
    sentence = outcome.sentence
    for text in says:
        assert text in sentence, sentence
    assert not re.search(r"[.!?] [A-Z]", sentence), f"more than one sentence: {sentence}"
    assert len(sentence) <= 500, f"too long to be read: {sentence}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_sentence_exit_code_2_and_nothing_lost(case: Case, place: Place, cli: Cli) -> None:
    before = rows_in(place / "labelkit.db")
    assert before == {"trace": TRACES, "label": TRACES, "task": 0}
    case.arrange(place)
    check(cli(*case.words.split()), case.says)
    after = rows_in(place / "labelkit.db")
    assert all(after[name] >= before[name] for name in before)
    assert after["label"] == before["label"]


def test_names_differ() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40


def test_files_before_a_bad_one_are_kept(place: Place, cli: Cli) -> None:
    place.work.write_traces(TRACES + 2, "more.jsonl")
    check(cli("import", "more.jsonl", "nowhere.jsonl"), ("nowhere.jsonl does not exist",))
    assert rows_in(place / "labelkit.db")["trace"] == TRACES + 2


def test_a_wrong_key_is_named_by_its_variable_and_never_shown(
    place: Place, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.server.api_key = "right"
    monkeypatch.setenv("LABELKIT_TEST_KEY", "sk-secret-and-wrong")
    place.server.reply = None
    place.endpoint(api_key_env="LABELKIT_TEST_KEY")
    outcome = cli("judge", "--rubric", "politeness")
    check(outcome, ("HTTP 401", "check the key in LABELKIT_TEST_KEY"))
    assert "sk-secret" not in outcome.err + outcome.out


def test_an_endpoint_that_dies_keeps_what_was_finished(place: Place, cli: Cli) -> None:
    """The key is withdrawn after two rows: two labels stay and only the third is asked again."""
    place.endpoint(max_concurrency=1)
    judged = 0

    def until_withdrawn(body: dict) -> replies.Reply | None:
        nonlocal judged
        judged += 1
        return replies.UNAUTHORIZED if judged > 3 else None  # the first is the probe

    place.server.reply = until_withdrawn
    check(cli("judge", "--rubric", "politeness"), ("HTTP 401", "api_key_env"))
    assert rows_in(place / "labelkit.db")["label"] == TRACES + 2
    place.server.reset()
    assert cli("judge", "--rubric", "politeness").code == 0
    assert place.server.count == 1
    assert rows_in(place / "labelkit.db")["label"] == 2 * TRACES


# -- the disk ------------------------------------------------------------------------------------


@contextlib.contextmanager
def mounted(kind: str, at: Path, *options: str) -> Iterator[None]:
    """Mount something for the time of a block; skips where that is not allowed."""
    done = subprocess.run(
        ["mount", *options, kind, str(at)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"needs the right to mount ({done.stderr.strip()})")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)


def big_traces(path: Path, number: int) -> None:
    noise = [os.urandom(8000).hex() for _ in range(number)]
    lines = [
        json.dumps({"model": "agent", "messages": [{"role": "assistant", "content": text}]})
        for text in noise
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.skipif(not shutil.which("mount"), reason="needs mount")
def test_a_full_disk(place: Place, cli: Cli) -> None:
    small = place / "small"
    small.mkdir()
    with mounted("tmpfs", small, "-t", "tmpfs", "-o", "size=600k"):
        shutil.copy(place / "labelkit.db", small / "labelkit.db")
        place.store("sqlite:///small/labelkit.db")
        big_traces(place / "big.jsonl", 60)
        check(
            cli("import", "big.jsonl"), ("the disk that holds the store", "full", "free some space")
        )
        assert rows_in(small / "labelkit.db")["trace"] >= TRACES
        assert rows_in(small / "labelkit.db")["label"] == TRACES
        assert cli("report", "--rubric", "politeness").code == 0


@pytest.mark.skipif(not shutil.which("mount"), reason="needs mount")
def test_a_read_only_store(place: Place, cli: Cli) -> None:
    kept = place / "kept"
    kept.mkdir()
    shutil.copy(place / "labelkit.db", kept / "labelkit.db")
    with mounted(str(kept), kept, "--bind"):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(kept)], check=True)
        place.store("sqlite:///kept/labelkit.db")
        place.work.write_traces(TRACES + 2, "more.jsonl")
        for words in (("import", "more.jsonl"), ("judge", "--rubric", "politeness")):
            check(cli(*words), ("kept/labelkit.db", "permissions"))
    assert rows_in(kept / "labelkit.db") == rows_in(place / "labelkit.db")


# -- real processes ------------------------------------------------------------------------------


def test_the_real_program_says_it_the_same_way(place: Place) -> None:
    done = place.work.run("report", "--rubric", "nonsense")
    check(Outcome(done.returncode, done.stdout, done.stderr), ("no rubric 'nonsense'",))


def test_a_reader_that_goes_away_is_no_error(place: Place) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        run = subprocess.Popen(
            place.work.command("report", "--rubric", "politeness"),
            cwd=place.folder,
            stdout=pipe,
            stderr=subprocess.PIPE,
        )
    _, said = run.communicate(timeout=60)
    assert (run.returncode, said) == (0, b"")


def test_ctrl_c_says_how_to_go_on_and_keeps_finished_rows(place: Place) -> None:
    place.work.write_traces(200, "more.jsonl")
    place.work.done("import", "more.jsonl")
    place.endpoint(max_concurrency=2)
    place.server.latency_s = 0.02
    run = place.work.start("judge", "--rubric", "politeness")
    place.server.wait_for(40, timeout_s=60)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130, said
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("labelkit: interrupted; what was committed is kept")
    kept = rows_in(place / "labelkit.db")["label"] - 200
    # All but the probe and the rows in flight.
    assert place.server.count - 1 - 2 <= kept < 200
    asked = place.server.count
    place.work.done("judge", "--rubric", "politeness")
    assert rows_in(place / "labelkit.db")["label"] == 400
    assert place.server.count - asked == 200 - kept
