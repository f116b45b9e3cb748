"""Closes connections whose client has gone and whose broker stands still.

The end of a client's stream is passed on, and the broker closes in turn. One that is stopped, or
whose host has vanished, does not; and if it takes no more, the client is not read from, so its end
is not even seen. Without the proxy the client's own close would free its descriptor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from barnabas.proxy.network.tcp_info import acknowledged, ended, received

if TYPE_CHECKING:
    from barnabas.proxy.network.relay import Relay


class Reaper:
    """Remembers how far brokers were; patience in seconds."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._seen: dict[Relay, tuple[int, float]] = {}
        """How many bytes the broker had sent and taken, and since when it has been as many."""

    def find(self, relays: Iterable[Relay], now: float) -> Iterator[Relay]:
        """Those whose client has gone and whose broker has not moved a byte for that long."""
        seen = {}
        for relay in relays:
            if not _deserted(relay):
                continue
            broker = relay.broker.transport.get_extra_info("socket")
            moved = received(broker) + acknowledged(broker)
            before, since = self._seen.get(relay, (moved, now))
            seen[relay] = moved, since if before == moved else now
            if now - seen[relay][1] >= self.patience:
                yield relay
        self._seen = seen


def reap(
    relays: Mapping[int, Relay],
    reaper: Reaper,
    loop: asyncio.AbstractEventLoop,
    say: Callable[[str], None],
    over: Callable[[], bool] = lambda: False,
) -> None:
    """Close those that it finds, and look again after a while, until it is over."""
    if over():
        return
    for relay in list(reaper.find(relays.values(), loop.time())):
        name = relay.connection.state.name
        say(f"{name}: the client disconnected, and the broker reads nothing; closed")
        relay.close()
        relay.abort()
    loop.call_later(reaper.patience / 4, reap, relays, reaper, loop, say, over)


def _deserted(relay: Relay) -> bool:
    """Whether a client has gone, and no rule or person holds back what it has sent or asked for."""
    client, broker = relay.client, relay.broker
    if not client.open or not broker.open or relay.paused:
        return False
    if any(not queue.idle for queue in relay.connection.state.queues.values()):
        return False
    # where the end may come it will be seen, and passed on, so only the others are looked at closely
    unread = client.ended or not client.transport.is_reading()
    return unread and ended(client.transport.get_extra_info("socket"))
