"""The whole line on a model that ships with labelkit: tasks, rollouts, rule, judges, report.

The demo is the product, not a show: it calls the same workflows as the verbs, in a folder that
stays, and runs again without doing anything twice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from labelkit.catalog.rubrics import load_rubric
from labelkit.errors import InputError
from labelkit.settings import load_settings
from labelkit.store import Store
from labelkit.workflows.ingest import import_task_set
from labelkit.workflows.label import LabelRun, judge
from labelkit.workflows.progress import Progress
from labelkit.workflows.report import Report, report
from labelkit.workflows.run import RolloutRun, run
from labelkit.workflows.setup import SETTINGS_FILE

TASKS = "tool-failure-mini"
RUBRIC = "tool-failure"
ANSWER_TOKENS = 96
N_TASKS = 24
"""Tasks that the demo plays, the first of the set: a small model needs some seconds for each."""

SETTINGS = """\
# The demo's settings. One small model answers the tasks and judges the answers, so it has to be
# allowed to grade itself; do not do that in a study.
store: sqlite:///labelkit.db
endpoints:
  embedded:
    engine: local
    model: smollm2-135m-instruct
    # A better judge: any GGUF file (model_path: FILE), or a server (base_url, api_key_env)
    # in an endpoint of its own.
judges:
  small:
    endpoint: embedded
    allow_self_judging: true
    # Short replies, because a small model on two cores writes some 40 tokens a second.
    rationale_chars: 40
    max_quotes: 1
    quote_chars: 24
    max_tokens: 128
"""


@dataclass(frozen=True)
class Demo:
    """What the demo did."""

    folder: Path
    n_tasks: int
    rollouts: RolloutRun
    labels: LabelRun
    report: Report
    seconds: float


def demo(folder: Path, progress: Progress) -> Demo:
    """Run the whole line in ``folder``, which is made if it is not there.

    Raises:
        InputError: when the folder cannot be made or written.
        EndpointError: when the embedded model cannot be started.
    """
    started = time.monotonic()
    settings_file = folder / SETTINGS_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not settings_file.exists():
            settings_file.write_text(SETTINGS, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"cannot write to {folder} ({error.strerror}); name another folder with --in"
        ) from error
    settings = load_settings(settings_file)
    rubric = load_rubric(RUBRIC)
    with Store.open(settings.store, create=True) as store:
        tasks = import_task_set(store, TASKS)[:N_TASKS]
        progress.say(
            f"the first {len(tasks)} tasks of the set {TASKS}; each is played by a small model,"
            f" then labelled by the rule and by {len(rubric.framings)} judges on the same model."
            " Ctrl-C is safe: the same command goes on where it stopped."
        )
        rollouts = run(
            store, tasks, settings, "embedded", max_tokens=ANSWER_TOKENS, progress=progress
        )
        labels = judge(store, rubric, settings, progress=progress)
        found = report(store, rubric)
    return Demo(folder, len(tasks), rollouts, labels, found, time.monotonic() - started)
