"""labelkit: from agent traces to validated labels.

    import labelkit as lk

    with lk.open_store("sqlite:///labelkit.db", create=True) as store:
        lk.import_file(store, "traces.jsonl")
        rubric = lk.load_rubric("tool-failure")
        settings = lk.Settings(
            endpoints={"api": lk.Endpoint(name="api", model="m", base_url="http://.../v1")},
            judges={"j": lk.JudgeSettings(name="j", endpoint="api")},
        )
        lk.judge(store, rubric, settings)
        report = lk.report(store, rubric, by=["model"])
        lk.rates_frame(report.rates)

These are the functions that the command line itself calls; they also work in a notebook, whose
event loop is running already. Names are loaded when they are first used, so that importing the
package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelkit.catalog.rubrics import load_rubric
    from labelkit.domain.endpoint import Endpoint
    from labelkit.errors import LabelkitError
    from labelkit.settings import JudgeSettings, Settings, load_settings
    from labelkit.workflows.frames import agreement_frame, labels_frame, rates_frame
    from labelkit.workflows.ingest import import_file, import_task_set
    from labelkit.workflows.label import judge
    from labelkit.workflows.report import agree, report
    from labelkit.workflows.run import run
    from labelkit.workflows.setup import open_store

_HOMES = {
    "Endpoint": "labelkit.domain.endpoint",
    "JudgeSettings": "labelkit.settings",
    "LabelkitError": "labelkit.errors",
    "Settings": "labelkit.settings",
    "agree": "labelkit.workflows.report",
    "agreement_frame": "labelkit.workflows.frames",
    "import_file": "labelkit.workflows.ingest",
    "import_task_set": "labelkit.workflows.ingest",
    "judge": "labelkit.workflows.label",
    "labels_frame": "labelkit.workflows.frames",
    "load_rubric": "labelkit.catalog.rubrics",
    "load_settings": "labelkit.settings",
    "open_store": "labelkit.workflows.setup",
    "rates_frame": "labelkit.workflows.frames",
    "report": "labelkit.workflows.report",
    "run": "labelkit.workflows.run",
}

__all__ = [
    "Endpoint",
    "JudgeSettings",
    "LabelkitError",
    "Settings",
    "agree",
    "agreement_frame",
    "import_file",
    "import_task_set",
    "judge",
    "labels_frame",
    "load_rubric",
    "load_settings",
    "open_store",
    "rates_frame",
    "report",
    "run",
]


def __getattr__(name: str) -> Any:
    """Load a public name from the module that is its home."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'labelkit' has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)
