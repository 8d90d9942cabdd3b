"""An endpoint that can be called, whatever engine is behind it.

Everything above asks here and never starts a server itself. A server that is started here lives
for one ``with`` block and is shared by all that is done in it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator

from labelkit.domain.endpoint import Endpoint
from labelkit.models import local
from labelkit.models.vllm import VllmServer


@contextlib.contextmanager
def resolve(endpoint: Endpoint, *, say: Callable[[str], None] | None = None) -> Iterator[Endpoint]:
    """Yield an endpoint that can be called: ``local`` and ``vllm`` get a running server.

    An endpoint that has its ``base_url`` already is yielded as it is; a vLLM that runs there is
    an endpoint like any other (engine ``api``), known by its address. The server's key is put
    into an environment variable of this process for the time of the block, because an endpoint
    never holds a key itself.

    Args:
        endpoint: as configured.
        say: hears how starting a large model goes.

    Raises:
        EndpointError: when the server cannot be started.
    """
    if endpoint.engine == "local":
        with local.resolve(endpoint) as reached:
            yield reached
    elif endpoint.engine == "vllm" and endpoint.base_url:
        yield endpoint.model_copy(update={"engine": "api"})
    elif endpoint.engine == "vllm":
        with VllmServer(endpoint, say=say) as server:
            variable = f"LABELKIT_VLLM_KEY_{server.pid}"
            os.environ[variable] = server.api_key
            try:
                yield endpoint.model_copy(
                    update={"base_url": server.base_url, "api_key_env": variable}
                )
            finally:
                os.environ.pop(variable, None)
    else:
        yield endpoint
