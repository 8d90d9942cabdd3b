"""Classifiers are found by name, and an unknown name says what there is."""

from __future__ import annotations

import pytest

from labelkit.errors import InputError
from labelkit.rules import tool_failure, tool_failure_substring
from labelkit.rules.registry import classifier, classifier_names


def test_both_spellings_name_the_same_rule() -> None:
    assert classifier("tool-failure") is classifier("tool_failure") is tool_failure.classify
    assert classifier("tool_failure_substring") is tool_failure_substring.classify


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(InputError) as caught:
        classifier("tool_failing")
    assert "'tool_failing'" in str(caught.value)
    for name in classifier_names():
        assert name in str(caught.value)
