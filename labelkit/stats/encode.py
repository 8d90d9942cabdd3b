"""From labels as people write them to codes that arrays can hold.

Python thinks that ``True == 1 == 1.0`` and that ``float('nan')`` differs from itself, and sorting
``1`` beside ``"1"`` fails; a label table must not inherit any of that. Text, truth values and
numbers are three kinds that never mix; None and NaN mean missing; every refusal names the item,
the rater and the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelkit.errors import StatisticsError

Value = str | bool | int | float
"""A label: a JSON scalar."""

Codes = NDArray[np.int32]
"""Positions in the tuple of categories; -1 is a missing rating."""

Place = Callable[[int], str]
"""Turns the flat position of a rating into words: ``item 'x', rater 'y'``."""

MISSING = -1
_UNKNOWN = -2
_FEW = 64


def encode(
    values: Sequence[Any] | NDArray[Any], categories: Sequence[Value] | None, place: Place
) -> tuple[Codes, tuple[Value, ...]]:
    """Return the code of every value, and the categories.

    Args:
        values: labels in any order, shape (n,); None and NaN are missing.
        categories: the declared label set; None takes the labels that occur, in sorted order.
        place: names the place of the k-th value in error messages.

    Raises:
        StatisticsError: for labels of mixed kinds, a label that is not declared, or a value that
            is no label at all.
    """
    declared = None if categories is None else check_categories(categories)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iufb" and not _beyond(values):
        return _encode_numbers(values, declared, place)
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        return _encode_text(values, declared, place)
    flat = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return _encode_objects(flat, declared, place)


def _beyond(values: NDArray[Any]) -> bool:
    """Tell whether an array holds whole numbers that floats cannot tell apart."""
    return bool(values.dtype.kind in "iu" and len(values) and int(np.abs(values).max()) > 2**53)


def numbers(values: Any, what: str) -> NDArray[np.float64]:
    """Return values as an array of floats.

    Args:
        values: numbers, in any nesting.
        what: names them in the error message.

    Raises:
        StatisticsError: for text, ragged rows or anything else that is no number.
    """
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"{what} must be numbers: {error}") from None


def check_categories(categories: Sequence[Value]) -> tuple[Value, ...]:
    """Return the declared labels as a tuple.

    Raises:
        StatisticsError: for an empty set, a repeated label, or labels of mixed kinds.
    """
    declared = tuple(c.item() if isinstance(c, np.generic) else c for c in categories)
    if not declared:
        raise StatisticsError("the declared label set is empty; declare at least one label")
    kinds = {kind_of(c) for c in declared}
    if "missing" in kinds or None in kinds:
        raise StatisticsError(
            f"declared labels {list(declared)!r} hold something that is no label; "
            "use text, truth values or numbers"
        )
    if len(kinds) > 1:
        raise StatisticsError(
            f"declared labels {list(declared)!r} mix {_kinds(kinds)}; use labels of one kind"
        )
    if len(set(declared)) < len(declared):
        twice = next(c for c in declared if declared.count(c) > 1)
        raise StatisticsError(f"label {twice!r} is declared twice; declare every label once")
    return declared


def kind_of(value: object) -> str | None:
    """Return ``text``, ``truth``, ``number`` or ``missing``; None for what is no label."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "missing"
    return _kind_of_type(type(value))


def _kind_of_type(kind: type) -> str | None:
    if issubclass(kind, str):
        return "text"
    if issubclass(kind, bool | np.bool_):
        return "truth"
    if issubclass(kind, int | float | np.integer | np.floating):
        return "number"
    return "missing" if kind is type(None) else None


def _encode_numbers(
    values: NDArray[Any], declared: tuple[Value, ...] | None, place: Place
) -> tuple[Codes, tuple[Value, ...]]:
    kind = "truth" if values.dtype.kind == "b" else "number"
    present = ~np.isnan(values) if values.dtype.kind == "f" else np.ones(len(values), dtype=bool)
    if declared is None:
        found = np.unique(values[present]).tolist()
        declared = tuple(found)
    elif kind_of(declared[0]) != kind and present.any():
        raise _mixed(declared, values[present][0].item(), place(int(present.argmax())))
    if not declared:
        return np.full(len(values), MISSING, dtype=np.int32), ()
    scale = np.asarray(declared, dtype=np.float64)
    order = np.argsort(scale)
    slot = np.searchsorted(scale[order], values).clip(0, len(scale) - 1)
    codes = order[slot].astype(np.int32)
    codes[scale[codes] != values] = _UNKNOWN
    codes[~present] = MISSING
    return _refuse_unknown(codes, values, declared, place), declared


