"""A question is meant by its id; without one the scheme's own is."""

from __future__ import annotations

import pytest

from labelkit.catalog.rubrics import load_rubric
from labelkit.errors import InputError
from labelkit.workflows.rubric_choice import question_of


def test_a_question_is_found_by_its_id_and_the_primary_one_without() -> None:
    rubric = load_rubric("feasibility")
    assert question_of(rubric, None).id == "decision"
    assert question_of(rubric, "refusal").id == "refusal"
    with pytest.raises(InputError, match="has no question 'why'; choose one of: truly_infeasible"):
        question_of(rubric, "why")
