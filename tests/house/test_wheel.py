"""What is installed from a wheel holds its data: rubrics, task sets and the app travel inside."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.conftest import ROOT

SHOW = """
from pathlib import Path
import labelkit
from labelkit.catalog.rubrics import load_rubric, rubric_names
from labelkit.catalog.task_sets import load_task_set, task_set_names
print(Path(labelkit.__file__).parent.parent)
print(sorted(rubric_names()), [load_rubric(n).name for n in sorted(rubric_names())])
print(task_set_names(), [len(load_task_set(n).tasks) for n in task_set_names()])
"""


def test_a_wheel_carries_rubrics_task_sets_and_app(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    inside = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(inside)
        names = archive.namelist()
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert "labelkit/share/app/main.py" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".db")]
    shown = subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(inside)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    rubrics = sorted(path.parent.name for path in (ROOT / "rubrics").glob("*/rubric.yaml"))
    tasks = sorted((ROOT / "datasets").glob("*/tasks.jsonl"))
    sets = tuple(path.parent.name for path in tasks)
    sizes = [len(path.read_text(encoding="utf-8").splitlines()) for path in tasks]
    assert shown == [
        str(inside),
        f"{rubrics} {rubrics}",
        f"{sets} {sizes}",
    ]
