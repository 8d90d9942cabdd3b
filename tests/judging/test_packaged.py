"""Every rubric that ships can be put to a judge, for every task subset, without knowing it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from labelkit.catalog.rubrics import load_rubric, rubric_names
from labelkit.domain.endpoint import Endpoint
from labelkit.judging.judge import Judge
from labelkit.judging.verdict import Verdict, derive, read_verdict
from labelkit.models.client import Client
from tests.fake_server.samples import sample
from tests.judging.samples import SECRET, task, trace

ENDPOINT = Endpoint(name="e", model="m", base_url="http://127.0.0.1:9/v1")


def framings() -> Iterator[tuple[str, str]]:
    for name in rubric_names():
        for framing in load_rubric(name).framings:
            yield name, framing.name


@pytest.mark.parametrize(("name", "framing"), list(framings()))
def test_a_packaged_framing_asks_and_is_read(name: str, framing: str) -> None:
    rubric = load_rubric(name)
    judge = Judge(rubric, rubric.framing(framing), ENDPOINT, Client(ENDPOINT), secret=SECRET)
    for subset in rubric.subsets or (None,):
        tags = {} if subset is None else {rubric.subset_tag: subset}
        prepared = judge.prepare(trace(), task(tags=tags))
        system, user = (message["content"] for message in prepared.request.messages)
        for field in prepared.form.fields:
            assert field.name in system
            assert all(f'"{label}"' in user for label in field.labels)
            foreign = [d.name for d in rubric.question(field.question).labels]
            assert not any(f'"{n}"' in user for n in foreign if n not in field.labels)
        reply = json.dumps(sample(prepared.form.schema))
        found = read_verdict(reply, "stop", form=prepared.form, parts=prepared.view.parts)
        assert isinstance(found, Verdict)
        answers: dict[str, str | None] = dict(found.answers)
        for question in prepared.form.derived:
            case = derive(question, answers)
            assert case is not None
            answers[question.id] = case[0]
    # What no judge is asked, the rule decides.
    assert rubric.primary.id in judge.questions or rubric.rule
    assert set(judge.questions) <= {question.id for question in rubric.questions}
