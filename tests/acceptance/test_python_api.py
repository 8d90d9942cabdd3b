"""The Python face of labelkit: about a dozen names, the same numbers as the command line."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

import labelkit as lk
from tests.acceptance.conftest import Workplace
from tests.fake_server import FakeServer


def test_every_public_name_exists_and_has_a_docstring() -> None:
    for name in lk.__all__:
        assert getattr(lk, name).__doc__, name
    assert len(lk.__all__) <= 16


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = lk.nothing_of_the_kind


def test_importing_labelkit_imports_neither_pandas_nor_openai() -> None:
    heavy = ("pandas", "openai", "sqlalchemy")
    code = f"import sys, labelkit; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def workplace(make_workplace, fake_server: FakeServer) -> Workplace:
    place = make_workplace(fake_server.base_url)
    place.write_traces(12)
    return place


def label_all(place: Workplace, base_url: str) -> tuple:
    """The whole line in Python, as the docstring of the package shows it."""
    url = f"sqlite:///{place.folder / 'api.db'}"
    with lk.open_store(url, create=True) as store:
        lk.import_file(store, str(place.folder / "traces.jsonl"))
        rubric = lk.load_rubric(place.folder / "politeness")
        settings = lk.Settings(
            endpoints={"api": lk.Endpoint(name="api", model="fake-model", base_url=base_url)},
            judges={"j": lk.JudgeSettings(name="j", endpoint="api")},
        )
        run = lk.judge(store, rubric, settings)
        assert lk.report(store, place.folder / "politeness") == lk.report(store, rubric)
        assert lk.agree(store, str(place.folder / "politeness")) == lk.agree(store, rubric)
        report = lk.report(store, rubric, by=["model"])
        frames = (
            lk.rates_frame(report.rates),
            lk.agreement_frame(lk.agree(store, rubric)),
            lk.labels_frame(store, rubric),
        )
    return run, report, frames


def test_the_line_in_python(workplace: Workplace, fake_server: FakeServer) -> None:
    run, report, (rates, agreement, labels) = label_all(workplace, fake_server.base_url)
    assert [tally.labelled for tally in run.tallies] == [12, 12]
    assert report.n_traces == 12
    # Rule and fake judge both say polite: no rude answer among 12, in two groups (all, model).
    assert rates["scored"].tolist() == [12, 12]
    assert rates["hits"].tolist() == [0, 0]
    assert len(labels) == 24
    assert set(labels["value"]) == {"polite"}
    # One category only: kappa does not exist, and says why.
    kappa = agreement[agreement["coefficient"] == "cohen_kappa"]
    assert kappa["value"].isna().all()
    assert set(kappa["reason"]) == {"no_variation"}


def test_it_works_inside_a_running_loop(workplace: Workplace, fake_server: FakeServer) -> None:
    # E7: a notebook cell runs inside an event loop.
    async def cell() -> int:
        run, *_ = label_all(workplace, fake_server.base_url)
        return sum(tally.labelled for tally in run.tallies)

    assert asyncio.run(cell()) == 24


def test_python_and_command_line_agree(workplace: Workplace, fake_server: FakeServer) -> None:
    workplace.done("init")
    workplace.done("import", "traces.jsonl")
    workplace.done("judge", "--rubric", "politeness")
    printed = json.loads(workplace.done("report", "--rubric", "politeness", "--json"))
    with lk.open_store(f"sqlite:///{workplace.folder / 'labelkit.db'}") as store:
        report = lk.report(store, lk.load_rubric(Path(workplace.folder / "politeness")))
    assert [r["value"] for r in printed["rates"]] == [r.value for r in report.rates]
    assert printed["states"] == dict(report.states)
