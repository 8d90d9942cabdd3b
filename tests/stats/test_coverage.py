"""A small seeded part of ``benchmarks/coverage.py``: intervals keep 92%, or results say so."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = 250
"""1.4 points of Monte-Carlo error at 95%; the seeds are fixed."""

HARD = {
    "coverage_agreement": {
        "p 1.0%, n 50, 2 raters, sens 0.8, spec 0.95",
        "p 5.0%, n 200, 3 raters, sens 0.99, spec 0.99",
        "p 50.0%, n 200, 2 raters, sens 0.8, spec 0.8",
        "p 0.5%, n 1000, 2 raters, sens 0.99, spec 0.99",
        "4 ordered labels, skewed, n 50, 2 raters, right 80%",
    },
    "coverage_rates": {
        "p 1.00%, n 50",
        "p 50.00%, n 100",
        "p 1.0%, n 200 of 4,000, 30% of the draw uniform",
        "p 1.0%, 50 human labels, sens 0.99, spec 0.99",
        "p 30.0%, 200 human labels, sens 0.8, spec 0.9",
        "p 0.5%, 8 clusters of 50, intra-cluster correlation 0.2",
    },
}


@pytest.fixture(scope="module", params=sorted(HARD))
def family(request: pytest.FixtureRequest) -> Iterator[tuple[ModuleType, set[str]]]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module(request.param), HARD[request.param]
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def test_intervals_keep_their_promise_or_say_that_they_do_not(
    family: tuple[ModuleType, set[str]],
) -> None:
    module, hard = family
    makers = [make for name, make in vars(module).items() if name.endswith("_cells")]
    cells = [cell for make in makers for cell in make() if cell.setting in hard]
    assert {cell.setting for cell in cells} == hard
    rows = [
        row
        for number, cell in enumerate(cells)
        for row in cell.rows(np.random.default_rng([1, number]), RUNS)
    ]
    assert [row for row in rows if row.exception] == []
    # The grid holds cells that fail, so the flags are needed, and cells that keep 92% without.
    assert any(row.coverage < 0.92 for row in rows)
    assert any(row.coverage >= 0.92 and row.flagged == 0 for row in rows)
