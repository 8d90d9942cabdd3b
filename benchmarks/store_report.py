"""What the store costs in CPU time: the real `labelkit import` and `report` on 100,000 traces.

    python benchmarks/store_report.py                      # SQLite in a temporary folder
    python benchmarks/store_report.py --traces 20000 --url postgresql://...   # an empty database
    python benchmarks/store_report.py --keep FOLDER        # build once, report again and again

Writes a file of traces and imports it with the command line, labels every trace by one rule (with
flags) and two judges (rationale, evidence, completion) through ``commit_labels`` in batches of 64,
then runs ``labelkit report --rubric tool-failure --by model`` in a process of its own: rates,
pairwise Cohen, Fleiss and the break-down by 12 models. CPU is user + system of that whole process,
start and imports included; a database server's own CPU is not in it. The least of several runs is
printed beside the least that a Python process needs to import numpy, SQLAlchemy and pydantic.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labelkit.catalog.rubrics import load_rubric
from labelkit.digest import digest
from labelkit.domain.completion import Completion
from labelkit.domain.label import Evidence, Label, Outcome, Rater
from labelkit.domain.message import Message
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import Usage
from labelkit.store import Store, labels, raters, reports, tasks

START = datetime(2026, 1, 1, tzinfo=UTC)
SUBSETS = ("required", "control")
BATCH = 64
RUNS = 3
FLOOR = "import numpy, sqlalchemy, pydantic"
LABELKIT = (sys.executable, "-m", "labelkit.cli.main")


def cpu(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def child(command: Sequence[str]) -> tuple[float, float]:
    """Run a process; return its CPU and wall seconds.

    A report of no label is a failure too: a kept folder is of no use once the rubric has changed.
    """
    began, wall = cpu(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or "(0 labelled" in done.stdout:
        raise SystemExit(f"{' '.join(command)} failed: {done.stderr or done.stdout}")
    return cpu(resource.RUSAGE_CHILDREN) - began, time.perf_counter() - wall


def made_tasks(count: int) -> Iterator[Task]:
    for number in range(count):
        yield Task(
            set="bench",
            id=f"t{number}",
            messages=(Message(role="user", content=f"question {number} " * 10),),
            tags={"domain": f"d{number % 7}", "subset": SUBSETS[number % 2]},
        )


def write_traces(path: Path, count: int, task_count: int, chars: int) -> None:
    """Write OpenAI chat lines: system text, question, a call with its result, the answer."""
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            call = {"name": "look_up", "arguments": json.dumps({"id": number})}
            asked = [{"id": "c1", "type": "function", "function": call}]
            result = json.dumps({"value": number, "note": "x" * (chars // 4)})
            line = {
                "model": f"model-{number % 12}",
                "task_set": "bench",
                "task_id": f"t{number % task_count}",
                "repeat": number // task_count,
                "messages": [
                    {"role": "system", "content": "Answer with the tools. ".ljust(chars // 4, "y")},
                    {"role": "user", "content": f"question {number}"},
                    {"role": "assistant", "content": None, "tool_calls": asked},
                    {"role": "tool", "tool_call_id": "c1", "content": result},
                    {"role": "assistant", "content": f"{number} ".ljust(chars // 2, "z")},
                ],
            }
            file.write(json.dumps(line) + "\n")


def crew(rubric: Rubric) -> list[Rater]:
    """The rule and one judge per framing, with identities that a report of the rubric counts."""
    spec = {"rubric": rubric.name, "rubric_digest": rubric.digest}
    judges = [
        Rater(
            kind="judge",
            name=f"judge:{framing.name}",
            version=rubric.version,
            spec={**spec, "framing": framing.name, "model": "bench"},
        )
        for framing in rubric.framings[:2]
    ]
    rule = Rater(kind="rule", name=str(rubric.rule), version=rubric.version, spec=spec)
    return [rule, *judges]


def made_label(
    trace: str, rater: Rater, question: str, value: str, number: int
) -> tuple[Label, list[Completion]]:
    """One label as the rule or a judge would give it; one in fifty defers or fails."""
    judge = rater.kind == "judge"
    moment = START + timedelta(microseconds=number)
    request = digest([trace, rater.digest]) if judge else None
    missing = number % 50 == 0
    state = Outcome.FAILED if judge else Outcome.ABSTAINED
    label = Label(
        trace=trace,
        rater=rater.digest,
        question=question,
        outcome=state if missing else Outcome.LABELLED,
        value=None if missing else value,
        reason=("parse" if judge else "no key") if missing else None,
        rationale="because " * 60 if judge else "the expected call was executed",
        flags=() if judge else ("called", "tool_error")[: 1 + (number % 9 == 0)],
        evidence=(Evidence(part="answer", quote="x" * 40, start=3, end=43),) * (1 + judge),
        view=request,
        completion=request,
        created_at=moment,
    )
    if request is None:
        return label, []
    completion = Completion(
        request=request,
        endpoint="bench",
        model="judge",
        text=json.dumps({"rationale": "because " * 60, "label": value}),
        finish_reason="stop",
        usage=Usage(prompt_tokens=2000, completion_tokens=150),
        cost=0.001,
        currency="USD",
        sent={"rung": "json_schema"},
        accepted=not missing,
        created_at=moment,
    )
    return label, [completion]


def add_labels(store: Store, rubric: Rubric) -> float:
    """Label every trace by every rater; return the CPU seconds of a commit per label."""
    rng = random.Random(0)
    question = rubric.primary
    raters.add_rubric(store, rubric)
    table = reports.trace_table(store, digests=True)
    assert table.digest is not None
    allowed = {subset: question.labels_for(subset) for subset in SUBSETS}
    truth = [rng.choice(allowed[subset]) for subset in table.subset]
    made, spent = 0, 0.0
    for rater in crew(rubric):
        raters.add_rater(store, rater)
        for at in range(0, len(table), BATCH):
            pairs = []
            for place in range(at, min(at + BATCH, len(table))):
                agrees = rng.random() < 0.8
                value = truth[place] if agrees else rng.choice(allowed[table.subset[place]])
                trace = str(table.digest[place])
                pairs.append(made_label(trace, rater, question.id, value, made + place - at))
            began = cpu()
            labels.commit_labels(store, [p[0] for p in pairs], [c for p in pairs for c in p[1]])
            spent += cpu() - began
            made += len(pairs)
    return spent / made


def build(
    folder: Path, url: str, trace_count: int, task_count: int, chars: int
) -> dict[str, float]:
    (folder / "labelkit.yaml").write_text(f"store: {url}\n", encoding="utf-8")
    path = folder / "traces.jsonl"
    write_traces(path, trace_count, task_count, chars)
    with Store.open(url, create=True) as store:
        tasks.add_tasks(store, made_tasks(task_count))
        spent, wall = child((*LABELKIT, "import", str(path), "--in", str(folder)))
        commit = add_labels(store, load_rubric("tool-failure"))
    return {
        "import_cpu_s": spent,
        "import_wall_s": wall,
        "import_cpu_ms_per_trace": 1000 * spent / trace_count,
        "commit_cpu_ms_per_label": 1000 * commit,
    }


def least(run: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    return min(run() for _ in range(RUNS))


def report(folder: Path) -> dict[str, float]:
    asked = ("report", "--rubric", "tool-failure", "--by", "model", "--in", str(folder))
    spent, wall = least(lambda: child((*LABELKIT, *asked)))
    start, _ = least(lambda: child((*LABELKIT, "report", "--help")))
    floor, _ = least(lambda: child((sys.executable, "-c", FLOOR)))
    return {
        "report_cpu_s": spent,
        "report_wall_s": wall,
        "report_start_cpu_s": start,
        "floor_cpu_s": floor,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--traces", type=int, default=100_000)
    parser.add_argument("--tasks", type=int, default=2_000)
    parser.add_argument("--chars", type=int, default=2_000, help="characters of one trace")
    parser.add_argument("--url", help="an empty database; default: SQLite in the folder")
    parser.add_argument("--keep", type=Path, help="folder to build in, or one built before")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = asked.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        figures: dict[str, float] = {}
        if not (folder / "labelkit.yaml").exists():
            url = asked.url or f"sqlite:///{(folder / 'labelkit.db').resolve()}"
            figures = build(folder, url, asked.traces, asked.tasks, asked.chars)
        figures |= report(folder)
        print(json.dumps({name: round(value, 3) for name, value in figures.items()}, indent=1))


if __name__ == "__main__":
    main()
