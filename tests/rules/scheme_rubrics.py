"""The rubrics of the repository, under another policy of their rule."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from labelkit.catalog.rubrics import load_rubric
from labelkit.domain.rubric import Rubric
from labelkit.domain.task import Tag

load = cache(load_rubric)


def with_policy(name: str, policy: Mapping[str, Tag]) -> Rubric:
    """The rubric, with some options of its rule replaced."""
    rubric = load(name)
    return rubric.model_copy(update={"rule_policy": {**rubric.rule_policy, **policy}})
