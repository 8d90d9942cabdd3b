"""One judge: rubric x framing x endpoint x decoding x parser; one label per question of a trace.

A judge never raises for a row: a failed request, a cut reply or an unread verdict becomes a label
of outcome ``failed`` with its reason, and never a value. What is resent is decided here for
meaning (a reply cut at ``max_tokens`` is asked for once more with twice the room) and in the
client for transport; a reply that cannot be read is not asked for again, because at temperature 0
it would come back the same, and what a local parser can mend needs no second request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from labelkit.catalog.templates import render_system
from labelkit.domain.completion import Completion, FailureKind
from labelkit.domain.endpoint import Endpoint
from labelkit.domain.label import Label, NullReason, Outcome, Rater
from labelkit.domain.rubric import Framing, Rubric
from labelkit.domain.task import Task
from labelkit.domain.trace import Trace, tags_of
from labelkit.errors import InputError
from labelkit.judging.extract import objects_in
from labelkit.judging.form import QUOTE_LIMITS, AnswerForm, QuoteLimits, answer_form
from labelkit.judging.prompt import (
    PROMPT_VERSION,
    answer_format,
    build_request,
    closing,
    decoding_warnings,
)
from labelkit.judging.shorten import TOTAL_CHARS, writable
from labelkit.judging.verdict import PARSER_VERSION, NullVerdict, Verdict, derive, read_verdict
from labelkit.judging.view import VIEW_VERSION, View, render_view
from labelkit.models.request import ChatRequest, request_digest

_NULL_OF = {
    FailureKind.TRANSPORT: NullReason.TRANSPORT,
    FailureKind.OVERFLOW: NullReason.OVERFLOW,
    FailureKind.FILTERED: NullReason.FILTERED,
    FailureKind.REJECTED: NullReason.REJECTED,
    # A 200 that holds no completion is a broken proxy or server: nothing was said.
    FailureKind.PROTOCOL: NullReason.TRANSPORT,
}
LARGER = 2
"""How much more room the one retry after a truncation gets."""


class Completes(Protocol):
    """What a judge needs of a client: one request in, one completion out, no exception per row."""

    async def complete(self, request: ChatRequest, digest: str | None = None) -> Completion:
        """Return what came of the request; ``digest`` is its digest where it is known."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """One trace ready to be judged. ``digest`` is the request digest: the cache key."""

    trace: str
    repeat: int
    view: View
    form: AnswerForm
    request: ChatRequest
    digest: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge made of one trace.

    ``labels`` holds one label per asked question, then one per derived question. ``completions``
    are the exchanges made for it, all of them with their usage; only those that were read are
    ``accepted`` and serve as cache. It is empty when the labels were read from a cached reply.
    """

    labels: tuple[Label, ...]
    completions: tuple[Completion, ...]


