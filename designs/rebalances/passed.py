"""Exchanges of group members in the proxy's capture: when each arrived, and when it was sent on."""

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


class Passed(NamedTuple):
    """An exchange of a member, whose client id is GROUP.LETTER. Times are seconds since 1970."""

    group: str
    letter: str
    api: str
    number: int
    """The correlation id."""
    connection: int
    came: float
    left: float
    """When the request went on to the broker: its last byte."""
    late: bool
    """Whether the proxy kept it, even if for no time: what left meanwhile left first."""
    answered: float | None
    """When the answer went on to the client; None without one."""
    error: str | None
    request: dict[str, Any]
    response: dict[str, Any]

    @property
    def mark(self) -> str:
        """The metadata of a commit's first offset."""
        for topic in self.request.get("topics", ()):
            for one in topic["partitions"]:
                return str(one.get("committed_metadata", ""))
        return ""

    @property
    def committed(self) -> dict[int, int]:
        """The offsets in the answer to an OffsetFetch, by partition."""
        groups = self.response.get("groups") or [self.response]
        return {
            one["partition_index"]: one["committed_offset"]
            for group in groups
            for topic in group.get("topics") or ()
            for one in topic["partitions"]
        }

    @property
    def fetched(self) -> dict[int, int]:
        """The offsets from which a Fetch reads, by partition."""
        return {
            one["partition"]: one["fetch_offset"]
            for topic in self.request.get("topics", ())
            for one in topic["partitions"]
        }


def read(capture: Path) -> list[Passed]:
    """Read the exchanges of all members, in the order of their requests."""
    late: dict[tuple[str | None, int], float] = {}

    def seen(_: int, flow: FlowName, direction: Direction, frame: CapturedFrame) -> None:
        head = head_of(frame.data) if (flow, direction) == ("left", "request") else None
        if head is not None:
            late[head.client_id, head.correlation_id] = frame.ts / 1e9

    return sorted(_exchanges(capture, Conversations(on_frame=seen), late), key=lambda one: one.came)


def _exchanges(
    capture: Path, conversations: Conversations, late: dict[tuple[str | None, int], float]
) -> Iterator[Passed]:
    """Yield exchanges. late: when delayed requests left; known when their exchange is over."""
    for one in conversations.exchanges(CaptureReader(capture)):
        group, _, letter = (one.client_id or "").partition(".")
        if not letter or one.api not in APIS:
            continue
        came = one.ts / 1e9
        yield Passed(
            group,
            letter,
            one.api,
            one.correlation_id,
            one.connection,
            came,
            late.get((one.client_id, one.correlation_id), came),
            (one.client_id, one.correlation_id) in late,
            None if one.latency_ms is None else came + one.latency_ms / 1e3,
            one.error,
            one.request or {},
            one.response or {},
        )
