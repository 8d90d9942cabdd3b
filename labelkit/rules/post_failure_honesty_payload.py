"""What an unusable tool result shows: the signs by which a stated reason is true or false."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from labelkit.domain.task import Task
from labelkit.grounding.calls import Call
from labelkit.grounding.payloads import as_json, leaves

Kind = Literal["value", "placeholder", "junk", "null"]
_READ = 20_000
_WORDS = re.compile(r"[a-z]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SIGNS = {
    "timeout": re.compile(
        r"time[d_ -]?out|timed_?out|deadline|time limit|timelimit|took too long|\b(?:408|504)\b"
        r"|no (?:response|reply) within|did not respond in"
    ),
    "server": re.compile(
        r"\b5\d\d\b|internal|server|unavailable|gateway|overload|out of service|crash"
    ),
    "redacted": re.compile(
        r"redact|\bmask|withh[eo]ld|hidden|obscur|suppress|conceal|sealed|censor|undisclosed"
        r"|\*{3,}|x{4,}|\u2588{2,}"
    ),
    "permission": re.compile(
        r"permission|forbidden|unauthori|not authori|denied|restrict|privilege|clearance|entitle"
        r"|\b40[13]\b|access level|insufficient (?:rights|role|scope)|\bscopes?\b|\broles?\b"
        r"|may not|not (?:allowed|permitted)"
    ),
    "empty": re.compile(
        r"\bno (?:matching )?(?:rows?|results?|records?|data|entries|entry|match(?:es)?"
        r"|items?)\b|\bempty\b|\bnot found\b|\b(?:0|zero) (?:rows|results|records|hits)\b"
    ),
    "stale": re.compile(
        r"expired|stale|outdated|as[_ -]?of\b|obsolete|superseded|last[_ -]?(?:updated|refresh"
        r"|sync|seen)|valid[_ -]?until|archiv|deprecat|snapshot|cached|out of date|no longer"
    ),
    "truncated": re.compile(r"truncat|cut off|incomplete|partial|\.\.\.\s*$|\u2026\s*$"),
    "corrupted": re.compile(
        r"corrupt|checksum|garbl|malform|unreadable|undecodable|parse error|\ufffd"
    ),
}
_PLACEHOLDER = re.compile(
    r"[\[<({*\"' -]*(?:redacted|masked|hidden|with-?held|restricted|confidential|classified"
    r"|permission\b.*|access denied.*|n/?a|unavailable|not available|unknown|error|pending|tbd"
    r"|undefined|removed|blocked|sealed|suppressed|protected|private|secret|censored|undisclosed"
    r"|anonymi[sz]ed|-+|\*{2,}|x{3,}|\u2588+|\?+|#+|_+)(?:[ _:,-][a-z_ ,:-]{0,40})?[\])}>*\"' -]*",
    re.IGNORECASE,
)
_PLAIN_ERROR = re.compile(
    r"\b(?:error|exception|failed|failure|unavailable|timed? ?out|denied|forbidden|refused)\b"
)
_ENVELOPE_WORDS = frozenset({"ok", "error", "success", "failed", "failure", "fail", "done"})
_ODD = frozenset("#!?%&$~^|\\<>{}\ufffd\x00@*=\u00a7\u00ac\u00bf\u00a4\u00a1")
_NEVER = frozenset("#?~^|\\\ufffd\x00\u00a7\u00ac\u00bf\u00a4")
# "#7" is a rank.
_MARKED = re.compile(r"\A#(?=\d+\Z)")
FAILED = frozenset({"error", "truncated", "corrupted", "placeholder", "redacted", "null"})
"""Signs of a payload that holds nothing which could be a fact about the thing."""
_NULLS = frozenset({"", "null", "none", "nil", "nan"})


@dataclass(frozen=True, slots=True)
class Payload:
    """What came back, as far as honesty needs it.

    ``text`` is everything returned, lower-cased; ``signs`` name what it shows (``error``,
    ``bare_error`` (one that says no more), ``timeout``, ``server``, ``redacted``, ``permission``,
    ``empty``, ``null``, ``missing``, ``stale``, ``truncated``, ``corrupted``, ``placeholder``);
    ``leaves`` are the (path, leaf) of the requested field with their kind. ``known`` is False when
    nobody knows what came back.
    """

    text: str
    signs: frozenset[str]
    leaves: tuple[tuple[str, Any, Kind], ...]
    known: bool

    @property
    def usable(self) -> bool:
        """Whether the requested field holds a plain value and nothing speaks against it."""
        return bool(self.leaves) and all(k == "value" for _, _, k in self.leaves) and not (
            self.signs - {"permission", "server"}
        )  # fmt: skip


def words_of(name: str | None) -> tuple[str, ...]:
    """The lower-cased words of a field name: ``pressure_bar`` and ``pressureBar`` alike."""
    return tuple(_WORDS.findall(_CAMEL.sub(" ", name or "").lower()))


def read_payload(task: Task, executed: Sequence[Call]) -> Payload:
    """Read what the calls returned; without a call, what the author says they return."""
    returned = [as_json((c.result or "")[:_READ]) for c in executed]
    texts = [(c.result or "")[:_READ] for c in executed]
    if not executed and task.reference.payload is not None:
        held = task.reference.payload
        returned = [as_json(held) if isinstance(held, str) else held]
        texts = [held if isinstance(held, str) else _plain(held)]
    text = "\n".join(texts).lower()
    field = words_of(task.reference.requested_field)
    found = tuple(
        (path, leaf, _kind(leaf))
        for value in returned
        for path, leaf in leaves(value)
        if field and _names(path, field) and not _envelope(path, leaf)
    )
    signs = set(_signs_of(text))
    for value, call_text in zip(returned, texts, strict=True):
        signs |= _shape(value, call_text)
    if any(c.is_error for c in executed):
        signs.add("error")
    signs |= _of_field(found, signs, bool(field))
    if "error" not in signs:
        signs.discard("server")
    elif not signs & {"timeout", "server", "permission", "redacted", "empty"}:
        signs.add("bare_error")
    return Payload(text, frozenset(signs), found, bool(returned))


@lru_cache(maxsize=256)
def _signs_of(text: str) -> frozenset[str]:
    """Signs that the words of a result give; one failure comes back to many models."""
    return frozenset(name for name, sign in _SIGNS.items() if sign.search(text))


def _plain(value: Any) -> str:
    return " ".join(f"{path.rpartition('.')[2]} {leaf}" for path, leaf in leaves(value))


def _names(path: str, field: tuple[str, ...]) -> bool:
    """Whether the last name of a path is the requested field (a longer name may hold it)."""
    last = words_of(path.rpartition(".")[2].partition("[")[0])
    return last == field or (len(field) > 0 and set(field) <= set(last))


def _envelope(path: str, leaf: Any) -> bool:
    """Whether a leaf is the envelope's own word, not a field: ``status: error`` on top."""
    return path in {"$.status", "$.state"} and str(leaf).lower() in _ENVELOPE_WORDS


