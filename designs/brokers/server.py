"""A broker of a design on asyncio: it runs a core, and performs the actions that both designs share."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeVar

from barnabas.designs.brokers.listener import Action, Address, Close, Core, Listener, Log, Send
from barnabas.designs.brokers.registry import Leader, Registry
from barnabas.designs.brokers.registry.topics import Topics

AnyCore = TypeVar("AnyCore", bound=Core[Any])

Leaders = Mapping[int, Leader | None]
"""The leader of each election."""

AGAIN: Final = 1.0
"""Seconds until topics that could not be read are read again."""


class BrokerServer(ABC, Generic[AnyCore, Action]):
    """One broker: its core, its sockets, and the topics in the registry.

    If `watch` raises asyncio.CancelledError, that action and all after it are dropped: the broker is as good
    as dead, and `Cluster.stop` closes its connections.

    Args:
        watch: Called with each action, right before the broker carries it out.
        ended: Called when the broker has ended itself.
        front: Puts another core in front of `core`, e.g. `barnabas.designs.brokers.logs.broker.LogBroker`.
    """

    def __init__(
        self,
        node: int,
        core: AnyCore,
        registry: Registry,
        watch: Callable[[int, Action], None] | None,
        ended: Callable[[int], None],
        front: Callable[[AnyCore], Core[Action]],
    ) -> None:
        self.node = node
        self.core = core
        self.front: Any = front(core)
        """The core that has the connections: `core`, or the one in front of it."""
        self.listener: Listener[Action] = Listener(self.front, self._carry_out, lambda: ended(node))
        self.said: list[str] = []
        """Lines of the log, and why connections were closed; the latest 100."""
        self._registry = registry
        self._topics = Topics(registry, self._topics_changed)
        self._watch = watch

    async def start(self, address: Address = ("127.0.0.1", 0)) -> None:
        """Listen. Raises OSError."""
        self._loop = asyncio.get_running_loop()
        await self.listener.start(address)

    async def stop(self) -> None:
        """Close all connections at once, as if the broker had died."""
        await self.listener.stop()

    @abstractmethod
    def set_cluster(self, nodes: Mapping[int, Address], leaders: Leaders) -> None:
        """Set the live brokers with their addresses, and the leader of each election."""

    @abstractmethod
    def _topics_changed(self) -> None:
        """Read the topics again, called in any thread."""

    async def _carry_out(self, action: Action) -> None:
        """Perform an action of both designs; each design's server performs its own."""
        self._seen(action)
        if isinstance(action, Send):
            self.listener.send(action)
        elif isinstance(action, Close):
            self._say(action.reason)
            self.listener.close(action)
        elif isinstance(action, Log):
            self._say(f"{action.level} {action.text}")

    def _seen(self, action: Action) -> None:
        if self._watch is not None:
            self._watch(self.node, action)

    def _say(self, line: str) -> None:
        self.said = [*self.said[-99:], line]
