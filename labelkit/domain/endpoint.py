"""Where and how a model is reached. Engines only differ in how the base URL comes to exist."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from labelkit.domain.frozen import Frozen


class Price(Frozen):
    """Price per million tokens. An endpoint without a price has an unknown cost, not a zero one."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    currency: str = "USD"


class Endpoint(Frozen):
    """One OpenAI-compatible model endpoint.

    ``engine`` ``api`` uses ``base_url``; ``local`` starts the embedded server on a GGUF file
    (``model_path``, default the packaged model). ``api_key_env`` names the environment variable
    that holds the key; the key itself never enters a value that is stored or printed.
    ``row_budget_s`` bounds all waiting for one row, retries included.
    """

    name: str
    model: str
    engine: Literal["api", "local"] = "api"
    base_url: str | None = None
    api_key_env: str | None = None
    model_path: str | None = None
    family: str | None = None
    price: Price | None = None
    max_concurrency: int = Field(default=64, ge=1, le=4096)
    request_timeout_s: float = Field(default=120.0, gt=0)
    row_budget_s: float = Field(default=600.0, gt=0)
    echo_reasoning: Literal["auto", "always", "never"] = "auto"
    thinking: bool = False
    extra_body: dict[str, Any] = Field(default_factory=dict)