class Judge:
    """Labels traces with one framing of a rubric through one endpoint.

    Args:
        rubric: the scheme.
        framing: one of the rubric's framings.
        endpoint: the judge model.
        client: sends the requests of that endpoint.
        secret: the store's key for the marker codes of views.
        name: the rater's name; default ``<framing>@<endpoint>``.
        temperature: overrides the framing's.
        max_tokens: overrides the framing's.
        rationale_chars: overrides the framing's; 0 asks for no reasons.
        quotes: bounds of the evidence that is asked for, where the framing asks for it.
        seed: sampling seed of repeat 0; repeat k uses ``seed + k``. None sends none.
        view_chars: cap on the shown parts of a trace together.
        reading: how a label is read from a reply. Only ``text`` exists; asking for token
            probabilities is an error and never a silent fall-back.

    Attributes:
        rater: the judge's identity. Its spec holds everything that could change a label.
        warnings: what is allowed but probably not meant.

    Raises:
        InputError: for a ``reading`` that is not supported.
    """

    def __init__(  # noqa: PLR0913 - flat, as a judge is written in labelkit.yaml
        self,
        rubric: Rubric,
        framing: Framing,
        endpoint: Endpoint,
        client: Completes,
        *,
        secret: bytes,
        name: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        rationale_chars: int | None = None,
        quotes: QuoteLimits = QUOTE_LIMITS,
        seed: int | None = 0,
        view_chars: int = TOTAL_CHARS,
        reading: Literal["text", "logprobs"] = "text",
    ) -> None:
        if reading != "text":
            raise InputError(
                f"judges read labels from the text of a reply, not from {reading!r};"
                " leave the option out, or use repeats to measure confidence"
            )
        self.rubric = rubric
        if rationale_chars is not None:
            framing = framing.model_copy(update={"rationale_chars": rationale_chars})
        self.framing = framing
        self.quotes = quotes
        self.endpoint = endpoint
        self.temperature = framing.temperature if temperature is None else temperature
        self.max_tokens = framing.max_tokens if max_tokens is None else max_tokens
        self.seed = seed
        self.warnings = decoding_warnings(endpoint, self.max_tokens)
        self._client = client
        self._secret = secret
        self._view_chars = view_chars
        system = render_system(rubric, framing, answer_format(rubric, framing, quotes))
        self._system: dict[str, Any] = {"role": "system", "content": system}
        self._forms: dict[str | None, tuple[AnswerForm, str]] = {}
        self.rater = Rater(
            kind="judge",
            name=name or f"{framing.name}@{endpoint.name}",
            version=rubric.version,
            spec=self._spec(),
        )

    def _spec(self) -> dict[str, Any]:
        endpoint = self.endpoint
        place = endpoint.base_url if endpoint.engine == "api" else endpoint.place
        return {
            "rubric": self.rubric.name,
            "rubric_version": self.rubric.version,
            "rubric_digest": self.rubric.digest,
            "framing": self.framing.name,
            "endpoint": endpoint.name,
            "place": place,
            "model": endpoint.model,
            "thinking": endpoint.thinking,
            "extra_body": endpoint.extra_body,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "rationale_chars": self.framing.rationale_chars,
            "quotes": [self.quotes.most, self.quotes.chars] if self.framing.evidence else None,
            "seed": self.seed,
            "view_chars": self._view_chars,
            "reading": "text",
            "view": VIEW_VERSION,
            "prompt": PROMPT_VERSION,
            "parser": PARSER_VERSION,
        }

    @property
    def questions(self) -> tuple[str, ...]:
        """Ids of the questions this judge labels: the asked ones, then the derived ones."""
        form, _ = self._form(None)
        return (*self.framing.asks, *(question.id for question in form.derived))

    def schema(self, subset: str | None) -> dict[str, Any]:
        """Return the JSON Schema of this judge's verdict on a task of ``subset``."""
        return self._form(subset)[0].schema

    # -- before the request --------------------------------------------------------------------

    def excluded(self, trace: Trace, task: Task | None) -> str | None:
        """Return why this trace cannot be judged (``infra_error``, ``no_subset``), or None.

        A dead rollout says nothing about the model; a task without a known subset has no labels
        to choose from, or only one. Such rows are never judged and are counted by the caller.
        """
        if not trace.state.labelled:
            return "infra_error"
        form, _ = self._form(self._subset(trace, task))
        return "no_subset" if form.unanswerable is not None else None

    def prepare(self, trace: Trace, task: Task | None, repeat: int = 0) -> Prepared:
        """Render the view and the request of one trace.

        Raises:
            InputError: when the trace is ``excluded``.
        """
        reason = self.excluded(trace, task)
        if reason is not None:
            raise InputError(
                f"trace {trace.digest[:12]} cannot be judged with rubric {self.rubric.name!r}:"
                f" {_WHY[reason]}; leave it out"
            )
        form, end = self._form(self._subset(trace, task))
        view = render_view(
            self.framing, trace, task, secret=self._secret, total_chars=self._view_chars
        )
        request = build_request(
            system=self._system,
            view=view,
            form=form,
            end=end,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=self.seed,
            repeat=repeat,
        )
        digest = request_digest(self.endpoint, request)
        return Prepared(trace.digest, repeat, view, form, request, digest)

    def request_digest(self, trace: Trace, task: Task | None, repeat: int = 0) -> str:
        """Return the cache key of one trace and repeat."""
        return self.prepare(trace, task, repeat).digest

    def larger(self, prepared: Prepared) -> ChatRequest:
        """Return the request that follows a truncated reply: the same with twice the room."""
        return replace(prepared.request, max_tokens=LARGER * self.max_tokens)

    def _subset(self, trace: Trace, task: Task | None) -> str | None:
        return self.rubric.subset_of(tags_of(trace, task))

    def _form(self, subset: str | None) -> tuple[AnswerForm, str]:
        known = self._forms.get(subset)
        if known is None:
            form = answer_form(self.rubric, self.framing, subset, self.quotes)
            known = self._forms[subset] = (form, closing(self.rubric, form))
        return known

    # -- request and reply ---------------------------------------------------------------------

    async def judge(
        self,
        trace: Trace,
        task: Task | None,
        repeat: int = 0,
        cached: Completion | None = None,
    ) -> Judgement:
        """Judge one trace; see ``prepare`` and ``settle`` to look up the cache in between."""
        return await self.settle(self.prepare(trace, task, repeat), cached)

    async def settle(self, prepared: Prepared, cached: Completion | None = None) -> Judgement:
        """Turn a prepared trace into labels, with at most two requests.

        Args:
            prepared: what to judge.
            cached: an accepted completion of the same request (or of ``larger``). It is read like
                a fresh one and its labels are the same but for ``cached``. One that cannot be
                read (it should not be in the cache) is asked for again.
        """
        if cached is not None:
            verdict, flags = self._read(prepared, cached)
            if isinstance(verdict, Verdict):
                return Judgement(self._labels(prepared, cached, verdict, flags, cached=True), ())
        first = await self._client.complete(prepared.request, prepared.digest)
        judgement = self.read(prepared, first)
        if judgement.labels[0].reason != NullReason.TRUNCATED.value:
            return judgement
        return self.read(prepared, first, await self._client.complete(self.larger(prepared)))

    def read(self, prepared: Prepared, *replies: Completion) -> Judgement:
        """Turn the replies to a prepared trace, of which the last counts, into labels."""
        *earlier, last = replies
        verdict, flags = self._read(prepared, last)
        if isinstance(verdict, Verdict):
            last = last.model_copy(update={"accepted": True})
        labels = self._labels(prepared, last, verdict, flags, cached=False)
        return Judgement(labels, (*earlier, last))

    def _read(
        self, prepared: Prepared, completion: Completion
    ) -> tuple[Verdict | NullVerdict, tuple[str, ...]]:
        """Return the verdict of a completion and flags about the exchange."""
        larger = () if completion.request == prepared.digest else ("larger_cap",)
        failure = completion.failure
        if failure is not None:
            return NullVerdict(_NULL_OF[failure.kind], writable(failure.message)), larger
        form, parts = prepared.form, prepared.view.parts
        text = completion.text
        refusal = completion.sent.get("refusal")
        if (not text or text.isspace()) and completion.reasoning and not refusal:
            answer = answer_in_reasoning(completion.reasoning)
            if answer is not None:
                verdict = read_verdict(answer, completion.finish_reason, form=form, parts=parts)
                if isinstance(verdict, Verdict):
                    return verdict, (*larger, "answer_in_reasoning")
        verdict = read_verdict(
            text, completion.finish_reason, form=form, parts=parts, refusal=refusal
        )
        return verdict, larger

    # -- labels --------------------------------------------------------------------------------

    def _labels(
        self,
        prepared: Prepared,
        completion: Completion,
        verdict: Verdict | NullVerdict,
        flags: tuple[str, ...],
        *,
        cached: bool,
    ) -> tuple[Label, ...]:
        """One label per question. All carry the time of the reply, so that a rerun is the same."""
        common: dict[str, Any] = {
            "trace": prepared.trace,
            "rater": self.rater.digest,
            "repeat": prepared.repeat,
            "view": prepared.view.digest,
            "completion": completion.request,
            "cached": cached,
            "created_at": completion.created_at,
        }
        if isinstance(verdict, NullVerdict):
            common |= {
                "outcome": Outcome.FAILED,
                "reason": verdict.reason.value,
                "rationale": verdict.detail,
                "flags": prepared.view.flags + flags,
            }
            return tuple(Label(question=name, **common) for name in self.questions)
        common |= {
            "rationale": verdict.rationale,
            "confidence": verdict.confidence,
            "evidence": verdict.evidence,
        }
        flags = prepared.view.flags + flags + verdict.flags
        labels = [
            Label(question=name, outcome=Outcome.LABELLED, value=value, flags=flags, **common)
            for name, value in verdict.answers.items()
        ]
        labels.extend(self._derived(prepared.form, verdict.answers, flags, common))
        return tuple(labels)

    def _derived(
        self,
        form: AnswerForm,
        answers: Mapping[str, str],
        flags: tuple[str, ...],
        common: dict[str, Any],
    ) -> list[Label]:
        known: dict[str, str | None] = dict(answers)
        labels = []
        for question in form.derived:
            case = derive(question, known)
            if case is not None and case[0] in question.labels_for(form.subset):
                known[question.id] = case[0]
                outcome: dict[str, Any] = {
                    "outcome": Outcome.LABELLED,
                    "value": case[0],
                    "flags": flags + case[1],
                }
            else:
                # The rubric's table has a hole here; that is no judgement about the trace.
                known[question.id] = None
                outcome = {
                    "outcome": Outcome.FAILED,
                    "reason": NullReason.PARSE.value,
                    "flags": (*flags, "no_derived_case"),
                }
            labels.append(Label(question=question.id, **outcome, **common))
        return labels


_WHY = {
    "infra_error": "its rollout died, which says nothing about the model",
    "no_subset": "its task has no subset that the rubric knows, so no label applies",
}


def answer_in_reasoning(reasoning: str) -> str | None:
    """Return the object that ends the reasoning text, or None.

    Some servers put the whole answer into the reasoning field. Only an object with nothing after
    it is taken for the answer; anything else in there is a first thought.
    """
    found, _ = objects_in(reasoning)
    if not found or reasoning[found[-1].end :].strip("` \t\r\n"):
        return None
    return reasoning[found[-1].start : found[-1].end]
