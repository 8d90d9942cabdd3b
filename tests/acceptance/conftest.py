"""The product as its users run it: the command line in a folder of its own, real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

RUBRIC = """\
name: politeness
version: "1.0.0"
title: Was the answer polite
source: the tests of labelkit
questions:
  - id: tone
    type: choice
    text: How does the final answer speak to the user?
    labels:
      - {name: polite, title: Polite, key: p, include: The answer is friendly or neutral.}
      - {name: rude, title: Rude, key: r, include: The answer insults or dismisses the user.}
framings:
  - name: plain
    template: plain.md
    shows: [question, answer]
    asks: [tone]
rule: facts
rule_table:
  - when: {"answer_chars": {min: 1}}
    label: polite
ensemble: {tie: rule, null_policy: ignore}
rates:
  - id: RUDE
    title: Rude answers
    question: tone
    numerator: {labels: [rude]}
    denominator: {name: All}
guideline: guideline.md
"""

TEMPLATE = """\
You judge the tone of answers for the rubric {{ rubric.title }}.
{% for question in questions %}{{ question.text }}
{% for label in question.labels %}- {{ label.name }}: {{ label.include }}
{% endfor %}{% endfor %}
{{ answer_format }}
"""


@dataclass(frozen=True)
class Workplace:
    """A working folder with its own settings, rubric and traces."""

    folder: Path

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "labelkit.cli.main", *words]

    def run(self, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )

    def start(self, *words: str) -> subprocess.Popen:
        # A shell's background jobs ignore Ctrl-C; tests run from one must be able to send it.
        return subprocess.Popen(
            ["env", "--default-signal=INT", *self.command(*words)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def done(self, *words: str) -> str:
        """Run a command that must succeed; returns standard output."""
        result = self.run(*words)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def write_traces(self, number: int, name: str = "traces.jsonl") -> Path:
        path = self.folder / name
        with path.open("w", encoding="utf-8") as file:
            for n in range(number):
                messages = [
                    {"role": "user", "content": f"question number {n}"},
                    {"role": "assistant", "content": f"a kind answer to question {n}"},
                ]
                file.write(json.dumps({"model": "agent", "messages": messages}) + "\n")
        return path

    def configure(self, base_url: str, **fields: object) -> None:
        endpoint = {"base_url": base_url, "model": "fake-model", **fields}
        settings = {
            "store": "sqlite:///labelkit.db",
            "endpoints": {"fake": endpoint},
            "judges": {"j": {"endpoint": "fake"}},
        }
        (self.folder / "labelkit.yaml").write_text(json.dumps(settings), encoding="utf-8")


@pytest.fixture
def make_workplace(tmp_path: Path) -> Callable[..., Workplace]:
    def make(base_url: str = "http://127.0.0.1:9/v1", **fields: object) -> Workplace:
        rubric = tmp_path / "politeness"
        rubric.mkdir()
        (rubric / "rubric.yaml").write_text(RUBRIC, encoding="utf-8")
        (rubric / "plain.md").write_text(TEMPLATE, encoding="utf-8")
        (rubric / "guideline.md").write_text("Read the answer. Choose.\n", encoding="utf-8")
        place = Workplace(tmp_path)
        place.configure(base_url, **fields)
        return place

    return make
