"""The strict call match beside a benchmark's own verdict on a hundred real runs.

tau-bench compares the database after a run with the database after the author's calls. Where a
run made the author's writes and no others, both must say the same; they were written apart.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from labelkit.domain.task import Task, Tool
from labelkit.domain.trace import Trace
from labelkit.formats.registry import read_file
from tests.rules.apicall_rows import rule_on

WRITES = ("book_", "cancel_", "update_", "send_")


def with_effects(task: Task, trace: Trace) -> Task:
    """The task with its tools' effects; the author's look-ups are only one way to the writes."""
    wanted = task.reference.expected_calls
    called = {call.name for message in trace.messages for call in message.tool_calls}
    names = sorted(called | {call.name for call in wanted})
    calls = tuple(
        call.model_copy(update={"supporting": not call.name.startswith(WRITES)}) for call in wanted
    )
    reference = task.reference.model_copy(update={"expected_calls": calls, "no_calls": not calls})
    tools = tuple(
        Tool(name=name, effect="write" if name.startswith(WRITES) else "read") for name in names
    )
    return task.model_copy(update={"tools": tools, "reference": reference})


def test_calls_match_where_the_database_is_right(shared: Path) -> None:
    path = shared / "real" / "tau_bench_airline" / "gpt-4o-airline.tasks-00-24.json"
    items = list(read_file(path))
    tasks = {item.id: item for item in items if isinstance(item, Task)}
    runs = [item for item in items if isinstance(item, Trace)]
    seen = Counter(
        (rule_on(run, with_effects(tasks[str(run.task_id)], run)).label, run.tags["reward"])
        for run in runs
    )
    # The two that part: a run that made every write and then went on until it was cut off, and a
    # call with fields of a flight that the author's call leaves out (the airline does not mind).
    assert seen == {
        ("match", 1.0): 30,
        ("mismatch", 0.0): 68,
        ("match", 0.0): 1,
        ("mismatch", 1.0): 1,
    }
