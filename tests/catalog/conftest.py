"""A good rubric folder to spoil, one mistake at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

GOOD = """\
name: good
version: "1.0.0"
title: Good
source: these tests
subsets: [required, control]
questions:
  - id: asserts
    type: boolean
    text: Value?
    labels:
      - {name: "yes", title: It does, key: "1", include: a}
      - {name: "no", title: It does not, key: "0", include: b}
  - id: grade
    type: ordinal
    text: How good?
    labels:
      - {name: low, title: Low, key: "1", include: a, subsets: [required]}
      - {name: high, title: High, key: "2", include: b}
  - id: outcome
    type: derived
    text: Outcome
    labels:
      - {name: A, title: A, key: a, include: a}
      - {name: B, title: B, key: b, include: b}
    derived:
      - {when: {asserts: "yes", grade: high}, label: A}
      - {when: {}, label: B}
framings:
  - name: tree
    template: tree.md
    shows: [question, answer]
    asks: [asserts, grade]
    limits: {answer: 900}
rule: some-rule
ensemble: {tie: rule}
rates:
  - id: AR
    title: A rate
    question: outcome
    numerator: {labels: [A]}
    denominator: {name: Required, where: {tags: {subset: [required]}, not_labels: [B]}}
    states: {infra_error: drop}
  - id: BR
    title: B rate
    question: outcome
    numerator: {labels: [B]}
    denominator: {name: All}
measures:
  - id: MEAN
    title: A mean
    question: grade
    within: {name: Every}
  - id: CALLS
    title: Calls
    question: outcome
    value: calls
    per: tools
    within: {name: Required, where: {tags: {subset: [required]}, not_labels: [B]}}
    against: {name: All}
contrasts:
  - {id: C, title: Change, of: "AR[Required]", base: off-arm, treated: on-arm}
composites:
  - {id: P, title: Together, parts: ["AR[Required]"], complement: ["AR[Required]"]}
fronts:
  - {id: F, title: Front, up: ["AR[Required]"], down: ["MEAN[Every]"]}
guideline: guideline.md
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    good = tmp_path / "good"
    good.mkdir()
    (good / "rubric.yaml").write_text(GOOD, encoding="utf-8")
    (good / "tree.md").write_text("Judge.\n{{ answer_format }}\n", encoding="utf-8")
    (good / "guideline.md").write_text("Read well.\n", encoding="utf-8")
    return good
