"""Every verb explains itself; what the documents tell people to type exists; output is clean."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from labelkit.cli import console
from labelkit.cli.main import VERBS
from labelkit.cli.main import cli as program
from tests.acceptance.conftest import Workplace, make_workplace
from tests.acceptance.inprocess import Cli, cli
from tests.fake_server import FakeServer

__all__ = ["cli", "make_workplace"]

ROOT = Path(__file__).resolve().parents[2]
MARKUP = "[red]x[/red]"


def commands(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command below a group, with the words that name it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


ALL = dict(commands(program))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_names_every_option_and_what_it_is_for(words: tuple[str, ...], cli: Cli) -> None:
    done = cli(*words, "--help")
    assert done.code == 0, done.err
    command = ALL[words]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert all(name in done.out for name in parameter.opts)
            assert parameter.help or parameter.show_default, parameter.name


GROUPS = [words for words, command in ALL.items() if isinstance(command, click.Group)]


@pytest.mark.parametrize("words", [(), *GROUPS], ids=" ".join)
def test_a_bare_group_shows_what_it_holds(words: tuple[str, ...], cli: Cli) -> None:
    done = cli(*words)
    assert (done.code, done.out) == (2, "") or done.code == 0
    assert "\\n" not in done.err
    if done.code == 2:
        assert done.err.startswith("Usage: labelkit")


def test_all_mistakes_of_a_rubric_are_told_line_by_line(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / "rubric.yaml").write_text("name: x\nversion: 1\ntitel: b\n", encoding="utf-8")
    done = cli("rubric", "check", "r")
    assert done.code == 2
    first, *others = done.err.splitlines()
    assert first.startswith("labelkit: ")
    assert "rubric.yaml:3: unknown key 'titel'; did you mean 'title'?" in first
    assert others
    assert all(line.startswith("  also ") and "rubric.yaml:" in line for line in others)
    assert sum("'version' must be text" in line for line in others) == 1


def test_wrong_words_are_told_in_one_clear_sentence(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("a\n", encoding="utf-8")
    role = cli("people", "role", "ana").sentence
    assert "Choose from: annotator, adjudicator, admin (see `labelkit people role --help`)" in role
    wrong = cli("diff", ".", "r.csv").sentence
    assert wrong == "'r.csv' is a file; name a folder (see `labelkit diff --help`)"
    absent = cli("diff", "out", "r.csv").sentence
    assert absent == "there is no folder 'out' (see `labelkit diff --help`)"


def test_help_lists_every_verb_in_the_order_of_the_work(cli: Cli) -> None:
    done = cli("--help")
    assert done.code == 0
    verbs = re.findall(r"^  (\w+)  ", done.out.partition("Verbs:")[2], re.MULTILINE)
    assert verbs == list(VERBS)
    joined = " ".join(done.out.split())
    assert all(text in joined for text in VERBS.values())


@pytest.mark.parametrize("verb", ["report", "agree", "plan", "people"])
def test_verbs_that_read_labels_load_no_rule(verb: str) -> None:
    """Rules and the engine that reads values take a third of a second to load."""
    code = (
        f"import sys, labelkit.cli.{verb}_verb; "
        "print([m for m in sys.modules if m.startswith(('labelkit.rules', 'labelkit.grounding'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


def test_version(cli: Cli) -> None:
    assert re.fullmatch(r"labelkit \d+\.\d+\.\d+\S*\n", cli("--version").out)


def told(path: Path) -> list[str]:
    """The indented command lines of a document."""
    text = path.read_text(encoding="utf-8")
    lines = re.findall(r"^ {4}(labelkit .*)$", text, re.MULTILINE)
    return [
        part.strip() for line in lines for part in re.split(r"  +#|&&", line) if part[:1] != " "
    ]


DOCUMENTS = [ROOT / "README.md"]
LINES = [line for document in DOCUMENTS for line in told(document) if line.startswith("labelkit")]


def test_the_readme_tells_people_what_to_type() -> None:
    assert len(LINES) >= 8


@pytest.mark.parametrize("line", LINES)
def test_what_the_readme_tells_people_to_type_is_understood(line: str) -> None:
    parse(program, shlex.split(line)[1:], None)


def parse(command: click.Command, words: list[str], parent: click.Context | None) -> None:
    """Read the words of a command as click would; raises for what it does not know."""
    if not isinstance(command, click.Group) or not words or words[0].startswith("-"):
        command.make_context(command.name, words, parent=parent)
        return
    context = click.Context(command, parent=parent)
    _, inner, rest = command.resolve_command(context, words)
    assert inner is not None
    parse(inner, rest, context)


@pytest.mark.parametrize("line", ["judge --rubrik x", "jugde", "rubric chek x", "report"])
def test_the_reader_of_lines_refuses_what_does_not_exist(line: str) -> None:
    with pytest.raises(click.UsageError):
        parse(program, line.split(), None)


def test_what_our_own_sentences_tell_people_to_type_exists() -> None:
    """Messages, comments of labelkit.yaml and docstrings name verbs and options that exist."""
    found = set()
    for path in (ROOT / "labelkit").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for verb, rest in re.findall(r"`+labelkit ([a-z]+)([^`\n]*)`", text):
            assert verb in VERBS, f"{path.name}: labelkit {verb}"
            options = {
                name
                for words, command in ALL.items()
                if words[0] == verb
                for parameter in command.params
                for name in parameter.opts
            }
            for option in re.findall(r"(?<!\S)--[a-z0-9-]+", rest):
                assert option in options | {"--help"}, f"{path.name}: labelkit {verb} {option}"
            found.add(verb)
    assert {"init", "models", "rubric"} <= found


# -- what is printed -------------------------------------------------------------------------------


def test_tables_and_lines_read_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    out = console.out()
    out.print(console.table(MARKUP, (MARKUP, "n"), [(MARKUP, MARKUP)]))
    out.print(console.plain(MARKUP))
    with console.progress() as progress:
        progress.begin(MARKUP, 1)
        progress.facts(MARKUP, MARKUP)
        progress.advance(MARKUP)
        progress.say(MARKUP)
        progress.end(MARKUP)
    said = capsys.readouterr()
    assert said.out.count(MARKUP) == 5
    # begin, say, and the last line with the name and the facts
    assert said.err.count(MARKUP) == 4


@pytest.fixture
def labelled(make_workplace, cli: Cli, fake_server: FakeServer) -> Workplace:
    place = make_workplace(fake_server.base_url)
    lines = [
        {"model": model, "messages": [{"role": "assistant", "content": f"kind {n}"}]}
        for model in (MARKUP, 'plain, quoted "model"')
        for n in range(3)
    ]
    (place.folder / "t.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    for words in (("init",), ("import", "t.jsonl"), ("judge", "--rubric", "politeness")):
        done = cli(*words)
        assert done.code == 0, done.err
        assert "\x1b" not in done.out + done.err
    return place


def test_a_piped_report_has_no_escape_sequences_and_no_markup(
    labelled: Workplace, cli: Cli
) -> None:
    done = cli("report", "--rubric", "politeness", "--by", "model")
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    assert f"model={MARKUP}" in done.out


def test_the_json_report_is_json(labelled: Workplace, cli: Cli) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    done = cli("report", "--rubric", "politeness", "--by", "model", "--json")
    report = json.loads(done.out, parse_constant=refuse)
    assert report["n_traces"] == 6
    groups = [rate["group"] for rate in report["rates"]]
    assert f"model={MARKUP}" in groups
    # All labels are equal, so kappa is undefined: null with a reason, never a number.
    (agreement,) = report["agreement"]
    (pair,) = agreement["pairs"]
    assert "NaN" not in done.out
    assert not isinstance(pair["result"]["value"], float), pair


def test_the_csv_report_is_csv(labelled: Workplace, cli: Cli) -> None:
    done = cli("report", "--rubric", "politeness", "--by", "model", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["group"] for row in rows] == [
        "all",
        f"model={MARKUP}",
        'model=plain, quoted "model"',
    ]
    assert [(row["hits"], row["scored"], row["planned"]) for row in rows] == [
        ("0", "6", "6"),
        ("0", "3", "3"),
        ("0", "3", "3"),
    ]
    assert all(None not in row and len(row) == 18 for row in rows)
    # The rubric asks for no mean of group rates: those cells are empty, not zero.
    assert all(row["macro_value"] == row["macro_tag"] == "" for row in rows)


def test_an_empty_store_is_reported_as_empty(make_workplace, cli: Cli) -> None:
    make_workplace()
    assert cli("init").code == 0
    for extra in ((), ("--json",), ("--csv",)):
        done = cli("report", "--rubric", "politeness", *extra)
        assert done.code == 0, done.err
        assert "nan" not in done.out.lower()
