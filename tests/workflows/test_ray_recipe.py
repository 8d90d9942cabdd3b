"""The Ray recipe: request lines in, result lines out, through Ray's own HTTP processor."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from labelkit.store import Store
from labelkit.store.traces import add_traces
from labelkit.workflows.batch_in import read_verdicts
from labelkit.workflows.batch_out import write_requests
from tests.fake_server import FakeServer
from tests.workflows.test_batch import ASKED, settings  # noqa: F401 - a fixture
from tests.workflows.test_label import RUBRIC, trace

RECIPE = Path(__file__).resolve().parents[2] / "benchmarks" / "recipes" / "ray_batch.py"
NAMED = os.environ.get("LABELKIT_TEST_RAY", "")


@pytest.mark.slow
@pytest.mark.skipif(
    not NAMED and importlib.util.find_spec("ray") is None,
    reason="needs Ray: install 'ray[data]', or set LABELKIT_TEST_RAY to a Python that has it",
)
def test_ray_works_off_a_request_file(
    tmp_path: Path,
    settings,  # noqa: F811
    fake_server: FakeServer,
) -> None:
    requests, results = tmp_path / "requests.jsonl", tmp_path / "results.jsonl"
    with Store.open(f"sqlite:///{tmp_path / 'store.db'}", create=True) as store:
        add_traces(store, [trace(n) for n in range(ASKED)])
        write_requests(store, RUBRIC, settings, requests)
        command = [NAMED or sys.executable, str(RECIPE), str(requests), str(results)]
        done = subprocess.run(
            [*command, fake_server.base_url],
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert fake_server.count == ASKED
        lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
        assert len({line["custom_id"] for line in lines}) == ASKED
        read = read_verdicts(store, RUBRIC, settings, results)
        assert (read.tallies[0].labelled, read.foreign) == (ASKED, 0)
