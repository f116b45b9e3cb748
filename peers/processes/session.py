"""A session with ZooKeeper, whose troubles are told by what is raised and not by kazoo's log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kazoo.client import KazooClient

PATIENCE: Final = 10.0
"""s for connecting."""

EXPIRY: Final = 6.0
"""s without a word of a broker after which ZooKeeper ends its session: 0.8's default."""


class UnreachableError(RuntimeError):
    """No ZooKeeper answers."""


def session(address: str) -> KazooClient:
    """Connect to ZooKeeper at `host:port`; the caller ends it by `leave`. Raises UnreachableError."""
    from kazoo.client import KazooClient

    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    client = KazooClient(address, timeout=EXPIRY)
    try:
        client.start(PATIENCE)
    except client.handler.timeout_exception:
        leave(client)
        raise UnreachableError(f"no ZooKeeper answers at {address}") from None
    return client


def leave(client: KazooClient) -> None:
    """End a session, so that its ephemeral nodes go at once."""
    client.stop()
    client.close()
