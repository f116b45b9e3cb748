"""What messages of dialects say of groups, in the words of Kafka's classic groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol

from barnabas.captures.checks.answered import Answered
from barnabas.captures.kafka.context.memory import BYTES
from barnabas.captures.kafka.exchange import Exchange
from barnabas.plugins import failed, make
from barnabas.specs.dialects.keys import STEP, of_key
from barnabas.specs.keys import JOIN_GROUP, LEAVE_GROUP
from barnabas.specs.registry import NAMES

REQUEST: Final = ("member_id", "generation_id")
"""The fields that the request of each `Answered` has."""

FURTHER: Final = {
    JOIN_GROUP: (("session_timeout_ms",), ("member_id", "generation_id", "leader", "members")),
    LEAVE_GROUP: ((), ("error_code",)),
}
"""Further fields of the request, and those of the response, by the key of the API."""


class GroupReader(Protocol):
    """Reads the exchanges of one dialect, in the order in which they end, in bounded memory."""

    @property
    def forgotten(self) -> int:
        """Groups and consumers that were forgotten because there were too many."""

    def of(self, exchange: Exchange) -> Iterable[Answered]:
        """Return what an exchange says of a group; the first entry has the member and its generation.

        Requests and responses have the fields in REQUEST and FURTHER. If responses do not list the members
        of a group, `leader` is empty and so is `members`.
        """


class DialectGroups:
    """The groups of all dialects, each read by the class that the dialect names (`Dialect.groups`)."""

    def __init__(self, bytes_: int = BYTES) -> None:
        self._bytes = bytes_
        self._readers: dict[str, GroupReader] = {}

    @property
    def forgotten(self) -> int:
        """Groups and consumers that were forgotten because there were too many."""
        return sum(reader.forgotten for reader in self._readers.values())

    def of(self, exchange: Exchange) -> Iterable[Answered]:
        """Return what an exchange says of a group; nothing for Kafka's own APIs and unreadable bodies.

        Raises:
            Trouble: The reader can't be loaded, or fails.
        """
        if exchange.key < STEP:
            return ()
        dialect, _ = of_key(exchange.key)
        if not dialect.groups:
            return ()
        who = f"dialect {dialect.name}"
        if dialect.name not in self._readers:
            self._readers[dialect.name] = make(who, dialect.groups, self._bytes)
        try:
            found = tuple(self._readers[dialect.name].of(exchange))
            for seen in found:
                _require(seen)
            return found
        except Exception as problem:  # noqa: BLE001 - whatever somebody's reader does
            raise failed(who, dialect.groups, problem) from None


def _require(seen: Answered) -> None:
    """Raise ValueError for a field that is missing."""
    request, response = FURTHER.get(seen.key, ((), ()))
    missing = [f"request.{name}" for name in (*REQUEST, *request) if name not in seen.request]
    missing += [f"response.{name}" for name in response if name not in seen.response]
    if missing:
        raise ValueError(f"{NAMES[seen.key]} has no {', '.join(missing)}")
