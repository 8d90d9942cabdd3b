"""The card and its figures show names of strangers and obey none of them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from markdown_it import MarkdownIt

from labelkit.domain.label import Label, Outcome, Rater
from labelkit.domain.rates import Denominator, Predicate, Rate
from labelkit.domain.rubric import Question, Rubric
from labelkit.domain.terms import Terms
from labelkit.store import Store
from labelkit.store.labels import commit_labels
from labelkit.store.raters import add_rater, add_rubric
from labelkit.store.terms import note_terms
from labelkit.store.traces import add_traces
from labelkit.workflows.release.export import Wanted, export
from labelkit.workflows.release.verify import verify
from tests.workflows.review import desk

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "a | b || c",
    "``` `x` ~~~",
    "line\n\n# head\n---\nend",
    "[click](javascript:alert(1)) ![i](http://e.example/x.png)",
    "&lt;b&gt; *bold* __x__ \\ $y$",
    "\x00 \ud800 \u202e",
    '"quoted": {yaml: [}',
)


def hostile_rubric(text: str) -> Rubric:
    label = desk.definition("good", "1").model_copy(update={"name": text, "title": text})
    labels = (label, desk.definition("bad", "2"))
    question = Question(id="q", type="choice", text=text, labels=labels)
    rate = Rate(
        id="R",
        title=text,
        question="q",
        numerator=Predicate(labels=(text,)),
        denominator=Denominator(name=text),
    )
    return desk.rubric(question, title=text, source=text, rates=(rate,))


@pytest.mark.parametrize("text", HOSTILE)
def test_names_of_strangers_are_shown_not_obeyed(tmp_path: Path, text: str) -> None:
    rubric = hostile_rubric(text)
    with Store.open(f"sqlite:///{tmp_path / 'a.db'}", create=True) as store:
        add_rubric(store, rubric)
        traces = [
            desk.trace(n, model=f"{text} {n % 2}", task_set=text, tags={"domain": text})
            for n in range(6)
        ]
        add_traces(store, traces)
        note_terms(store, Terms(name=text, licence=text, redistributable=True, source=text))
        for kind, name in (("judge", text), ("person", text), ("person", f"{text} too")):
            rated(store, traces, rubric, kind, name)
        out = export(store, rubric, tmp_path / "out", wanted=Wanted(name=text, url=text)).folder
    assert verify(out).faults == ()
    card = (out / "README.md").read_text(encoding="utf-8")
    _, front, body = card.split("---\n", 2)
    assert yaml.safe_load(front)["configs"]
    check_page(body)
    for path in (out / "figures").glob("*.svg"):
        tags = {element.tag.rpartition("}")[2] for element in ET.parse(path).iter()}
        assert not tags & {"script", "image", "a", "foreignObject", "img"}
    described = json.loads((out / "croissant.json").read_text(encoding="utf-8"))
    assert described["license"] == [text]


def rated(store: Store, traces: list, rubric: Rubric, kind: str, name: str) -> None:
    spec = {"rubric": rubric.name, "rubric_digest": rubric.digest}
    rater = Rater(kind=kind, name=name, version="1", spec=spec)
    add_rater(store, rater)
    first, second = (label.name for label in rubric.questions[0].labels)
    labels = [
        Label(
            trace=trace.digest,
            rater=rater.digest,
            question="q",
            outcome=Outcome.LABELLED,
            value=first if number % 2 else second,
            created_at=desk.START,
        )
        for number, trace in enumerate(traces)
    ]
    commit_labels(store, labels)


def check_page(body: str) -> None:
    """One title, no HTML, no links, only our own figures, and tables whose rows are whole."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(body)
    inline = [child for token in tokens for child in token.children or ()]
    assert not [t for t in (*tokens, *inline) if t.type in {"html_block", "html_inline"}]
    assert not [t for t in inline if t.type == "link_open"]
    images = [t.attrs["src"] for t in inline if t.type == "image"]
    assert images == ["figures/rates-q.png", "figures/agreement-q.png"]
    assert [t.tag for t in tokens if t.type == "heading_open"].count("h1") == 1
    assert not [t for t in tokens if t.type == "hr"]
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == 2
    # One rate and eight coefficients, each in a row of its own below its heading.
    assert kinds.count("tr_open") == 2 + 1 + 8
    assert kinds.count("td_open") == 1 * 6 + 8 * 4
