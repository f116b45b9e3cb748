"""Requests of a consumer in flight: the next response, and its deadline."""

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
    """The deadline of the response."""
    offsets: Mapping[Partition, int]
    """The offsets of an OffsetCommit."""


class InFlight:
    """The requests of a connection in order."""

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
        """Register a request, and return its frame."""
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        due = now + self._limits.get(api, self._settings.request_timeout_ms)
        self.pending.append(Pending(self._correlation_id, api, due, offsets))
        return request(api, self._correlation_id, self._settings.client_id, body)

    def take_response(self, frame: bytes) -> tuple[Pending, dict[str, Any]]:
        """Decode a response, and return its request and body. Raises Malformed without a request."""
        if not self.pending:
            raise Malformed("header", 0, "nothing was asked")
        pending = self.pending.popleft()
        correlation_id, body = read_response(frame, pending.api)
        if correlation_id != pending.correlation_id:
            raise Malformed("header.correlation_id", 0, f"{pending.correlation_id} is next")
        return pending, body

    def waits(self, *apis: str) -> bool:
        """Return whether a response to one of these APIs is due."""
        return any(request.api in apis for request in self.pending)

    def offsets(self) -> dict[Partition, int]:
        """Return the offsets of OffsetCommits in flight, the latest of each partition."""
        offsets: dict[Partition, int] = {}
        for pending in self.pending:
            offsets |= pending.offsets
        return offsets
