"""Reads a release with the loaders its users have; run in a process of its own, without a network.

``python -m tests.workflows.release.loading RELEASE CACHE`` prints one JSON object: what mlcroissant
finds wrong, the records of every record set, and the rows of every table as ``datasets`` loads it.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import warnings
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"

import mlcroissant

import datasets


def refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("a loader tried the network")


def by_croissant(folder: Path) -> dict[str, Any]:
    described = mlcroissant.Dataset(folder / "croissant.json")
    issues = described.metadata.ctx.issues
    return {
        "errors": sorted(issues.errors),
        "warnings": sorted(issues.warnings),
        "records": {
            records.id: [plain(row) for row in described.records(records.id)]
            for records in described.metadata.record_sets
        },
    }


def plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: cell(value) for name, value in row.items()}


def cell(value: Any) -> Any:
    """Text is bytes there, and null is not a number."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return None if value != value else value


def by_datasets(folder: Path, cache: str) -> dict[str, Any]:
    tables = {}
    for path in sorted([*folder.glob("*.parquet"), *folder.glob("*.jsonl")]):
        kind = "json" if path.suffix == ".jsonl" else "parquet"
        loaded = datasets.load_dataset(kind, data_files=str(path), cache_dir=cache)
        tables[path.name] = loaded["train"].to_list()
    configs = {
        name: len(datasets.load_dataset(str(folder), name, cache_dir=cache)["train"])
        for name in datasets.get_dataset_config_names(str(folder))
    }
    return {"tables": tables, "configs": configs}


def main() -> None:
    warnings.simplefilter("ignore")
    socket.socket.connect = refuse  # type: ignore[method-assign,assignment]
    socket.getaddrinfo = refuse  # type: ignore[assignment]
    datasets.disable_progress_bars()
    folder = Path(sys.argv[1])
    found = {"croissant": by_croissant(folder), "datasets": by_datasets(folder, sys.argv[2])}
    print(json.dumps(found, default=str))


if __name__ == "__main__":
    main()