def _encode_text(
    values: NDArray[Any], declared: tuple[Value, ...] | None, place: Place
) -> tuple[Codes, tuple[Value, ...]]:
    """Compare whole columns label by label; with few labels that beats hashing every string."""
    if declared is not None and len(values) and kind_of(declared[0]) != "text":
        raise _mixed(declared, str(values[0]), place(0))
    if declared is None:
        found = _few_texts(values)
        if found is None:
            return _encode_objects(values.tolist(), None, place)
        declared = tuple(sorted(found))
    elif len(declared) > _FEW:
        return _encode_objects(values.tolist(), declared, place)
    codes = np.full(len(values), _UNKNOWN, dtype=np.int32)
    for code, label in enumerate(declared):
        codes[values == label] = code
    return _refuse_unknown(codes, values, declared, place), declared


def _few_texts(values: NDArray[Any]) -> list[str] | None:
    """Return the distinct texts when there are few, None when there are many."""
    found: list[str] = []
    rest = values
    while len(rest):
        if len(found) == _FEW:
            return None
        found.append(str(rest[0]))
        rest = rest[rest != rest[0]]
    return found


def _encode_objects(
    values: list[Any], declared: tuple[Value, ...] | None, place: Place
) -> tuple[Codes, tuple[Value, ...]]:
    _refuse_mixed(values, declared, place)
    if declared is None:
        found = {v for v in set(values) if kind_of(v) != "missing"}
        declared = tuple(sorted(_plain(v) for v in found))
    lookup: dict[Any, int] = {label: code for code, label in enumerate(declared)}
    lookup[None] = MISSING
    found_codes = map(lookup.get, values, _repeat(_UNKNOWN, len(values)))
    codes = np.fromiter(found_codes, dtype=np.int32, count=len(values))
    for position in np.flatnonzero(codes == _UNKNOWN):
        if kind_of(values[position]) == "missing":
            codes[position] = MISSING
    return _refuse_unknown(codes, values, declared, place), declared


def _repeat(value: int, times: int) -> list[int]:
    return [value] * times


def _refuse_mixed(values: list[Any], declared: tuple[Value, ...] | None, place: Place) -> None:
    """Raise unless all values are of one kind, and of the kind that is declared."""
    types = set(map(type, values))
    kinds = {_kind_of_type(t) for t in types} - {"missing"}
    if float in types and kinds != {"number"}:
        # A float beside text may only be NaN, the missing value of a column read by pandas.
        kinds = {kind_of(v) for v in set(values)} - {"missing"}
    if declared is not None:
        kinds.add(kind_of(declared[0]))
    if len(kinds) < 2 and None not in kinds:
        return
    first = kind_of(declared[0]) if declared is not None else None
    for position, value in enumerate(values):
        kind = kind_of(value)
        if kind == "missing":
            continue
        if kind is None:
            raise StatisticsError(
                f"{place(position)}: {value!r} is no label; use text, a truth value or a number"
            )
        first = first or kind
        if kind != first:
            wanted = (
                f"declared labels are {first}" if declared is not None else f"others are {first}"
            )
            raise StatisticsError(
                f"{place(position)}: label {value!r} is {kind} while the {wanted}; "
                "write all labels of a table in one kind"
            )


def _refuse_unknown(codes: Codes, values: Any, declared: tuple[Value, ...], place: Place) -> Codes:
    unknown = codes == _UNKNOWN
    if unknown.any():
        position = int(unknown.argmax())
        raise StatisticsError(
            f"{place(position)}: label {_plain(values[position])!r} is not among the declared "
            f"labels {list(declared)!r}; mend the label or declare it"
        )
    return codes


def _mixed(declared: tuple[Value, ...], value: object, where: str) -> StatisticsError:
    return StatisticsError(
        f"{where}: label {value!r} is {kind_of(value)} while the declared labels are "
        f"{kind_of(declared[0])}; write all labels of a table in one kind"
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _kinds(kinds: set[str | None]) -> str:
    return " and ".join(sorted(k for k in kinds if k))
