"""What the store costs, in CPU time: import, commit, and a report over 100,000 traces x 3 raters.

    python benchmarks/store_report.py                  # SQLite in a temporary folder
    python benchmarks/store_report.py --traces 20000 --url postgresql://...   # an empty database

Builds the store through the public functions in batches of 64 labels with their completions, then
opens it in a fresh process (imports included) and reads both report tables. CPU is user + system
of the process that does the work; a database server's own CPU is not in it.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labelkit.digest import digest
from labelkit.domain.completion import Completion
from labelkit.domain.label import Evidence, Label, Outcome, Rater
from labelkit.domain.message import Message
from labelkit.domain.task import Task
from labelkit.domain.trace import RowState, Trace, Usage
from labelkit.store import Store, labels, raters, reports, tasks, traces

START = datetime(2026, 1, 1, tzinfo=UTC)
QUESTION = "outcome"
VALUES = ("correct", "wrong", "ignored", "made_up")
BATCH = 64

REPORT = """
import resource, sys
from labelkit.store import Store, reports
imported = resource.getrusage(resource.RUSAGE_SELF)
with Store.open(sys.argv[1]) as store:
    table = reports.trace_table(store, tags=True)
    marks = reports.label_table(store, "outcome", flags=True)
used = resource.getrusage(resource.RUSAGE_SELF)
print(len(table), len(marks), imported.ru_utime + imported.ru_stime,
      used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def made_tasks(count: int) -> Iterator[Task]:
    for number in range(count):
        yield Task(
            set="bench",
            id=f"t{number}",
            messages=(Message(role="user", content=f"question {number} " * 10),),
            tags={"domain": f"d{number % 7}", "subset": ("required", "control")[number % 2]},
        )


def made_traces(count: int, task_count: int, chars: int) -> Iterator[Trace]:
    for number in range(count):
        yield Trace(
            model=f"model-{number % 12}",
            messages=(
                Message(role="user", content=f"question {number}"),
                Message(role="assistant", content=f"answer {number} ".ljust(chars, "x")),
            ),
            state=RowState.OK,
            task_set="bench",
            task_id=f"t{number % task_count}",
            repeat=number // task_count,
        )


def made_label(trace: str, rater: str, number: int) -> tuple[Label, Completion]:
    moment = START + timedelta(microseconds=number)
    request = digest([trace, rater])
    completion = Completion(
        request=request,
        endpoint="bench",
        model="judge",
        text=json.dumps({"rationale": "because " * 60, "label": VALUES[number % 4]}),
        finish_reason="stop",
        usage=Usage(prompt_tokens=2000, completion_tokens=150),
        cost=0.001,
        currency="USD",
        sent={"rung": "json_schema"},
        accepted=True,
        created_at=moment,
    )
    label = Label(
        trace=trace,
        rater=rater,
        question=QUESTION,
        outcome=Outcome.LABELLED,
        value=VALUES[number % 4],
        rationale="because " * 60,
        flags=("called",),
        evidence=(Evidence(part="answer", quote="x" * 40, start=3, end=43),),
        view=request,
        completion=request,
        created_at=moment,
    )
    return label, completion


def build(url: str, trace_count: int, task_count: int, chars: int) -> dict[str, float]:
    figures: dict[str, float] = {}
    with Store.open(url, create=True) as store:
        tasks.add_tasks(store, made_tasks(task_count))
        began, wall = cpu(), time.perf_counter()
        traces.add_traces(store, made_traces(trace_count, task_count, chars))
        figures["import_cpu_ms_per_trace"] = 1000 * (cpu() - began) / trace_count
        figures["import_traces_per_s"] = trace_count / (time.perf_counter() - wall)
        table = reports.trace_table(store, digests=True)
        assert table.digest is not None
        crew = [Rater(kind="judge", name=f"judge-{i}", version="1") for i in range(3)]
        made = 0
        spent = 0.0
        for rater in crew:
            raters.add_rater(store, rater)
            for at in range(0, trace_count, BATCH):
                pairs = [
                    made_label(str(d), rater.digest, made + place)
                    for place, d in enumerate(table.digest[at : at + BATCH])
                ]
                began = cpu()
                labels.commit_labels(store, [p[0] for p in pairs], [p[1] for p in pairs])
                spent += cpu() - began
                made += len(pairs)
        figures["commit_cpu_ms_per_label_and_completion"] = 1000 * spent / made
    return figures


def report(url: str) -> dict[str, float]:
    out = subprocess.run(
        [sys.executable, "-c", REPORT, url], check=True, capture_output=True, text=True
    ).stdout.split()
    names = ("traces", "labels", "report_import_cpu_s", "report_total_cpu_s", "report_peak_mb")
    return dict(zip(names, map(float, out), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--tasks", type=int, default=2_000)
    parser.add_argument("--chars", type=int, default=2_000, help="characters of one answer")
    parser.add_argument("--url", help="an empty database; default: SQLite in a temporary folder")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = asked.url or f"sqlite:///{Path(folder) / 'bench.db'}"
        figures = build(url, asked.traces, asked.tasks, asked.chars) | report(url)
        print(json.dumps({name: round(value, 3) for name, value in figures.items()}, indent=1))


if __name__ == "__main__":
    main()
