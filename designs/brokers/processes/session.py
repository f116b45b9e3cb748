"""A session with ZooKeeper, whose troubles are told by what is raised and not by kazoo's log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from barnabas.captures.host_port import endpoint_text

if TYPE_CHECKING:
    from kazoo.client import KazooClient

PATIENCE: Final = 10.0
"""s for connecting."""

EXPIRY: Final = 6.0
"""s without a word of a broker after which ZooKeeper ends its session, unless told: 0.8's default."""

RETRY: Final = {"max_tries": -1, "max_delay": 1.0}
"""How a lost connection is tried again: for ever, and after a long absence of ZooKeeper as soon as behind a
short one (kazoo's own pause grows to 60 s)."""

LOOK: Final = 3.0
"""s for connecting only to look."""


class UnreachableError(RuntimeError):
    """No ZooKeeper answers."""


class LostDataError(RuntimeError):
    """A ZooKeeper is there, without what was in it."""

    def __init__(self) -> None:
        super().__init__(
            "ZooKeeper is there again and has lost its data: all brokers are to start anew"
        )


def session(address: str, expiry: float = EXPIRY, patience: float = PATIENCE) -> KazooClient:
    """Connect to ZooKeeper at `host:port`; the caller ends it by `leave`. Raises UnreachableError.

    expiry: s; a ZooKeeper takes 2 to 20 of its ticks, and makes what is less or more the nearest of these.
    """
    from kazoo.client import KazooClient

    logging.getLogger("kazoo").setLevel(logging.CRITICAL)
    client = KazooClient(address, timeout=expiry, connection_retry=RETRY)
    try:
        client.start(patience)
    except client.handler.timeout_exception:
        leave(client)
        raise UnreachableError(f"no ZooKeeper answers at {address}") from None
    return client


def leave(client: KazooClient) -> None:
    """End a session, so that its ephemeral nodes go at once."""
    client.stop()
    client.close()


def forgotten(client: KazooClient) -> bool:
    """Whether the ZooKeeper that this client has lost is there, in a state before the one that the client has
    seen. Such a one refuses the client, for ever, and in the same way as one that is not ready yet."""
    from kazoo.exceptions import KazooException

    seen = client.last_zxid
    try:
        other = session(",".join(map(endpoint_text, client.hosts)), patience=LOOK)
    except UnreachableError:
        return False
    try:
        other.exists("/")
    except KazooException:
        return False  # it has gone again
    else:
        return bool(other.last_zxid < seen)
    finally:
        leave(other)
