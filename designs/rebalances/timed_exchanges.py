"""Exchanges of group members in the proxy's capture, with the times of arrival and forwarding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame, head_of
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import FlowName
from barnabas.specs.frames import Direction

APIS: Final = (
    "OffsetCommit", "OffsetFetch", "JoinGroup", "SyncGroup", "LeaveGroup", "ConsumerGroupHeartbeat",
    "FindCoordinator", "Fetch",
)  # fmt: skip


class TimedExchange(NamedTuple):
    """An exchange of a member, whose client id is GROUP.LETTER. Times are seconds since 1970."""

    group: str
    letter: str
    api: str
    number: int
    """The correlation id."""
    connection: int
    came: float
    forwarded_at: float
    """The time at which the request's last byte went on to the broker."""
    late: bool
    """Whether the proxy held the request, even for no time: other requests may have overtaken it."""
    answered: float | None
    """The time at which the response went on to the client; None: there was none."""
    error: str | None
    request: dict[str, Any]
    response: dict[str, Any]

    @property
    def mark(self) -> str:
        """Return the metadata of a commit's first offset."""
        for topic in self.request.get("topics", ()):
            for partition in topic["partitions"]:
                return str(partition.get("committed_metadata", ""))
        return ""

    @property
    def committed(self) -> dict[int, int]:
        """Return the offsets in the response to an OffsetFetch, by partition."""
        groups = self.response.get("groups") or [self.response]
        return {
            partition["partition_index"]: partition["committed_offset"]
            for group in groups
            for topic in group.get("topics") or ()
            for partition in topic["partitions"]
        }

    @property
    def fetched(self) -> dict[int, int]:
        """Return the offsets from which a Fetch reads, by partition."""
        return {
            partition["partition"]: partition["fetch_offset"]
            for topic in self.request.get("topics", ())
            for partition in topic["partitions"]
        }


def read(capture: Path) -> list[TimedExchange]:
    """Read the exchanges of all members, in the order of their requests."""
    late: dict[tuple[str | None, int], float] = {}

    def seen(_: int, flow: FlowName, direction: Direction, frame: CapturedFrame) -> None:
        head = head_of(frame.data) if (flow, direction) == ("left", "request") else None
        if head is not None:
            late[head.client_id, head.correlation_id] = frame.ts / 1e9

    return sorted(
        _exchanges(capture, Conversations(on_frame=seen), late), key=lambda exchange: exchange.came
    )


def _exchanges(
    capture: Path, conversations: Conversations, late: dict[tuple[str | None, int], float]
) -> Iterator[TimedExchange]:
    """Yield exchanges. late: when delayed requests left; known when their exchange is over."""
    for exchange in conversations.exchanges(CaptureReader(capture)):
        group, _, letter = (exchange.client_id or "").partition(".")
        if not letter or exchange.api not in APIS:
            continue
        came = exchange.ts / 1e9
        yield TimedExchange(
            group,
            letter,
            exchange.api,
            exchange.correlation_id,
            exchange.connection,
            came,
            late.get((exchange.client_id, exchange.correlation_id), came),
            (exchange.client_id, exchange.correlation_id) in late,
            None if exchange.latency_ms is None else came + exchange.latency_ms / 1e3,
            exchange.error,
            exchange.request or {},
            exchange.response or {},
        )
