"""Choices that several pages offer: the sample, remembered in the address, and the question."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.plain import named
from labelkit.domain.rubric import Rubric
from labelkit.domain.sample import Sample

SAMPLE = "sample"


def choose_sample(samples: Sequence[Sample]) -> Sample:
    """Return the sample to work on, the newest if nothing says otherwise."""
    known = {sample.id: sample for sample in reversed(samples)}
    wanted = st.query_params.get(SAMPLE) or st.session_state.get("sample_kept", "")
    if len(known) == 1:
        return samples[0]
    # Another page may offer more samples than this one, and a sample may be closed meanwhile.
    if st.session_state.get("sample_choice") not in known:
        fitting = (key for key in known if wanted and key.startswith(wanted))
        st.session_state["sample_choice"] = next(fitting, next(iter(known)))
    titles = named([f"{s.design.rubric} {s.id[:8]}, {s.design.n} traces" for s in known.values()])
    names = dict(zip(known, titles, strict=True))
    chosen = st.selectbox(
        "Sample",
        list(known),
        format_func=lambda key: names[key],
        key="sample_choice",
        label_visibility="collapsed",
        width=340,
    )
    st.query_params[SAMPLE] = chosen[:12]
    st.session_state["sample_kept"] = chosen
    return known[chosen]


def choose_question(rubric: Rubric, sample: Sample) -> str:
    """Return the question to look at, the sample's own first."""
    names = [question.id for question in rubric.questions if question.is_for("person")]
    if len(names) == 1:
        return names[0]
    shown = dict(zip(names, named(names), strict=True))
    if st.session_state.get("question_choice") not in names:
        st.session_state["question_choice"] = sample.design.question
    chosen: str = st.selectbox(
        "Question",
        names,
        format_func=lambda name: shown[name],
        key="question_choice",
        label_visibility="collapsed",
        width=240,
    )
    return chosen


def titles(rubric: Rubric, question: str) -> dict[str, str]:
    """Titles of a question's labels."""
    return {label.name: label.title for label in rubric.question(question).labels}
