"""Reads golden cases (schema ``labelkit-golden/1``) into tables and plain values."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labelkit.stats import ratings
from labelkit.stats.ratings import RatingTable

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = ROOT.parent / "shared" / "golden"


@dataclass(frozen=True)
class Check:
    """One check of one case."""

    case: str
    id: str
    statistic: str
    params: dict[str, Any]
    input: dict[str, Any]
    expect: dict[str, Any]
    tol: Any

    @property
    def name(self) -> str:
        return f"{self.case}:{self.id}"

    def tolerance(self, key: str) -> float:
        if isinstance(self.tol, dict):
            return float(self.tol.get(key, self.tol.get("default", 1e-9)))
        return float(self.tol)

    def table(self) -> RatingTable:
        """The ratings of this check, whatever the layout."""
        data = self.input
        categories = self.params.get("categories", data.get("categories"))
        kind = data["kind"]
        if kind == "contingency":
            return ratings.from_contingency(data["counts"], categories)
        if kind == "counts":
            return ratings.from_counts(data["counts"], categories)
        if kind == "long":
            return ratings.from_triples([tuple(r) for r in data["records"]], categories)
        return ratings.from_rows(data["values"], categories, raters=data.get("raters"))


def folder() -> Path:
    """The folder of cases: LABELKIT_GOLDEN, or shared/golden beside the checkout."""
    return Path(os.environ.get("LABELKIT_GOLDEN", DEFAULT))


def checks() -> list[Check]:
    """Every check of every case in the folder, in file order."""
    out = []
    for path in sorted(folder().glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case.get("schema") != "labelkit-golden/1":
            continue
        out.extend(_check(case, check) for check in case["checks"])
    return out


def _check(case: dict[str, Any], check: dict[str, Any]) -> Check:
    data = {**case["input"], **check.get("input_override", {})}
    return Check(
        case["id"],
        check["id"],
        check["statistic"],
        plain(check.get("params", {})),
        plain(data),
        plain(check["expect"]),
        check.get("tol", 1e-9),
    )


def plain(value: Any) -> Any:
    """Turn ``{"$int": 1}`` and its like into exact Python values."""
    if isinstance(value, dict):
        if len(value) == 1:
            key, inner = next(iter(value.items()))
            exact = {"$int": int, "$float": float, "$bool": bool, "$nan": lambda _: math.nan}
            if key in exact:
                return exact[key](inner)
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value
