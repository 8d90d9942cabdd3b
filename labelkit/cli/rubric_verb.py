"""``labelkit rubric``: list, check and describe labelling schemes."""

from __future__ import annotations

import json

import click

from labelkit.catalog.rubric_schema import rubric_json_schema
from labelkit.catalog.rubrics import load_rubric, rubric_names
from labelkit.cli import console
from labelkit.rules.registry import rule_of


@click.group("rubric")
def command() -> None:
    """Labelling schemes: list them, check your own, print the JSON Schema for an editor."""


@command.command("list")
def list_rubrics() -> None:
    """Rubrics that can be named with --rubric."""
    rows = []
    for name in rubric_names():
        rubric = load_rubric(name)
        framings = ", ".join(framing.name for framing in rubric.framings)
        rows.append((name, rubric.version, rubric.title, rubric.rule or "none", framings))
    columns = ("rubric", "version", "title", "rule", "framings")
    console.out().print(console.table("Rubrics", columns, rows, text_columns=5))


@command.command("check")
@click.argument("rubric", metavar="NAME|PATH")
def check(rubric: str) -> None:
    """Read RUBRIC and say what is wrong with it, or what it holds."""
    loaded = load_rubric(rubric)
    rule_of(loaded)
    questions = ", ".join(f"{q.id} ({len(q.labels)} labels)" for q in loaded.questions)
    click.echo(f"{loaded.name} {loaded.version}: in order; digest {loaded.digest[:12]}")
    click.echo(f"questions: {questions}")
    click.echo(f"framings: {', '.join(f.name for f in loaded.framings) or 'none'}")
    click.echo(f"rule: {loaded.rule or 'none'}")
    click.echo(f"rates: {', '.join(rate.full_name for rate in loaded.rates) or 'none'}")


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of rubric.yaml, for editors."""
    click.echo(json.dumps(rubric_json_schema(), ensure_ascii=False, indent=2))
