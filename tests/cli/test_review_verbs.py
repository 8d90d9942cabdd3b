from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labelkit.cli.main import cli
from labelkit.errors import InputError, StoreError
from labelkit.stats.undefined import as_json
from labelkit.store import Store
from labelkit.store.raters import add_rubric
from labelkit.store.traces import add_traces
from labelkit.workflows.review import live, people
from labelkit.workflows.setup import init
from tests.workflows.review import desk


def run(folder: Path, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> str:
    result = CliRunner().invoke(
        cli, [*words, "--in", str(folder)], input=stdin, env=env, catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    init(tmp_path)
    return tmp_path


@pytest.fixture
def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'labelkit.db'}"


def rubric_folder(folder: Path) -> str:
    """A rubric of three labels, as a user would write it."""
    place = folder / "mine"
    place.mkdir()
    (place / "rubric.yaml").write_text(
        """\
name: mine
version: "1.0.0"
title: Mine
source: tests
guideline: guideline.md
questions:
  - id: q
    type: choice
    text: Which?
    labels:
      - {name: good, title: Good, key: "1", include: all good}
      - {name: bad, title: Bad, key: "2", include: all bad}
""",
        encoding="utf-8",
    )
    (place / "guideline.md").write_text("Read.\n", encoding="utf-8")
    return str(place)


def test_the_first_admin_comes_from_the_command_line(folder: Path, url: str) -> None:
    assert "make the first admin" in run(folder, "people", "list")
    said = run(
        folder,
        "people",
        "add",
        "Ana",
        "--role",
        "admin",
        "--passphrase-stdin",
        stdin="correct horse\n",
    )
    assert said == "added Ana as admin\n"
    run(folder, "people", "add", "bo", env={"LABELKIT_PASSPHRASE": "battery staple"})
    run(folder, "people", "add", "cy", "--subject", "cy@example.org")
    listed = json.loads(run(folder, "people", "list", "--json"))
    assert [(p["name"], p["role"], p["has_passphrase"]) for p in listed] == [
        ("Ana", "admin", True),
        ("bo", "annotator", True),
        ("cy", "annotator", False),
    ]
    assert "argon2" not in run(folder, "people", "list") + json.dumps(listed)
    run(folder, "people", "role", "BO", "adjudicator")
    run(folder, "people", "retire", "cy")
    with Store.open(url) as store:
        assert people.sign_in(store, "ana", "correct horse").role == "admin"
        assert people.person_named(store, "bo").role == "adjudicator"
        assert people.person_named(store, "cy").retired
    run(folder, "people", "passphrase", "ana", "--passphrase-stdin", stdin="another one\n")
    with Store.open(url) as store:
        assert people.sign_in(store, "ana", "another one").name == "Ana"
        with pytest.raises(people.SignInError):
            people.sign_in(store, "ana", "correct horse")


def test_a_passphrase_is_never_an_argument(folder: Path) -> None:
    for words in (("people", "add", "x", "--passphrase", "secret123"), ("people", "add", "x", "y")):
        assert CliRunner().invoke(cli, [*words, "--in", str(folder)]).exit_code != 0
    with pytest.raises(InputError, match="no terminal"):
        run(folder, "people", "add", "x")


def test_a_sample_is_planned_drawn_once_and_listed(folder: Path, url: str) -> None:
    with Store.open(url) as store:
        add_traces(store, [desk.trace(k) for k in range(60)])
    words = (
        "sample",
        "--rubric",
        rubric_folder(folder),
        "--margin",
        "0.1",
        "--strata",
        "model,domain",
    )
    planned = run(folder, *words, "--plan")
    # Cochran: 96.04 / (1 + 95.04 / 60) = 37.2, so 38 of 60 rows by two people.
    assert planned.startswith("38 of 60 rows")
    assert "76 labels by people" in planned
    assert "no sample yet" in run(folder, "sample", "list")
    assert "drawn: sample" in run(folder, *words)
    again = run(folder, *words)
    assert "was drawn before" in again
    (listed,) = json.loads(run(folder, "sample", "list", "--json"))
    assert listed["id"][:12] in again
    assert listed["design"]["n"] == 38
    assert sum(part["n"] for part in listed["design"]["drawn"]) == 38
    assert "mine 1.0.0" in run(folder, "sample", "list")


def test_agree_of_a_sample_that_nobody_labelled_is_one_line(folder: Path, url: str) -> None:
    with Store.open(url) as store:
        desk.fill(store, 6)
        add_rubric(store, desk.rubric())
        sample = desk.drawn(store, 4)
    said = run(folder, "agree", "--sample", sample.id[:12])
    assert said == "nobody has labelled yet; `labelkit app`\n"
    asked = json.loads(run(folder, "agree", "--sample", sample.id[:12], "--json"))
    assert asked["source"]["n"] == 4
    assert asked["groups"]


def test_agree_of_a_sample_is_what_the_app_shows(folder: Path, url: str) -> None:
    with Store.open(url) as store:
        traces = desk.fill(store, 8)
        add_rubric(store, desk.rubric())
        boss = desk.person(store, "boss", people.Role.ADMIN)
        sample = desk.drawn(store, 8)
        for name, every in (("ana", 2), ("bo", 3)):
            values = {t.digest: "bad" if k % every else "good" for k, t in enumerate(traces)}
            desk.label_all(store, desk.person(store, name), sample, values)
        shown = as_json(live.agreement(store, boss, sample.id).groups)
    said = json.loads(run(folder, "agree", "--sample", sample.id[:12], "--json"))
    assert said["groups"] == json.loads(json.dumps(shown))
    assert said["source"]["sample"] == sample.id
    text = run(folder, "agree", "--sample", sample.id[:12])
    assert text.startswith(f"sample {sample.id[:12]} of r 1, 8 items: agreement of the people")
    assert "8 items, 2 raters, 16 ratings" in text
    with pytest.raises(StoreError, match="no sample"):
        run(folder, "agree", "--sample", "ffff")
    with pytest.raises(InputError, match="not both"):
        run(folder, "agree", "--sample", "ffff", "--rubric", "tool-failure")
