"""labelkit.yaml: which store, which endpoints, which judges. Secrets stay in the environment."""

from __future__ import annotations

from pydantic import Field

from labelkit.domain.endpoint import Endpoint
from labelkit.domain.frozen import Frozen


class JudgeSettings(Frozen):
    """One configured judge: an endpoint that labels with some framings of a rubric.

    ``framings`` empty means every framing of the rubric; ``rubrics`` empty means every rubric.
    ``max_tokens`` and ``temperature`` override the framing's.
    """

    name: str
    endpoint: str
    framings: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    repeats: int = Field(default=1, ge=1, le=100)
    max_tokens: int | None = Field(default=None, ge=16)
    temperature: float | None = Field(default=None, ge=0.0)
    seed: int | None = 0
    allow_self_judging: bool = False


class Settings(Frozen):
    """Everything a working folder configures."""

    store: str = "sqlite:///labelkit.db"
    endpoints: tuple[Endpoint, ...] = ()
    judges: tuple[JudgeSettings, ...] = ()
