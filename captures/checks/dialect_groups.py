"""Translate the group messages of dialects to the fields of Kafka's classic groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from barnabas.captures.checks.group_messages import GroupMessage
from barnabas.captures.kafka.context.memory import BYTES
from barnabas.captures.kafka.exchange import Exchange
from barnabas.plugins import failed, make
from barnabas.specs.dialects.keys import STEP, of_key
from barnabas.specs.keys import JOIN_GROUP, LEAVE_GROUP
from barnabas.specs.registry import NAMES

REQUEST: Final = ("member_id", "generation_id")
"""The fields that the request of each `GroupMessage` has."""

FURTHER: Final = {
    JOIN_GROUP: (("session_timeout_ms",), ("member_id", "generation_id", "leader", "members")),
    LEAVE_GROUP: ((), ("error_code",)),
}
"""Further fields of the request, and the fields of the response, by API key."""


class GroupReader(Protocol):
    """A reader of one dialect's exchanges, in the order in which they end, in bounded memory."""

    @property
    def forgotten(self) -> int:
        """Return the number of groups and consumers that were dropped because there were too many."""

    def of(self, exchange: Exchange) -> Iterable[GroupMessage]:
        """Return the group messages of an exchange; the first one has the member and its generation.

        Requests and responses have the fields in REQUEST and FURTHER. If responses do not list the members of
        a group, `leader` and `members` are empty.
        """


class DialectGroups:
    """The groups of all dialects, each read by the class that the dialect names (`Dialect.groups`)."""

    def __init__(self, bytes_: int = BYTES) -> None:
        self._bytes = bytes_
        self._readers: dict[str, GroupReader] = {}

    @property
    def forgotten(self) -> int:
        """Return the number of groups and consumers that were dropped because there were too many."""
        return sum(reader.forgotten for reader in self._readers.values())

    def of(self, exchange: Exchange) -> Iterable[GroupMessage]:
        """Return the group messages of an exchange; empty for Kafka's own APIs and unreadable bodies.

        Raises:
            Trouble: The reader can't be loaded, or fails.
        """
        if exchange.key < STEP:
            return ()
        dialect, _ = of_key(exchange.key)
        if not dialect.groups:
            return ()
        owner = f"dialect {dialect.name}"
        if dialect.name not in self._readers:
            self._readers[dialect.name] = make(owner, dialect.groups, self._bytes)
        try:
            messages = tuple(self._readers[dialect.name].of(exchange))
            for message in messages:
                _require(message)
            return messages
        except Exception as problem:  # noqa: BLE001 - a plug-in's reader may raise anything
            raise failed(owner, dialect.groups, problem) from None


def _require(message: GroupMessage) -> None:
    """Raise ValueError for a missing field."""
    request, response = FURTHER.get(message.key, ((), ()))
    missing = [f"request.{name}" for name in (*REQUEST, *request) if name not in message.request]
    missing += [f"response.{name}" for name in response if name not in message.response]
    if missing:
        raise ValueError(f"{NAMES[message.key]} has no {', '.join(missing)}")
