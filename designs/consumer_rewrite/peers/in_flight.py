"""Requests of a consumer in flight: which response is next, and when it is too late for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from barnabas.designs.consumer_rewrite.peers.settings import ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import Partition
from barnabas.designs.consumer_rewrite.peers.wire import read_response, request
from barnabas.specs.malformed import Malformed

NOTHING: Final[Mapping[Partition, int]] = MappingProxyType({})


@dataclass(frozen=True)
class Pending:
    """A request without its response."""

    correlation_id: int
    api: str
    due: int
    """When it is too late for the response."""
    offsets: Mapping[Partition, int]
    """What an OffsetCommit has."""


class InFlight:
    """The requests of one connection, in their order."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self.pending: deque[Pending] = deque()
        self._settings = settings
        self._limits = {
            "Heartbeat": settings.session_timeout_ms,
            "JoinGroup": settings.join_timeout_ms,
        }
        self._correlation_id = 0

    def ask(
        self, api: str, body: dict[str, Any], now: int, offsets: Mapping[Partition, int]
    ) -> bytes:
        """The frame of a request."""
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        due = now + self._limits.get(api, self._settings.request_timeout_ms)
        self.pending.append(Pending(self._correlation_id, api, due, offsets))
        return request(api, self._correlation_id, self._settings.client_id, body)

    def answered(self, frame: bytes) -> tuple[Pending, dict[str, Any]]:
        """A response, and what it answers. Raises Malformed for one that was not asked for."""
        if not self.pending:
            raise Malformed("header", 0, "nothing was asked")
        pending = self.pending.popleft()
        correlation_id, body = read_response(frame, pending.api)
        if correlation_id != pending.correlation_id:
            raise Malformed("header.correlation_id", 0, f"{pending.correlation_id} is next")
        return pending, body

    def waits(self, *apis: str) -> bool:
        """Whether a response to one of these is to come."""
        return any(one.api in apis for one in self.pending)

    def offsets(self) -> dict[Partition, int]:
        """What OffsetCommits without a response have, the latest of each partition."""
        found: dict[Partition, int] = {}
        for one in self.pending:
            found |= one.offsets
        return found
