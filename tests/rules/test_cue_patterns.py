"""The quick search finds what the plain expression finds, in every list of wordings there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelkit.rules import (
    feasibility_signal,
    post_failure_honesty_danger,
    post_failure_honesty_reasons,
    post_failure_honesty_reports,
    post_failure_honesty_table,
)
from labelkit.rules import post_failure_honesty_names as names
from labelkit.rules import post_failure_honesty_wording as wording
from labelkit.rules.cue_heads import Head, alternatives, heads
from labelkit.rules.cue_patterns import CueIndex, Cues, any_of

PLAIN = (
    r"\bno (?:data|rows)\b|\bnot (?:found|seen)\b",
    r"~|\bcan(?:not|'t)\b",
    r"\b[|)]x\b|\ba\|b\b",
    r"[|(]y",
)
QUICK = any_of(*PLAIN)
PIECES = ["no", "data", "rows", "not", "found", "cannot", "can't", "~", "|x", ")x", "a|b", "|y"]
WORDS = st.sampled_from([*PIECES, "snow", " "])

MODULES = (
    wording, post_failure_honesty_danger, post_failure_honesty_reasons, feasibility_signal, names,
)  # fmt: skip
REAL = {
    **{
        f"{module.__name__}.{name}": value
        for module in MODULES
        for name, value in vars(module).items()
        if isinstance(value, Cues)
    },
    **{reason.name: reason.words for reason in post_failure_honesty_table.REASONS},
    **{
        f"report {place} {report.name}": report.words
        for place, report in enumerate(post_failure_honesty_reports.REPORTS)
    },
}
SAYINGS = [
    str(json.loads(line)).lower()
    for line in (Path(__file__).parent / "sayings.jsonl").read_text(encoding="utf-8").splitlines()
]


def words_of(cues: Cues) -> list[str]:
    """Runs of letters of an expression: texts made of them come near to what it finds."""
    return sorted(set(re.findall(r"[^\W\d_]+|[' :~/-]|[0-9]+", cues.pattern)))


@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_the_same_places_are_found(text: str) -> None:
    plain = re.compile("|".join(PLAIN))
    wanted = [m.span() for m in plain.finditer(text) if m[0][0].isalnum() or m[0] in {"~", "|y"}]
    assert [m.span() for m in QUICK.finditer(text)] == wanted
    first = QUICK.search(text)
    assert (first.span() if first else None) == (wanted[0] if wanted else None)


@pytest.mark.parametrize("name", sorted(REAL))
def test_every_list_finds_what_its_plain_expression_finds(name: str) -> None:
    cues, plain = REAL[name], re.compile(REAL[name].pattern)
    for text in SAYINGS:
        wanted = [m.span() for m in plain.finditer(text)]
        assert [m.span() for m in cues.finditer(text)] == wanted, text
        assert [m.span() for m in CueIndex([cues]).find(text).get(0, [])] == wanted, text


@given(st.data())
def test_texts_of_the_wordings_own_words(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(REAL)))
    cues = REAL[name]
    text = "".join(
        data.draw(st.lists(st.sampled_from([*words_of(cues), " ", " ", " "]), max_size=25))
    )
    wanted = [m.span() for m in re.compile(cues.pattern).finditer(text)]
    if cues.needs and not any(part in text for part in cues.needs):
        # What is needed is also asked of reasons as such: without it nothing may be found.
        wanted = []
    assert [m.span() for m in cues.finditer(text)] == wanted


@given(st.lists(st.sampled_from(SAYINGS), max_size=3).map(" ".join))
def test_cues_together_find_what_each_finds_alone(text: str) -> None:
    every = list(REAL.values())
    alone = {n: [m.span() for m in one.finditer(text)] for n, one in enumerate(every)}
    together = {n: [m.span() for m in hits] for n, hits in CueIndex(every).find(text).items()}
    assert together == {n: spans for n, spans in alone.items() if spans}


def test_bars_inside_groups_and_classes_do_not_split() -> None:
    for pattern, text in ((r"\ba(?:b|c)d", "acd"), (r"\ba[|]d|e", "a|d"), (r"\ba\|d", "a|d")):
        found = any_of(pattern).search(text)
        assert found is not None
        assert found[0] == text
    assert alternatives(r"a(?:b|c)|[|]|d\|") == ["a(?:b|c)", "[|]", r"d\|"]


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("no data", {Head("no", ended=True)}),
        ("errors?", {Head("error")}),
        ("cats?", {Head("cat"), Head("cats")}),
        ("(?:a|an)? ?end", {Head("a", ended=True), Head("an", ended=True), Head("end"),
                            Head("aend"), Head("anend"), Head("", ended=True)}),
        (r"\w+ing", {Head("")}),
        ("(?:ab)+c", {Head("ab")}),
        ("(?!x)ab", {Head("ab")}),
        (r"d\u00e9j\w", {Head("déj")}),
        ("x{0,2}y", {Head("x"), Head("y")}),
    ],
)  # fmt: skip
def test_beginnings_are_read_off_an_expression(pattern: str, wanted: set[Head]) -> None:
    assert heads(pattern, words=True) == wanted


def test_an_open_bracket_is_an_error() -> None:
    with pytest.raises(ValueError, match="not closed"):
        heads("(?:ab", words=True)
