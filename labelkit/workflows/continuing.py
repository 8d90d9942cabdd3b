"""A run that goes on must go on as it began: otherwise two settings would share one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from labelkit.errors import InputError
from labelkit.rollout.protocol import Decoding
from labelkit.store import Selection, Store
from labelkit.store.traces import rows

_LOOKED_AT = 64


def check_unchanged(
    store: Store,
    *,
    model: str,
    condition: str,
    task_sets: Sequence[str],
    protocol: str,
    decoding: Decoding,
) -> None:
    """Refuse to add rollouts to those of a model and condition that were played otherwise.

    Looks at the first traces of each task set; imported ones, which do not say how they were
    played, are passed over.

    Raises:
        InputError: names the settings that differ, with both values.
    """
    now = {"protocol": protocol, **asdict(decoding)}
    for task_set in dict.fromkeys(task_sets):
        known = Selection(
            models=(model,), conditions=(condition,), task_sets=(task_set,), limit=_LOOKED_AT
        )
        for trace, _ in rows(store, known):
            changed = _differences(trace.extra, now)
            if changed:
                told = ", ".join(f"{name} {then} then, {new} now" for name, then, new in changed)
                arm = f" under condition {condition!r}" if condition else ""
                raise InputError(
                    f"the store has rollouts of {model} on {task_set}{arm} that were played"
                    f" otherwise ({told}); run with the same settings, or under another name"
                    " (--condition NAME)"
                )


def _differences(then: dict[str, Any], now: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Names of settings with their old and new values, where both are known and differ."""
    decoding = then.get("decoding")
    if not isinstance(decoding, dict):
        return []
    old = {**decoding, "protocol": then.get("protocol")}
    return [(name, old[name], now[name]) for name in now if name in old and old[name] != now[name]]
