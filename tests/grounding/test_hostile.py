"""A seeded part of the fuzz benchmark: nothing escapes, whatever an answer holds."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import pytest

from labelkit.grounding.textcalls import calls_in_text
from labelkit.grounding.values import MOST_VALUES, find_values
from labelkit.grounding.visible import strip_reasoning

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz_grounding.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_grounding", BENCHMARK)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_random_and_structured_strings(fuzz: ModuleType) -> None:
    draw = random.Random(7)
    rule = fuzz.rule_on()
    for number in range(1500):
        text = fuzz.hostile(draw)
        last = 0
        for value in find_values(text):
            assert last <= value.start < value.end <= len(text)
            assert value.text == text[value.start : value.end]
            last = value.start
        assert len(strip_reasoning(text)) <= len(text)
        calls_in_text(text, ("look",))
        if number % 5 == 0:
            assert rule(text).label in {None, "correct", "result_ignore", "output_fabrication"}


def test_every_piece_at_length(fuzz: ModuleType) -> None:
    rule = fuzz.rule_on()
    for piece in fuzz.PIECES:
        text = fuzz.stretched(piece, 3000)
        assert len(find_values(text)) <= MOST_VALUES
        rule(text)


@pytest.mark.parametrize("piece", ["1a-", "\u00bd", "9,", "5 days ", "| 5 ", "word "])
def test_a_megabyte(fuzz: ModuleType, piece: str) -> None:
    ruling = fuzz.rule_on()(fuzz.stretched(piece, 1_000_000))
    if piece == "word ":
        assert "values_cut" not in ruling.flags
    else:
        # What was not read to its end decides nothing, and says so.
        assert (ruling.label, ruling.reason) == (None, "too_many_values")
        assert "values_cut" in ruling.flags