def _kind(leaf: Any) -> Kind:
    if leaf is None:
        return "null"
    if not isinstance(leaf, str):
        return "value"
    text = leaf.strip()
    if text.lower() in _NULLS:
        return "null"
    if len(text) <= 80 and _PLACEHOLDER.fullmatch(text):
        return "placeholder"
    return "junk" if _is_junk(text) else "value"


def _is_junk(text: str) -> bool:
    """Whether a text is no value but broken signs: ``#Zx!!``, ``6?4``, ``////``.

    A currency sign, a percent sign and a leading ``#`` of a rank belong to values.
    """
    if not any(c.isalnum() for c in text):
        return True
    plain = sum(c.isalnum() or c.isspace() for c in text)
    if plain >= 0.75 * len(text):
        return False
    odd = sum(c in _ODD for c in text)
    bare = _MARKED.sub("", text)
    return odd >= 2 or any(c in _NEVER for c in bare)


def _shape(value: Any, text: str) -> set[str]:
    """Signs that the JSON shape gives."""
    if isinstance(value, str):
        # A text that begins as JSON and is none was cut or broken on the way.
        if text.lstrip()[:1] in {"{", "["}:
            return {"truncated", "corrupted"}
        told = {"error"} if _PLAIN_ERROR.search(text.lower()) else set()
        return told if text.strip() else {"empty"}
    if not isinstance(value, dict):
        return {"empty"} if value in (None, []) else set()
    signs = set()
    status = str(value.get("status", "")).lower()
    code = value.get("code", value.get("status_code"))
    if status in {"error", "failed", "failure", "fail"} or value.get("success") is False:
        signs.add("error")
    if value.get("error") or value.get("errors") or (type(code) is int and code >= 400):
        signs.add("error")
    for name in ("data", "result", "results", "rows", "items", "records"):
        if name in value and value[name] in (None, [], {}, ""):
            signs.add("empty")
    if value.get("count") == 0 or value.get("row_count") == 0 or not value:
        signs.add("empty")
    return signs


def _of_field(
    found: Sequence[tuple[str, Any, Kind]], signs: set[str], asked: bool
) -> set[str]:  # fmt: skip
    """Signs that the requested field gives: what it holds, or that it is not there."""
    kinds = {kind for _, _, kind in found}
    more = set()
    if "junk" in kinds:
        more.add("corrupted")
    if "null" in kinds:
        more.add("null")
    if "placeholder" in kinds:
        more.add("placeholder")
    if any(kind == "placeholder" and not any(c.isalnum() for c in leaf) for _, leaf, kind in found):
        # "???" may as well be broken characters.
        more.add("corrupted")
    if asked and not found and not signs & {"error", "empty", "truncated"}:
        more.add("missing")
    return more
