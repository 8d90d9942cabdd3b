"""Who may judge whose traces: no model grades itself unawares.

A model that judges its own traces prefers them, and a shared family leans the same way. Names of
one model differ by host, case, quantisation and snapshot date; all of these are one model here,
because the switch to allow it is cheap and a silent self-grade is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from labelkit.domain.endpoint import Endpoint
from labelkit.errors import InputError

_SUFFIX = re.compile(
    r"[-_.](?:gguf|ggml|mlx|awq|gptq|exl2|bnb|nf4|nvfp4|mxfp4|fp8|fp16|bf16|f16|int4|int8|w\d+a\d+"
    r"|[48]-?bit|i?q\d(?:[-_][0-9a-z]+)*|dynamic|latest|preview|20\d{2}-?[01]\d-?[0-3]\d)$"
)
_FAMILIES = {
    "chatgpt": "gpt",
    "o": "gpt",
    "codex": "gpt",
    "davinci": "gpt",
    "qwq": "qwen",
    "qvq": "qwen",
    "mixtral": "mistral",
    "ministral": "mistral",
    "codestral": "mistral",
    "magistral": "mistral",
    "devstral": "mistral",
    "pixtral": "mistral",
    "codellama": "llama",
    "tinyllama": "llama",
    "codegemma": "gemma",
    "medgemma": "gemma",
    "chatglm": "glm",
    "smolvlm": "smollm",
    "opus": "claude",
    "sonnet": "claude",
    "haiku": "claude",
}
_ALSO = frozenset(
    {
        "claude",
        "deepseek",
        "gemini",
        "gemma",
        "glm",
        "gpt",
        "llama",
        "mistral",
        "phi",
        "qwen",
        "smollm",
    }
)


@dataclass(frozen=True, slots=True)
class Independence:
    """The verdict on a judge. ``own`` are trace models that are the judge itself (allowed)."""

    own: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def model_key(name: str) -> str:
    """Return the name under which two spellings of one model are equal."""
    key = name.strip().lower().rstrip("/").rpartition("/")[2].partition("@")[0].replace(":", "-")
    while True:
        shorter = _SUFFIX.sub("", key)
        if shorter == key or not shorter:
            return key
        key = shorter


def families(name: str, declared: str | None = None) -> frozenset[str]:
    """Return the families a model belongs to; a distilled model can have two.

    ``declared`` (``endpoint.family``) overrides the name.
    """
    if declared:
        family = declared.strip().lower()
        return frozenset({_FAMILIES.get(family, family)})
    words = re.findall(r"[a-z]+", model_key(name))
    if not words:
        return frozenset()
    found = {_FAMILIES.get(words[0], words[0])}
    for word in words[1:]:
        family = _FAMILIES.get(word, word)
        if family in _ALSO:
            found.add(family)
    return frozenset(found)


def check_independence(
    judge: Endpoint, trace_models: Iterable[str], *, allow: bool = False
) -> Independence:
    """Check a judge against the models whose traces it is to label.

    Args:
        judge: the judge's endpoint.
        trace_models: names of the models that produced the traces.
        allow: whether self-judging is allowed (``allow_self_judging``).

    Returns:
        Models that are the judge itself or of its family, and a warning sentence for each kind.

    Raises:
        InputError: when the judge would label its own traces and that is not allowed.
    """
    models = sorted(set(trace_models))
    key = model_key(judge.model)
    own = tuple(name for name in models if model_key(name) == key)
    if own and not allow:
        raise InputError(
            f"judge {judge.name!r} runs {judge.model!r}, which also produced traces to be judged"
            f" ({_listed(own)}): a model must not grade itself; choose another judge or set"
            " allow_self_judging: true for this judge"
        )
    kin = families(judge.model, judge.family)
    related = tuple(name for name in models if name not in own and kin & families(name))
    warnings = []
    if own:
        warnings.append(f"judge {judge.name!r} grades traces of its own model ({_listed(own)})")
    if related:
        warnings.append(
            f"judge {judge.name!r} ({judge.model}) is of the same family as {_listed(related)};"
            " compare its rates with those of another family"
        )
    return Independence(own, related, tuple(warnings))


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown
