"""A session with ZooKeeper, with exceptions instead of kazoo's log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from barnabas.captures.host_port import endpoint_text

if TYPE_CHECKING:
    from kazoo.client import KazooClient

PATIENCE: Final = 10.0
"""s for connecting."""

EXPIRY: Final = 6.0
"""Seconds of a broker's silence after which ZooKeeper ends its session: 0.8's default."""

RETRY: Final = {"max_tries": -1, "max_delay": 1.0}
"""Retries of a lost connection: for ever, and after a long absence of ZooKeeper as soon as after a short one
(kazoo's own pause grows to 60 s)."""

LOOK: Final = 3.0
"""s for connecting only to look."""


class UnreachableError(RuntimeError):
    """ZooKeeper does not respond."""


class LostDataError(RuntimeError):
    """ZooKeeper responds, but has lost its data."""

    def __init__(self) -> None:
        super().__init__(
            "ZooKeeper is there again and has lost its data: all brokers are to start anew"
        )


def session(address: str, expiry: float = EXPIRY, patience: float = PATIENCE) -> KazooClient:
    """Connect to ZooKeeper at `host:port`; the caller ends the session by `leave`.

    expiry: seconds; ZooKeeper limits it to 2 to 20 of its ticks. Raises UnreachableError.
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
    """Return whether the ZooKeeper that this client has lost is back in an older state.

    Such a ZooKeeper refuses the client for ever, and in the same way as one that is not ready yet.
    """
    from kazoo.exceptions import KazooException

    last_zxid = client.last_zxid
    try:
        other = session(",".join(map(endpoint_text, client.hosts)), patience=LOOK)
    except UnreachableError:
        return False
    try:
        other.exists("/")
    except KazooException:
        return False  # gone again
    else:
        return bool(other.last_zxid < last_zxid)
    finally:
        leave(other)
