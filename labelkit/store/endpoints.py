"""What was learnt about an endpoint, so that it is asked once and not in every run.

The store does not know what a capability means: it keeps the JSON under a key that names place
and model. Where several things were learnt about one endpoint, the newest counts.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from labelkit.digest import canonical_json, digest, digest_text
from labelkit.domain.endpoint import Endpoint
from labelkit.store.engine import Store
from labelkit.store.inserting import insert_new
from labelkit.store.tables import ENDPOINT


def endpoint_key(endpoint: Endpoint) -> str:
    """Return the key of place and model; a server that labelkit starts has no URL of its own."""
    place = endpoint.model_path if endpoint.engine == "local" else endpoint.base_url
    if endpoint.engine == "vllm" and not endpoint.base_url:
        place = endpoint.place
    return digest([endpoint.engine, place, endpoint.model, endpoint.thinking, endpoint.extra_body])


def learnt(store: Store, endpoint: Endpoint) -> dict[str, Any] | None:
    """Return what was learnt last about the endpoint, or None."""
    query = select(ENDPOINT.c.body).where(ENDPOINT.c.key == endpoint_key(endpoint))
    with store.reading() as connection:
        body = connection.execute(query.order_by(ENDPOINT.c.id.desc()).limit(1)).scalar()
    return None if body is None else dict(json.loads(body))


def learn(store: Store, endpoint: Endpoint, capabilities: dict[str, Any]) -> None:
    """Keep what was learnt; the same thing twice is kept once.

    Raises:
        StoreError: when the store cannot be written.
    """
    body = canonical_json(capabilities)
    row = {
        "key": endpoint_key(endpoint),
        "digest": digest_text(body),
        "learnt_at": datetime.now(UTC),
        "body": body,
    }
    with store.writing() as connection:
        insert_new(connection, ENDPOINT, [row])
