"""The colours of labels and people, seen by eyes with and without each kind of cone.

Simulation: Machado, Oliveira and Fernandes 2009, severity 1.0, in linear light. Difference:
CIEDE2000 (Sharma, Wu and Dalal 2005), held here against two rows of their table.
"""

from __future__ import annotations

import itertools
from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from app.colours import DARK, GROUNDS, LIGHT, as_css

Triple = NDArray[np.float64]
EYES = {
    "common": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def linear(colour: str) -> Triple:
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(light: Triple) -> tuple[float, float, float]:
    ratio = TO_XYZ @ light / np.array([0.95047, 1.0, 1.08883])
    root = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    x, y, z = (float(value) for value in root)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def contrast(one: str, other: str) -> float:
    """As WCAG 2.2 defines it."""
    low, high = sorted(float(TO_XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def difference(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """CIEDE2000."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (hypot(a1, b1) + hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    weight = (
        1
        - 0.17 * cos(radians(hue - 30))
        + 0.24 * cos(radians(2 * hue))
        + 0.32 * cos(radians(3 * hue + 6))
        - 0.20 * cos(radians(4 * hue - 63))
    )
    scale_l = 1 + 0.015 * (lightness - 50) ** 2 / sqrt(20 + (lightness - 50) ** 2)
    scale_c, scale_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * weight
    rotation = (
        -2
        * sqrt(chroma**7 / (chroma**7 + 25**7))
        * sin(radians(60 * exp(-(((hue - 275) / 25) ** 2))))
    )
    by_l, by_c = (l2 - l1) / scale_l, (c2 - c1) / scale_c
    by_h = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / scale_h
    return sqrt(by_l**2 + by_c**2 + by_h**2 + rotation * by_c * by_h)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ],
)
def test_the_measure_is_the_published_one(
    one: tuple[float, float, float], other: tuple[float, float, float], expected: float
) -> None:
    assert difference(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_any_two_colours_differ_to_every_eye(colours: tuple[str, ...], eye: str) -> None:
    seen = {c: lab(np.clip(EYES[eye] @ linear(c), 0, 1)) for c in colours}
    nearest = min(
        (difference(seen[a], seen[b]), a, b) for a, b in itertools.combinations(colours, 2)
    )
    assert nearest[0] >= 13, nearest


@pytest.mark.parametrize(("colours", "theme"), [(LIGHT, "light"), (DARK, "dark")])
def test_every_colour_is_seen_on_its_ground(colours: tuple[str, ...], theme: str) -> None:
    weakest = min((contrast(colour, GROUNDS[theme]), colour) for colour in colours)
    assert weakest[0] >= 3, weakest


def test_components_get_a_colour_for_each_theme() -> None:
    for number, (light, dark) in enumerate(zip(LIGHT, DARK, strict=True)):
        assert f"--c{number}: light-dark({light}, {dark});" in as_css()
