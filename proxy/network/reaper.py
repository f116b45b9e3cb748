"""Closes connections whose client has gone and whose broker moves no bytes.

The end of a client's stream is passed on, and the broker closes in turn. A broker that is stopped, or whose
host has vanished, does not. If it takes no more bytes, the client is not read from, so its end is not even
seen. Without the proxy the client's own close would free its descriptor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from barnabas.proxy.network.tcp_info import acknowledged, ended, received

if TYPE_CHECKING:
    from barnabas.proxy.network.relay import Relay


class Reaper:
    """The progress of brokers whose clients have gone; `patience` is in seconds."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._seen: dict[Relay, tuple[int, float]] = {}
        """The bytes that the broker had sent and acknowledged, and since when that number has not changed."""

    def find(self, relays: Iterable[Relay], now: float) -> Iterator[Relay]:
        """Yield the connections whose client has gone and whose broker moved no byte for that long."""
        progress = {}
        for relay in relays:
            if not _deserted(relay):
                continue
            broker = relay.broker.transport.get_extra_info("socket")
            moved = received(broker) + acknowledged(broker)
            before, since = self._seen.get(relay, (moved, now))
            progress[relay] = moved, since if before == moved else now
            if now - progress[relay][1] >= self.patience:
                yield relay
        self._seen = progress


def reap(
    relays: Mapping[int, Relay],
    reaper: Reaper,
    loop: asyncio.AbstractEventLoop,
    say: Callable[[str], None],
    over: Callable[[], bool] = lambda: False,
) -> None:
    """Close the connections that the reaper finds, repeatedly, until `over` returns True."""
    if over():
        return
    for relay in list(reaper.find(relays.values(), loop.time())):
        name = relay.connection.state.name
        say(f"{name}: the client disconnected, and the broker reads nothing; closed")
        relay.close()
        relay.abort()
    loop.call_later(reaper.patience / 4, reap, relays, reaper, loop, say, over)


def _deserted(relay: Relay) -> bool:
    """Return whether a client has gone, and no rule or person holds back its bytes."""
    client, broker = relay.client, relay.broker
    if not client.open or not broker.open or relay.paused:
        return False
    if any(not queue.idle for queue in relay.connection.state.queues.values()):
        return False
    # an end that is read is passed on, so only sockets that are not read from are examined
    unread = client.ended or not client.transport.is_reading()
    return unread and ended(client.transport.get_extra_info("socket"))
