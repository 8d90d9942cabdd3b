"""Retry-After in its three forms, and full jitter without it."""

from __future__ import annotations

import random

import pytest

from labelkit.models.waiting import Patience, backoff_s, retry_after_s

NOON = 1_445_412_480.0  # Wed, 21 Oct 2015 07:28:00 GMT, the example of RFC 9110, 10.2.3


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, 0.0),
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "x", "retry-after": "4"}, 4.0),
        ({"retry-after": "Wed, 99 Oct 99999 07:28:30 GMT"}, None),
    ],
)
def test_e1_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now=NOON) == seconds


def test_backoff_is_full_jitter_under_a_doubling_ceiling() -> None:
    patience = Patience(base_s=0.5, cap_s=4.0)
    draw = random.Random(7)
    for failed, ceiling in [(1, 0.5), (2, 1.0), (3, 2.0), (4, 4.0), (5, 4.0), (500, 4.0)]:
        waits = [backoff_s(patience, failed, draw) for _ in range(200)]
        assert 0 <= min(waits) < 0.1 * ceiling
        assert 0.9 * ceiling < max(waits) <= ceiling
