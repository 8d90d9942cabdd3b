"""Published counts through the real line: labels given by hand, rates and intervals as printed.

The counts come from the specification of the schemes beside the checkout; without it these tests
are skipped and say so. Labels are committed as one rater's, as the source's ensemble gave them.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.message import Message
from labelkit.domain.task import Tag
from labelkit.domain.trace import RowState, Trace
from labelkit.store import Store
from labelkit.store.traces import add_traces
from tests.acceptance.hand_labels import by_hand, named, report_of
from tests.acceptance.inprocess import Cli, cli

__all__ = ["cli"]

Labelled = tuple[Trace, str, tuple[str, ...]]
FOUR = ("correct", "tool_skip", "result_ignore", "output_fabrication")
RATE_OF = dict(zip(("CTUR", "TSR", "RIR", "OFR"), FOUR, strict=True))


@pytest.fixture(scope="session")
def published(shared: Path) -> dict[str, Any]:
    file = shared / "schemes" / "published.json"
    if not file.is_file():
        pytest.skip("needs published.json of the schemes beside the checkout")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def run(number: int, *, model: str = "m", condition: str = "default", **tags: Tag) -> Trace:
    said = Message(role="assistant", content=f"Answer {number}.")
    return Trace(
        model=model, condition=condition, messages=(said,), state=RowState.OK, repeat=number,
        tags=tags,
    )  # fmt: skip


def committed(folder: Path, rubric_name: str, question: str, rows: list[Labelled]) -> None:
    rubric = load_rubric(rubric_name)
    with Store.open(f"sqlite:///{folder / 'labelkit.db'}", create=True) as store:
        add_traces(store, [trace for trace, _, _ in rows])
        given = [(trace.digest, label, flags) for trace, label, flags in rows]
        by_hand(store, rubric, "rule", "as-published", given, question)


def leaderboard_rows(board: dict[str, Any]) -> list[Labelled]:
    """Every row of the leaderboard: whoever is not labelled a skip counts as called."""
    rows: list[Labelled] = []
    for model, (n, *counts) in board["rows"].items():
        assert sum(counts) == n
        labels = [label for label, count in zip(FOUR, counts, strict=True) for _ in range(count)]
        for place, label in enumerate(labels):
            flags = () if label == "tool_skip" else ("called",)
            rows.append((run(place, model=model, subset="required"), label, flags))
    for model, counts in board["control"].items():
        needless, right = counts["unnecessary"], counts["correct"]
        for place in range(counts["n"]):
            label = "unnecessary_tool_use" if place < needless else "wrong_answer"
            if needless <= place < needless + right:
                label = "correct"
            rows.append((run(place, model=model, subset="control"), label, ()))
    return rows


def test_the_leaderboard_of_the_first_scheme(
    published: dict[str, Any], cli: Cli, tmp_path: Path
) -> None:
    board = published["toolfailbench_leaderboard"]
    assert cli("init").code == 0
    committed(tmp_path, "tool-failure", "outcome", leaderboard_rows(board))
    report = report_of(cli, "tool-failure", "--by", "model")
    for model, (n, *counts) in board["rows"].items():
        rates = named(report, "rates", f"model={model}")
        for (name, label), count in zip(RATE_OF.items(), counts, strict=True):
            rate = rates[f"{name}[Required]"]
            assert (rate["hits"], rate["scored"]) == (count, n), (model, label)
        assert sum(rates[f"{name}[Required]"]["value"] for name in RATE_OF) == pytest.approx(1)
    # The intervals that were printed for the whole share of correct use.
    printed = {(hits, n): (low, high) for hits, n, low, high in published["wilson_95"]}
    checked = 0
    for model, (n, correct, *_) in board["rows"].items():
        if (correct, n) in printed:
            rate = named(report, "rates", f"model={model}")["CTUR[Required]"]
            # Hundredths of a percent are printed; the fifth place of the sheet is off once.
            assert (rate["low"], rate["high"]) == pytest.approx(printed[correct, n], abs=2e-5)
            checked += 1
    assert checked == 2
    # The same rows over two denominators: tables use Required, the released code the rest.
    other = board["same_rows_other_denominator"]
    llama = named(report, "rates", "model=Llama-3.1-8B")
    grok = named(report, "rates", "model=Grok-4.3")
    assert round(llama["RIR[Required]"]["value"], 4) == other["Llama-3.1-8B RIR on Required"]
    for denominator in ("Called", "NotSkipped"):
        code, again = (rates[f"RIR[{denominator}]"]["value"] for rates in (llama, grok))
        assert round(code, 4) == other["Llama-3.1-8B RIR on Called (code)"]
        assert round(again, 4) == other["Grok-4.3 RIR on Called"]
    # The average over models is the mean of their rates, not the pooled rate.
    whole = named(report, "rates")["CTUR[Required]"]
    assert (whole["macro"]["tag"], whole["macro"]["n_groups"]) == ("model", len(board["rows"]))
    assert round(100 * whole["macro"]["value"], 2) == board["mean_ensemble_CTUR"]
    assert whole["scored"] == 14171
    for model, counts in board["control"].items():
        control = named(report, "rates", f"model={model}")
        needless = control["UTR[Control]"]
        right = control["CTRL-Acc[Control]"]
        assert (needless["hits"], needless["scored"]) == (counts["unnecessary"], counts["n"])
        assert (right["hits"], right["scored"]) == (counts["correct"], counts["n"])
        three = (needless, right, control["WAR[Control]"])
        assert sum(rate["value"] for rate in three) == pytest.approx(1)


def honesty_rows(published: dict[str, Any]) -> list[Labelled]:
    """Conditions with both counts; the third of a row's counts is what is neither."""
    facts = published["fabrication"]
    n, by_type = facts["n_in_scope"], facts["dishonest_by_type_deploy"]
    kinds = [kind for kind in by_type for _ in range(facts["n_per_failure_cell"])]
    assert len(kinds) == n
    rows: list[Labelled] = []
    for condition, (made_up, dishonest) in facts["counts_F_and_dishonest"].items():
        if made_up is None or "_n" in condition:
            continue
        left = dict(by_type) if condition == "deploy" else None
        given = 0
        for place, kind in enumerate(kinds):
            bad = place < dishonest if left is None else left[kind] > 0
            if left is not None and bad:
                left[kind] -= 1
            label = "H" if not bad else "F" if given < made_up else "U"
            given += bad
            tags = {"subset": "unusable", "in_scope": True, "failure_type": kind}
            # A domain of its own for every 43 rows: 16 of the same size.
            domain = f"d{place // (n // 16)}"
            rows.append((run(place, condition=condition, domain=domain, **tags), label, ()))
    # Items that ask for what the tool never declared: in no primary number.
    rows += [
        (run(n + k, condition="deploy", subset="unusable", in_scope=False, domain="d0"), "F", ())
        for k in range(facts["n_out_of_scope"])
    ]
    return rows


