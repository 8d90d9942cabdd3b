"""Where and how a model is reached. Engines only differ in how the base URL comes to exist."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from labelkit.digest import canonical_json
from labelkit.domain.frozen import Frozen


class Price(Frozen):
    """Price per million tokens. An endpoint without a price has an unknown cost, not a zero one."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    currency: str = "USD"


class Serving(Frozen):
    """How vLLM serves a model that labelkit starts (engine ``vllm``).

    ``command`` is what starts it where it is not installed beside labelkit, for example
    ``[/opt/vllm/bin/vllm, serve]``. ``extra_args`` go to vLLM as they are, and ``env`` into its
    environment. ``start_timeout_s`` is how long loading may take. What can change a reply is part
    of ``identity``.
    """

    tensor_parallel: int = Field(default=1, ge=1)
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    chat_template: str | None = None
    max_model_len: int | None = Field(default=None, ge=16)
    extra_args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    command: tuple[str, ...] = ()
    start_timeout_s: float = Field(default=900.0, gt=0)

    @property
    def identity(self) -> dict[str, Any]:
        """What was set of the options that can change a reply."""
        told = ("tool_parser", "reasoning_parser", "chat_template", "max_model_len", "extra_args")
        return {name: getattr(self, name) for name in told if getattr(self, name)}


class Endpoint(Frozen):
    """One OpenAI-compatible model endpoint.

    ``engine`` ``api`` uses ``base_url``; ``local`` starts the embedded server on a GGUF file
    (``model_path``, default the packaged model); ``vllm`` starts vLLM on a model folder or name
    (``model_path``, default ``model``) as ``vllm`` says, or with a ``base_url`` uses the one that
    runs there. ``api_key_env`` names the environment variable that holds the key; the key itself
    never enters a value that is stored or printed. ``row_budget_s`` bounds all waiting for one
    row, retries included.
    """

    name: str
    model: str
    engine: Literal["api", "local", "vllm"] = "api"
    base_url: str | None = None
    api_key_env: str | None = None
    model_path: str | None = None
    vllm: Serving = Serving()
    family: str | None = None
    price: Price | None = None
    max_concurrency: int = Field(default=64, ge=1, le=4096)
    request_timeout_s: float = Field(default=120.0, gt=0)
    row_budget_s: float = Field(default=600.0, gt=0)
    echo_reasoning: Literal["auto", "always", "never"] = "auto"
    thinking: bool = False
    extra_body: dict[str, Any] = Field(default_factory=dict)

    @property
    def place(self) -> str:
        """What stands for the endpoint's address wherever replies are told apart.

        A server that labelkit starts listens on a random port, so it is known by its weights and
        by the options that can change a reply.
        """
        if self.engine == "local":
            return f"local:{self.model_path or ''}"
        if self.engine == "vllm":
            known = self.vllm.identity
            how = f" {canonical_json(known)}" if known else ""
            return f"vllm:{self.model_path or self.model}{how}"
        return (self.base_url or "").rstrip("/")
