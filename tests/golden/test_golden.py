"""Every check of every golden case, from whatever folder LABELKIT_GOLDEN names."""

from __future__ import annotations

import math
from typing import Any

import pytest

from labelkit.errors import StatisticsError
from labelkit.stats.undefined import Undefined
from tests.golden import agreement_answers, other_answers
from tests.golden.reading import Check, checks, folder

CHECKS = checks()
PROSE = {"reason", "undefined", "raises", "warns", "one_of"}
SHARES = {"percent_agreement", "unanimous_agreement"}
"""Their intervals lie within [0, 1]; an expected limit below 0 is cut there before comparing."""
CLIPPED = {*agreement_answers.WEIGHTED, *agreement_answers.PLAIN, "krippendorff_alpha"}


def answer(check: Check) -> dict[str, Any]:
    found = agreement_answers.answer(check)
    if found is not None:
        return found
    assert check.statistic in other_answers.ANSWERS, f"no answer to {check.statistic!r}"
    return other_answers.ANSWERS[check.statistic](check)


@pytest.mark.parametrize("check", CHECKS, ids=[check.name for check in CHECKS])
def test_check(check: Check) -> None:
    try:
        got: dict[str, Any] | StatisticsError = answer(check)
    except StatisticsError as error:
        got = error
    problems = [differences(check, wanted, got) for wanted in alternatives(check.expect)]
    assert any(not found for found in problems), "\n".join(map(str, problems))


def test_the_folder_holds_cases() -> None:
    if not folder().is_dir():
        pytest.skip(f"needs the golden cases in {folder().name}/ beside the checkout")
    assert CHECKS, "the folder holds no golden case"


def alternatives(expect: dict[str, Any]) -> list[dict[str, Any]]:
    return expect.get("one_of") or [expect]


def differences(check: Check, wanted: dict[str, Any], got: Any) -> list[str]:
    """Return what is wrong, empty when the answer is accepted."""
    if wanted.get("raises"):
        return [] if isinstance(got, StatisticsError) else [f"no error, but {got}"]
    if isinstance(got, StatisticsError):
        return [f"raised: {got}"]
    if wanted.get("warns"):
        return [] if got.get("flags") else ["no flag"]
    out = []
    for key, value in wanted.items():
        if key in PROSE:
            continue
        if key not in got:
            out.append(f"{key} is not answered")
            continue
        clip = None
        if key == "ci" and check.statistic in CLIPPED:
            clip = 0.0 if check.statistic in SHARES else -1.0
        out += compare(key, value, got[key], check.tolerance(key), clip=clip)
    return out


def compare(key: str, wanted: Any, got: Any, tol: float, *, clip: float | None = None) -> list[str]:
    """Compare nested values; a null wants something undefined."""
    if wanted is None:
        fine = (
            got is None
            or isinstance(got, Undefined)
            or (isinstance(got, float) and math.isnan(got))
        )
        return [] if fine else [f"{key}: {got!r} where undefined was wanted"]
    if isinstance(wanted, bool | str):
        return [] if wanted == got else [f"{key}: {got!r}, not {wanted!r}"]
    if isinstance(wanted, dict):
        if not isinstance(got, dict) or set(map(str, wanted)) != set(map(str, got)):
            return [f"{key}: {got!r}, not {wanted!r}"]
        return [
            problem
            for inner in wanted
            for problem in compare(f"{key}.{inner}", wanted[inner], got[inner], tol)
        ]
    if isinstance(wanted, list):
        if not isinstance(got, list | tuple) or len(got) != len(wanted):
            return [f"{key}: {got!r}, not {wanted!r}"]
        return [
            problem
            for k, (w, g) in enumerate(zip(wanted, got, strict=True))
            for problem in compare(f"{key}[{k}]", w, g, tol, clip=clip)
        ]
    if not isinstance(got, int | float) or isinstance(got, bool):
        return [f"{key}: {got!r}, not {wanted!r}"]
    if clip is not None:
        wanted, got = (max(clip, min(1.0, v)) for v in (wanted, got))
    allowed = abs(tol) * abs(wanted) if tol < 0 else tol
    return [] if abs(wanted - got) <= allowed else [f"{key}: {got!r}, not {wanted!r} +- {allowed}"]