def test_the_table_of_fabrication_after_failure(
    published: dict[str, Any], cli: Cli, tmp_path: Path
) -> None:
    facts = published["fabrication"]
    assert cli("init").code == 0
    committed(tmp_path, "post-failure-honesty", "honesty", honesty_rows(published))
    report = report_of(cli, "post-failure-honesty", "--by", "condition")
    for condition in ("neutral", "deploy", "deploy_strict", "smolagents"):
        made_up, dishonest = facts["counts_F_and_dishonest"][condition]
        rates = named(report, "rates", f"condition={condition}")
        for name, hits in (("FR[InScope]", made_up), ("DR[InScope]", dishonest)):
            assert (rates[name]["hits"], rates[name]["scored"]) == (hits, facts["n_in_scope"])
            assert rates[name]["clustered"]["n_clusters"] == 16
    out = named(report, "rates")["FR[OutOfScope]"]
    assert (out["hits"], out["scored"]) == (facts["n_out_of_scope"],) * 2
    change = {one["id"]: one for one in report["contrasts"] if one["group"] == "all"}["pressure"]
    n = facts["n_in_scope"]
    assert change["n"] == {"base": n, "treated": n}
    assert change["arms"] == {"base": 58 / n, "treated": 96 / n}


def test_dishonesty_by_failure_type(published: dict[str, Any], cli: Cli, tmp_path: Path) -> None:
    facts = published["fabrication"]
    assert cli("init").code == 0
    rows = [row for row in honesty_rows(published) if row[0].condition == "deploy"]
    committed(tmp_path, "post-failure-honesty", "honesty", rows)
    report = report_of(cli, "post-failure-honesty", "--by", "failure_type")
    shares = []
    for kind, dishonest in facts["dishonest_by_type_deploy"].items():
        rate = named(report, "rates", f"failure_type={kind}")["DR[InScope]"]
        assert (rate["hits"], rate["scored"]) == (dishonest, facts["n_per_failure_cell"])
        shares.append(rate["value"])
    # Cells are equally large, so their mean is the whole.
    whole = named(report, "rates")["DR[InScope]"]
    assert whole["value"] == pytest.approx(mean(shares))


def test_the_precision_of_infeasible_tasks(
    published: dict[str, Any], cli: Cli, tmp_path: Path
) -> None:
    """268 of 283 checked tasks were truly infeasible; people's labels, one rate, its interval."""
    hits, n = published["feasigen"]["precision"]
    assert cli("init").code == 0
    rubric = load_rubric("feasibility")
    rows = [run(k, subset="infeasible") for k in range(n)]
    with Store.open(f"sqlite:///{tmp_path / 'labelkit.db'}", create=True) as store:
        add_traces(store, rows)
        said = [(trace.digest, "yes" if k < hits else "no", ()) for k, trace in enumerate(rows)]
        by_hand(store, rubric, "person", "annotators", said, "truly_infeasible")
    report = report_of(cli, "feasibility", "--question", "truly_infeasible")
    rate = named(report, "rates")["TRULY[Infeasible]"]
    (interval,) = [line[2:] for line in published["wilson_95"] if line[:2] == [hits, n]]
    assert (rate["hits"], rate["scored"]) == (hits, n)
    assert (rate["low"], rate["high"]) == pytest.approx(interval, abs=5e-6)
