"""What one endpoint takes and what it does not: learnt once, recorded, reused on resume.

Two ways lead here: the probe before a run (``structured.py``) and 400 replies during it. Each
400 that names a parameter makes exactly one step, and every step only goes forward, so adapting
always ends.
"""

from __future__ import annotations

from typing import Any, Literal

from labelkit.domain.frozen import Frozen

Rung = Literal["json_schema", "json_object", "tool", "text"]
LADDER: tuple[Rung, ...] = ("json_schema", "json_object", "tool", "text")


class Capabilities(Frozen):
    """What an endpoint with one model accepts.

    ``rung`` is the way in which a schema is sent. ``verified``: the probe's reply followed the
    schema on that rung (None before a probe). ``dropped`` are parameters that are not sent
    because a 400 refused them. ``max_tokens`` is the name the limit goes by (None: refused under
    both names). ``echo_reasoning``: whether earlier reasoning goes back in messages (None: not
    yet known). ``model_listed``: whether ``/models`` names the model (None: no such list).
    ``notes`` say in words what was found. The rest is known after a run's preflight, None before:
    ``tool_calls`` whether a tool question gets a call, ``forced_calls`` how a call can be demanded
    (None afterwards: in no way), ``keeps_none`` whether ``none`` is kept to, ``user_twice``
    whether two user messages in a row are taken.
    """

    rung: Rung = "json_schema"
    verified: bool | None = None
    dropped: tuple[str, ...] = ()
    max_tokens: Literal["max_tokens", "max_completion_tokens"] | None = "max_tokens"
    max_tokens_renamed: bool = False
    echo_reasoning: bool | None = None
    model_listed: bool | None = None
    notes: tuple[str, ...] = ()
    tool_calls: bool | None = None
    forced_calls: Literal["required", "named"] | None = None
    keeps_none: bool | None = None
    user_twice: bool | None = None

    def changed(self, **fields: Any) -> Capabilities:
        """The same with other values, validated."""
        return Capabilities(**{**self.model_dump(), **fields})

    def without(self, parameter: str) -> Capabilities | None:
        """What to send after a 400 refused ``parameter``; None when there is nothing left to try.

        A limit is first renamed, a response format or forced call steps down the ladder, anything
        else is dropped.
        """
        if parameter in ("max_tokens", "max_completion_tokens"):
            if parameter != self.max_tokens:
                return None
            if self.max_tokens_renamed:
                return self.changed(max_tokens=None)
            other = "max_completion_tokens" if parameter == "max_tokens" else "max_tokens"
            return self.changed(max_tokens=other, max_tokens_renamed=True)
        if parameter in self.dropped:
            return None
        return self.changed(dropped=(*self.dropped, parameter))

    def stepped_down(self) -> Capabilities | None:
        """The next rung of the ladder; None below the last."""
        if self.rung == LADDER[-1]:
            return None
        return self.changed(rung=LADDER[LADDER.index(self.rung) + 1], verified=None)
