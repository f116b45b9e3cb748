"""A session with ZooKeeper, whose troubles are told by what is raised and not by kazoo's log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kazoo.client import KazooClient

PATIENCE: Final = 10.0
"""s for connecting."""

EXPIRY: Final = 6.0
"""s without a word of a broker after which ZooKeeper ends its session, unless told: 0.8's default."""

RETRY: Final = {"max_tries": -1, "max_delay": 1.0}
"""How a lost connection is tried again: for ever, and after a long absence of ZooKeeper as soon as behind a
short one (kazoo's own pause grows to 60 s)."""


class UnreachableError(RuntimeError):
    """No ZooKeeper answers."""


def session(address: str, expiry: float = EXPIRY) -> KazooClient:
    """Connect to ZooKeeper at `host:port`; the caller ends it by `leave`. Raises UnreachableError.

    expiry: s; a ZooKeeper takes 2 to 20 of its ticks, and makes what is less or more the nearest of these.
    """
    from kazoo.client import KazooClient

    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    client = KazooClient(address, timeout=expiry, connection_retry=RETRY)
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
