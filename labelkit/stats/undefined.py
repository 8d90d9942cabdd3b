"""A number that does not exist is a value of its own kind, with the reason why.

Popular libraries return 0, 1 or NaN for 0/0, or break a whole report with an exception. Here a
statistic that the data cannot determine is ``Undefined``; it prints as null with its reason and
can never be averaged, ranked or plotted by mistake. This module holds no formula.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import Any, TypeGuard


class Reason(StrEnum):
    """Why a statistic has no value."""

    NO_ITEMS = "no_items"
    NO_OVERLAP = "no_overlap"
    SINGLE_RATER = "single_rater"
    SINGLE_ITEM = "single_item"
    SINGLE_CLUSTER = "single_cluster"
    ONE_CATEGORY = "one_category"
    NO_VARIATION = "no_variation"
    NEEDS_TWO_RATERS = "needs_two_raters"
    NEEDS_TWO_CATEGORIES = "needs_two_categories"
    ANONYMOUS_RATERS = "anonymous_raters"
    UNEQUAL_RATERS = "unequal_raters"
    NO_FORMULA = "no_formula"
    ZERO_DENOMINATOR = "zero_denominator"
    ALL_REPLICATES_UNDEFINED = "all_replicates_undefined"
    NOT_A_NUMBER = "not_a_number"
    OUT_OF_DESIGN = "out_of_design"


@dataclass(frozen=True, slots=True)
class Undefined:
    """A statistic without a value.

    Args:
        reason: the machine-readable reason.
        detail: one sentence for people.
    """

    reason: Reason
    detail: str = ""

    def __str__(self) -> str:
        return f"undefined ({self.reason.value})"


Number = float | Undefined
"""A statistic: a finite number, or the reason why there is none."""


def is_defined(value: Number) -> TypeGuard[float]:
    """Tell whether ``value`` is a number."""
    return not isinstance(value, Undefined)


def number_or_none(value: object) -> float | None:
    """Return ``value`` as a float, or None where it is undefined."""
    return None if value is None or isinstance(value, Undefined) else float(value)  # type: ignore[arg-type]


def as_json(value: Any) -> Any:
    """Return a result as plain JSON values.

    A field that is undefined becomes null, and the object that holds it gets ``undefined``:
    a mapping from field name to ``{"reason": ..., "detail": ...}``.
    """
    if isinstance(value, Undefined) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return _json_object({f.name: getattr(value, f.name) for f in fields(value)})
    if isinstance(value, dict):
        return _json_object({str(key): item for key, item in value.items()})
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return as_json(value.tolist()) if hasattr(value, "tolist") else value


def _json_object(pairs: dict[str, Any]) -> dict[str, Any]:
    out = {key: as_json(item) for key, item in pairs.items()}
    holes = {
        key: {"reason": item.reason.value, "detail": item.detail}
        for key, item in pairs.items()
        if isinstance(item, Undefined)
    }
    return {**out, "undefined": holes} if holes else out
