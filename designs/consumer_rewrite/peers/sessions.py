"""The sessions of a group's consumers: live consumers, and those that know of a rebalance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from barnabas.designs.consumer_rewrite.peers.group_entry import Consumer


@dataclass
class Session:
    """A consumer of the current generation. It is dead at its deadline, unless its JoinGroup waits."""

    consumer: Consumer
    deadline: int
    connection: int | None = None

    def extend(self, connection: int, now: int) -> None:
        """Extend the session after a request on this connection."""
        self.deadline, self.connection = now + self.consumer.session_timeout_ms, connection


class Sessions:
    """All sessions of a generation."""

    def __init__(self, consumers: Iterable[Consumer], now: int) -> None:
        self.live = {
            consumer.consumer_id: Session(consumer, now + consumer.session_timeout_ms)
            for consumer in consumers
        }
        self.lapsed: dict[str, Session] = {}
        """Dead ones of whom the rest of the group has not heard for sure."""
        self._told: set[str] = set()
        """Consumers that got IllegalGeneration in a heartbeat's response since the rebalance began."""
        self._cancelable = False
        """Whether nothing but dead consumers is the reason of the rebalance."""

    def __contains__(self, name: str) -> bool:
        return name in self.live or name in self.lapsed

    def rebalance(self, *, begins: bool, cancelable: bool) -> None:
        """Note a reason for a rebalance, the first or a further one."""
        if begins:
            self._cancelable, self._told = cancelable, set()
        else:
            self._cancelable &= cancelable

    def cancels(self, name: str, connection: int, now: int) -> bool:
        """Handle a heartbeat during a rebalance; return whether it cancels the rebalance.

        It does if it was the last missing one. If not, the consumer is told to join.
        """
        if name in self.lapsed:
            if self._told or not self._cancelable:
                return False
            self.live[name] = self.lapsed.pop(name)
            if not self.lapsed:  # it returned before any consumer learned of the rebalance
                self.live[name].extend(connection, now)
                return True
        if name not in self._told:
            self._told.add(name)
            self.live[name].extend(connection, now)
        return False

    def lost(self, connection: int) -> None:
        """Note that a connection is closed."""
        for session in (*self.live.values(), *self.lapsed.values()):
            if session.connection == connection:
                session.connection = None
