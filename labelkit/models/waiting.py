"""How long to wait before a resend. There is exactly one retry layer, and this is its clock.

Retry-After comes in three forms: seconds, an HTTP date, and ``retry-after-ms``. It is honoured
up to a cap; without it the wait grows exponentially with full jitter (Brooker, "Exponential
Backoff And Jitter", AWS Architecture Blog, 2015), so that rows which failed together do not
return together. Nothing sleeps in this module.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True)
class Patience:
    """The limits of the retry layer, in requests and seconds.

    ``attempts`` bounds the requests for one row; ``limited_attempts`` those after replies that
    are no chat completion; ``unreachable_attempts`` those to a host that never answered.
    """

    attempts: int = 10
    limited_attempts: int = 3
    unreachable_attempts: int = 4
    base_s: float = 0.5
    cap_s: float = 30.0
    retry_after_cap_s: float = 120.0


@dataclass(frozen=True, slots=True)
class Wait:
    """One wait before a resend, for whoever shows progress.

    ``asked_s`` is what the endpoint asked for (None if it did not), ``seconds`` what is waited.
    """

    endpoint: str
    seconds: float
    attempt: int
    message: str
    status: int | None = None
    asked_s: float | None = None


def retry_after_s(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the wait that the reply's headers ask for in seconds, or None.

    ``now`` is the Unix time against which an HTTP date counts. A date in the past is 0.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        at = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, at - (time.time() if now is None else now))


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def backoff_s(patience: Patience, failed_attempts: int, draw: random.Random) -> float:
    """Return a wait drawn from [0, min(cap, base * 2^(n-1))] after ``failed_attempts`` = n."""
    ceiling = min(patience.cap_s, patience.base_s * 2.0 ** min(failed_attempts - 1, 30))
    return draw.uniform(0.0, ceiling)
