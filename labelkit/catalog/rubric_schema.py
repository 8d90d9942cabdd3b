"""JSON Schema of ``rubric.yaml`` for editors, made from the model that reads the file.

The file has the shape of ``Rubric``, with file names where the loaded value holds texts. What a
key means is said here once, for completion and hover help.
"""

from __future__ import annotations

from typing import Any

from labelkit.domain.rubric import Rubric

DIALECT = "https://json-schema.org/draft/2020-12/schema"

DESCRIPTIONS: dict[str, str] = {
    "Rubric.name": "Name of the scheme; equal to the folder's name.",
    "Rubric.version": 'Release of the scheme, quoted: "1.0.0". A released version never changes.',
    "Rubric.title": "What the scheme decides, in one line.",
    "Rubric.source": "Where the scheme comes from.",
    "Rubric.licence": "Licence of the rubric's texts.",
    "Rubric.subset_tag": "Task tag whose value selects the labels that apply.",
    "Rubric.subsets": "Allowed values of the subset tag; empty: one label set for every task.",
    "Rubric.applies_to": "Only rows with these tags are labelled.",
    "Rubric.questions": "What a rater decides; the last question is the scheme's label.",
    "Rubric.framings": "Ways of putting the rubric to a judge.",
    "Rubric.rule": "Name of a rule classifier, or null.",
    "Rubric.rule_policy": "Options of the rule classifier.",
    "Rubric.rule_table": "Ordered table of the rule `facts`.",
    "Rubric.protocol": "How tasks of the scheme are played, such as two_step or live_loop.",
    "Rubric.ensemble": "How the labels of several raters become one.",
    "Rubric.rates": "Published numbers, each with a named denominator.",
    "Rubric.measures": "Published means: scores, calls per tool, tokens per row.",
    "Rubric.contrasts": "A rate or measure under one condition beside another.",
    "Rubric.composites": "Rates put together from rates, weighted by their rows.",
    "Rubric.fronts": "Pareto fronts over models.",
    "Rubric.guideline": "File with the guideline for people, in the same folder.",
    "Question.id": "a-z, 0-9 and underscores.",
    "Question.type": "choice, ordinal (labels in scale order), boolean (yes and no) or derived.",
    "Question.text": "The question as the rater reads it.",
    "Question.labels": "The closed answers.",
    "Question.asked_of": "Who answers: judge, person, rule; default all. People alone: [person].",
    "Question.ensemble": "How this question's labels become one; default: as the rubric says.",
    "Question.derived": "Ordered table of a derived question; the first row that matches wins.",
    "LabelDefinition.name": 'The label; quote "yes" and "no".',
    "LabelDefinition.title": "The label as people read it.",
    "LabelDefinition.key": "Keyboard key: one character, not ? / z n f s.",
    "LabelDefinition.include": "What belongs.",
    "LabelDefinition.exclude": "What does not belong.",
    "LabelDefinition.example": "One example.",
    "LabelDefinition.subsets": "Task subsets that the label applies to; empty: all.",
    "DerivedCase.when": "Question ids and the values they must have; {} matches always.",
    "DerivedCase.label": "The label that follows.",
    "DerivedCase.flags": "Facts to record beside the label.",
    "Framing.name": "Name of the framing.",
    "Framing.template": "File with the system message (Jinja2), in the same folder.",
    "Framing.shows": "Parts of the trace that the judge sees, in this order.",
    "Framing.asks": "Ids of the questions that the judge answers.",
    "Framing.evidence": "Whether quotes are asked for.",
    "Framing.max_tokens": "Token cap of the judge's reply.",
    "Framing.temperature": "Sampling temperature.",
    "Framing.rationale_chars": "Most characters of reasoning before the verdict; 0: none.",
    "Framing.limits": "Most characters of a part; longer ones are shortened visibly.",
    "FactRange.min": "Lower bound, inclusive.",
    "FactRange.max": "Upper bound, inclusive.",
    "RuleCase.when": "Facts and their ranges or allowed values.",
    "RuleCase.label": "The label, or null to abstain.",
    "RuleCase.subsets": "Task subsets that the row is for; empty: all.",
    "Ensemble.method": "majority, or lower_median (ordinal questions): the middle vote.",
    "Ensemble.tie": "rule: the rule's label decides; none: no label.",
    "Ensemble.null_policy": "drop_row: a missing label drops the row; ignore: the others vote.",
    "Ensemble.min_raters": "Fewest votes for a label.",
    "Predicate.labels": "The row's label is one of these.",
    "Predicate.not_labels": "The row's label is none of these.",
    "Predicate.tags": "Tags and their allowed values, always as lists.",
    "Predicate.rule_flags": "Facts that the rule classifier recorded.",
    "Denominator.name": "Name printed in brackets after the rate.",
    "Denominator.where": "Rows that count.",
    "Rate.id": "Short name of the rate.",
    "Rate.title": "What the rate says.",
    "Rate.question": "Id of the question whose label counts.",
    "Rate.numerator": "Rows that are hits.",
    "Rate.denominator": "Named set of rows that the rate is over.",
    "Rate.states": "Rows without a label, by reason: drop or denominator.",
    "Rate.cluster": "Tag whose values are the clusters of the bootstrap.",
    "Rate.macro": "Tag whose groups' rates are averaged, beside the pooled rate.",
    "Rate.min_coverage": "Share of planned rows that must be scored for the rate to be printed.",
    "Measure.id": "Short name of the measure.",
    "Measure.title": "What the number says.",
    "Measure.question": "Id of the question whose label or rule counts.",
    "Measure.value": "label (an ordinal label's number), or a number that the rule recorded.",
    "Measure.per": "Another number of the rule that each row's value is divided by.",
    "Measure.offset": "Added to every row's value.",
    "Measure.within": "Named set of rows that the mean is over.",
    "Measure.against": "Rows whose mean the first mean is divided by.",
    "Measure.macro": "Tag whose groups' means are averaged, beside the pooled mean.",
    "Measure.cluster": "Tag whose values are the clusters of the interval.",
    "Measure.definition": "Printed with the number, where papers define it differently.",
    "Contrast.id": "Short name of the comparison.",
    "Contrast.title": "What is compared.",
    "Contrast.of": "Full name of a rate or measure, such as FR[InScope].",
    "Contrast.kind": "change, or recovered_share (treated - base) / (clean - base).",
    "Contrast.tag": "Tag that tells the arms apart; default condition.",
    "Contrast.base": "Value of the tag in the base arm.",
    "Contrast.treated": "Value of the tag in the treated arm.",
    "Contrast.clean": "Value of the tag in the arm without the hazard.",
    "Contrast.family": "Family of comparisons within which p-values are adjusted (Holm).",
    "Composite.id": "Short name of the composite.",
    "Composite.title": "What it says.",
    "Composite.parts": "Full names of rates, each weighted by the rows of its denominator.",
    "Composite.complement": "Parts that enter as 1 - rate.",
    "Front.id": "Short name of the front.",
    "Front.title": "What it says.",
    "Front.up": "Rates or measures of which more is better.",
    "Front.down": "Rates or measures of which less is better.",
    "Front.over": "Tag whose values are compared; default model.",
    "Front.ties": "weak: as good everywhere and better somewhere dominates; strict: all better.",
}


def rubric_json_schema() -> dict[str, Any]:
    """Return the schema (draft 2020-12), the same on every machine."""
    schema: dict[str, Any] = {"$schema": DIALECT, **Rubric.model_json_schema()}
    for name, part in [("Rubric", schema), *schema["$defs"].items()]:
        for key, value in part.get("properties", {}).items():
            described = DESCRIPTIONS.get(f"{name}.{key}")
            if described:
                value["description"] = described
    return schema
