"""Every real file is known for what it is, or refused: none is taken for something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelkit.errors import FormatError
from labelkit.formats.registry import READERS, sniff_format

FORMATS = {
    "tau_bench_airline/*.json": "tau-bench",
    "tau_bench_few_shot/*.jsonl": "tau-bench-few-shot",
    "agentrx_tau_retail/tau_dataset_failed.json": "tau-bench",
    "agentrx_tau_retail/tau_ground_truth.json": "agentrx-labels",
    "who_and_when_algorithm_generated/*.json": "who-and-when",
    "mast_human/*.json": "mast",
    "pandalm/*.json": "pandalm",
    "crowd_rte/rte.standardized.csv": "ratings",
    "judgebench_recipes/meta_evaluation_recipes.json": "judge-bench",
    "llmbar_manual/dataset.json": "llmbar",
    "llmbar_manual/evaluators/*/*/result.json": "llmbar",
    "langfuse_traces/*.trace.json": "langfuse",
    "provider_payloads/*/*.json": "provider",
    "inspect_logs/*.json": "inspect-json",
    "inspect_logs/*.eval": "inspect-eval",
    "swe_agent_traj/*.traj": "swe-agent",
    "toolbench_answers/*.json": "toolbench",
    "toolfailbench/*/tasks.json": "toolfailbench-tasks",
    "bfcl_v4/*.json": "bfcl",
    "reference_tables/fleiss1971_diagnoses_30x6.csv": "ratings",
    "reference_tables/krippendorff2011_12x4_missing.csv": "ratings",
}
REFUSED = (
    "judgebench_recipes/results_regular_*.json",
    "llmbar_manual/evaluators/*/*/statistics.json",
    "langfuse_traces/*.chatml.json",
    "reference_tables/sas_table_3x3.csv",
    "crowd_rte/mace_units_rte.csv",
)


@pytest.mark.parametrize("pattern", FORMATS)
def test_a_real_file_is_known_by_its_content(shared: Path, pattern: str) -> None:
    paths = sorted((shared / "real").glob(pattern))
    assert paths
    assert {sniff_format(path).name for path in paths} == {FORMATS[pattern]}


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_is_no_trace_and_no_rating_is_refused(shared: Path, pattern: str) -> None:
    paths = sorted((shared / "real").glob(pattern))
    assert paths
    for path in paths:
        with pytest.raises(FormatError, match="no known format"):
            sniff_format(path)


def test_every_format_has_a_name_and_one_line_of_its_own() -> None:
    assert len({reader.name for reader in READERS}) == len(READERS) == 24
    for reader in READERS:
        assert reader.description
        assert len(reader.description) <= 100
        assert "\n" not in reader.description
