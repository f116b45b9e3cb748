"""A consumer of this protocol without sockets: the steps of `REWRITE_CONSUMER`.

    consumer.start(now)          -> actions
    consumer.connected(now)      -> actions
    consumer.receive(data, now)  -> actions
    consumer.lost(now)           -> actions     (the connection is closed, or could not be made)
    consumer.poll(now)           -> actions     (at `consumer.wake`, or whenever the application polls)

The page sends heartbeats in poll() only: so here `poll` is what sends, and an application that does not
call it is a slow consumer. Times are ms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from barnabas.peers.consumer_rewrite.actions import Consume, ConsumerAction, Fail, Halt
from barnabas.peers.consumer_rewrite.settings import ConsumerSettings
from barnabas.peers.consumer_rewrite.strategies import Partition
from barnabas.peers.consumer_rewrite.wire import error_name, read_response, request
from barnabas.peers.dialer import Connect, Disconnect, Transmit
from barnabas.peers.framing import Frames, Refused
from barnabas.peers.listener import Address
from barnabas.specs.drafts.rewrite_states import (
    DISCOVER,
    DOWN,
    LOST,
    NOT_COMPLETE,
    NOT_COORDINATOR,
    PART_OF_GROUP,
    REDISCOVER,
    RESUBSCRIBED,
    REWRITE_CONSUMER,
    START,
    STOP,
    STOPPED,
    UNKNOWN_CONSUMER,
)
from barnabas.specs.groups.table import NONE
from barnabas.specs.malformed import Malformed

FRAME_LIMIT: Final = 8 << 20
"""Bytes of the largest response."""

NOTHING: Final[Mapping[Partition, int]] = MappingProxyType({})


@dataclass(frozen=True)
class _Pending:
    correlation_id: int
    api: str
    due: int
    """When it is too late for the response."""
    offsets: Mapping[Partition, int]
    """What an OffsetCommit has."""


class Consumer:
    """A consumer of one group."""

    def __init__(self, settings: ConsumerSettings) -> None:
        self.settings = settings
        self.state = DOWN
        self.generation = -1
        self.consumer_id = ""
        self.owns: tuple[Partition, ...] = ()
        """What the last JoinGroup gave it, while it is allowed to consume."""
        self.positions: dict[Partition, int] = {}
        """The next offset of each partition that the application consumes: it sets them."""
        self.topics = frozenset(settings.topics)
        """What it subscribes to, wildcard and all."""
        self._named = self.topics
        """Without those of the wildcard."""
        self._matched: frozenset[str] = frozenset()
        self.failure: str | None = None
        """Why it was unable to join."""
        self.losses = 0
        """How often it took the other side of its connection for dead."""
        self._address: Address | None = None
        """Where it is connected, or connects to."""
        self._up = False
        self._deadline = 0
        """Of connecting."""
        self._coordinator: Address | None = None
        self._found = False
        """Whether a response named the coordinator since discovery began."""
        self._frames = Frames(FRAME_LIMIT)
        self._pending: deque[_Pending] = deque()
        self._correlation_id = 0
        self._turn = 0
        """Of the brokers to begin with, which is next."""
        self._pause = 0
        """Not before this time anything is tried again."""
        self._beat = 0
        """When the next heartbeat is due."""
        self._look = 0
        """When topics are to be looked for again."""
        self._looked = not settings.wildcard
        self._joined_for = self.topics
        """The topics of the last JoinGroup."""
        self._starting = False
        """Whether offsets to start from are to be fetched."""
        self._committed: dict[Partition, int] = {}
        self._flush = False
        """Whether positions are to be committed before anything else."""
        self._out: list[ConsumerAction] = []

    def start(self, now: int) -> list[ConsumerAction]:
        """Begin, without the id of an earlier life."""
        self.consumer_id = ""
        self._step(START)
        return self.poll(now)

    def stop(self, now: int) -> list[ConsumerAction]:
        """Leave the group, and be down. Positions are not committed."""
        if self.state != DOWN:
            if self._ready and self.consumer_id and not self._waits("JoinGroup"):
                group, consumer = self.settings.group_id, self.consumer_id
                self._ask("LeaveGroup", {"group_id": group, "consumer_id": consumer}, now)
            self._step(STOP)
            self._halt()
            self._hang_up()
        return self._taken()

    @property
    def wake(self) -> int | None:
        """When `poll` has something to do that no response brings, in ms."""
        if self.state == DOWN:
            return None
        if self._address is None:
            return self._pause
        if not self._up:
            return self._deadline
        times = [one.due for one in self._pending]
        if not self._found:
            times += [] if self._pending else [self._pause]
        elif self.settings.wildcard and not self._waits("Metadata"):
            times.append(max(self._look, self._pause))
        elif not self._looked:
            pass
        elif self.state != PART_OF_GROUP:
            times += [] if self._waits("JoinGroup", "OffsetCommit") else [self._pause]
        elif not self._waits("Heartbeat"):
            times.append(max(self._beat, self._pause))
        if self._flush and self._found and self._looked and self.state == PART_OF_GROUP:
            times.append(self._pause)
        return min(times, default=None)

    def connected(self, now: int) -> list[ConsumerAction]:
        """The connection that was asked for is there."""
        self._up = True
        return self.poll(now)

    def lost(self, now: int) -> list[ConsumerAction]:
        """The connection is closed, or could not be made."""
        if self._address is not None:
            self._address = None
            self._lose(now)
        return self.poll(now)

    def receive(self, data: bytes, now: int) -> list[ConsumerAction]:
        """Bytes of the connection."""
        if not self._up:
            return []
        try:
            for frame in self._frames.take(data):
                self._response(frame, now)
                if self._address is None:
                    break
        except (Refused, Malformed):
            self._lose(now)
        return self.poll(now)

    def commit(self, now: int) -> list[ConsumerAction]:
        """Commit all positions, with the next poll."""
        self._flush = True
        return self.poll(now)

    def subscribe(self, topics: Iterable[str]) -> None:
        """Subscribe to these, beside those of a wildcard. If that is a change, the next poll joins anew."""
        self._named = frozenset(topics)
        self.topics = self._named | self._matched

    def poll(self, now: int) -> list[ConsumerAction]:
        """Send what is due."""
        if self.state == DOWN:
            return self._taken()
        late = any(one.due <= now for one in self._pending)
        if late or (self._address is not None and not self._up and self._deadline <= now):
            self._lose(now)
        if self._address is None:
            self._dial(now)
        elif self._up and now >= self._pause:
            self._speak(now)
        return self._taken()

    @property
    def _ready(self) -> bool:
        """Whether it is connected to its coordinator, as far as it knows."""
        return self._up and self._found and self._address == self._coordinator

    def _step(self, event: str, answer: str = NONE) -> None:
        following = REWRITE_CONSUMER.step(self.state, event, answer)
        if following is None:
            raise AssertionError(f"{event} ({answer}) in state {self.state}")
        before, self.state = self.state, following
        if following in (STOPPED, DISCOVER, DOWN) and before in (PART_OF_GROUP, REDISCOVER):
            self._halt()

    def _taken(self) -> list[ConsumerAction]:
        out, self._out = self._out, []
        return out

    def _halt(self) -> None:
        if self.owns:
            self._out.append(Halt())
        self.owns, self._starting = (), False

    def _hang_up(self) -> None:
        if self._address is not None:
            self._out.append(Disconnect())
        self._address, self._up = None, False
        self._frames = Frames(FRAME_LIMIT)
        self._flush |= any(
            one.offsets for one in self._pending
        )  # nobody said whether they are kept
        self._pending.clear()

    def _lose(self, now: int) -> None:
        """The coordinator is taken to be dead, or the broker that was asked for it."""
        self.losses += 1
        self._hang_up()
        self._coordinator, self._found = None, False
        self._pause = now + self.settings.backoff_ms
        self._step(LOST)

    def _dial(self, now: int) -> None:
        if now < self._pause:
            return
        if self._coordinator is not None:
            self._address = self._coordinator
        else:
            self._address = self.settings.bootstrap[self._turn % len(self.settings.bootstrap)]
            self._turn += 1
        self._deadline = now + self.settings.request_timeout_ms
        self._out.append(Connect(self._address))

    def _speak(self, now: int) -> None:
        """What is to be asked now."""
        if not self._found:
            if not self._pending:
                self._ask("ConsumerMetadata", {"group_id": self.settings.group_id}, now)
            return
        if self.settings.wildcard and now >= self._look and not self._waits("Metadata"):
            self._look = now + self.settings.metadata_interval_ms
            self._ask("Metadata", {"topics": []}, now)
        if not self._looked:
            return
        if self.state in (DISCOVER, STOPPED):
            if self.state == STOPPED and self._flush:
                self._commit(now)
            if not self._waits("JoinGroup", "OffsetCommit"):
                self._join(now)
            return
        if self.topics != self._joined_for:
            self._flush = True
            self._step(RESUBSCRIBED)
            self._speak(now)
            return
        if self._starting and not self._waits("OffsetFetch"):
            self._fetch_offsets(now)
        if self._flush:
            self._commit(now)
        if now >= self._beat and not self._waits("Heartbeat"):
            self._beat = now + self.settings.heartbeat_interval_ms
            body = {
                "group_id": self.settings.group_id,
                "group_generation_id": self.generation,
                "consumer_id": self.consumer_id,
            }
            self._ask("Heartbeat", body, now)

    def _join(self, now: int) -> None:
        body = {
            "group_id": self.settings.group_id,
            "session_timeout": self.settings.session_timeout_ms,
            "topics": sorted(self.topics),
            "consumer_id": self.consumer_id if self.settings.sends_consumer_id else "",
            "partition_assignment_strategy": self.settings.strategy,
        }
        self._joined_for = self.topics
        self._ask("JoinGroup", body, now)

    def _commit(self, now: int) -> None:
        self._flush = False
        sent = dict(self._committed)
        for one in self._pending:
            sent |= one.offsets
        new = {at: offset for at, offset in self.positions.items() if sent.get(at) != offset}
        if not new or not self.consumer_id:
            return
        topics: dict[str, list[dict[str, Any]]] = {}
        for (topic, number), offset in sorted(new.items()):
            row = {"partition": number, "offset": offset, "timestamp": now, "metadata": ""}
            topics.setdefault(topic, []).append(row)
        body = {
            "group_id": self.settings.group_id,
            "group_generation_id": self.generation,
            "consumer_id": self.consumer_id,
            "topics": [{"topic": topic, "partitions": rows} for topic, rows in topics.items()],
        }
        self._ask("OffsetCommit", body, now, new)

    def _fetch_offsets(self, now: int) -> None:
        topics: dict[str, list[int]] = {}
        for topic, number in self.owns:
            topics.setdefault(topic, []).append(number)
        body = {
            "group_id": self.settings.group_id,
            "topics": [
                {"name": topic, "partition_indexes": numbers} for topic, numbers in topics.items()
            ],
        }
        self._ask("OffsetFetch", body, now)

    def _ask(
        self, api: str, body: dict[str, Any], now: int, offsets: Mapping[Partition, int] = NOTHING
    ) -> None:
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        limits = {
            "Heartbeat": self.settings.session_timeout_ms,
            "JoinGroup": self.settings.join_timeout_ms,
        }
        due = now + limits.get(api, self.settings.request_timeout_ms)
        self._pending.append(_Pending(self._correlation_id, api, due, offsets))
        data = request(api, self._correlation_id, self.settings.client_id, body)
        self._out.append(Transmit(data))

    def _waits(self, *apis: str) -> bool:
        return any(one.api in apis for one in self._pending)

    def _response(self, frame: bytes, now: int) -> None:
        """A response. Raises Malformed for one that was not asked for."""
        if not self._pending:
            raise Malformed("header", 0, "nothing was asked")
        pending = self._pending.popleft()
        correlation_id, body = read_response(frame, pending.api)
        if correlation_id != pending.correlation_id:
            raise Malformed("header.correlation_id", 0, f"{pending.correlation_id} is next")
        if pending.api == "Metadata":
            self._matching(body)
        elif pending.api == "ConsumerMetadata":
            self._discovered(body, now)
        elif pending.api == "JoinGroup":
            self._join_answered(body, now)
        elif pending.api == "OffsetFetch":
            self._offsets_answered(body, now)
        elif pending.api == "OffsetCommit":
            self._commit_answered(pending.offsets, body, now)
        else:
            self._answered(pending.api, body["error_code"], now)

    def _answered(self, api: str, code: int, now: int) -> str:
        """Take the step of an answer; returns the answer's name."""
        answer = error_name(code)
        before = self.state
        self._step(api, answer)
        if answer == UNKNOWN_CONSUMER and api in ("Heartbeat", "JoinGroup"):
            self.consumer_id = ""  # the coordinator has forgotten it: it joins as a new one
        if api == "Heartbeat" and self.state == STOPPED:
            self._flush = before == PART_OF_GROUP
        elif answer == NOT_COORDINATOR and self.state != STOPPED:  # its JoinGroup will say so again
            self._coordinator, self._found = None, False
            self._hang_up()
            self._pause = now + self.settings.backoff_ms
        elif answer not in (NONE, UNKNOWN_CONSUMER) and api != "OffsetCommit":
            self._pause = self._beat = now + self.settings.backoff_ms
        if self.state == DOWN:
            self.failure = answer
            self._out.append(Fail(answer))
            self._hang_up()
        return answer

    def _discovered(self, body: dict[str, Any], now: int) -> None:
        if body["error_code"]:
            self._answered("ConsumerMetadata", body["error_code"], now)
            self._hang_up()  # another broker may know
            return
        self._coordinator, self._found = (body["host"], body["port"]), True
        if self._address != self._coordinator:
            self._hang_up()
        self._beat = now
        self._step("ConsumerMetadata")

    def _join_answered(self, body: dict[str, Any], now: int) -> None:
        if self._answered("JoinGroup", body["error_code"], now) != NONE:
            return
        self.generation, self.consumer_id = body["group_generation_id"], body["consumer_id"]
        self.owns = tuple(
            (topic["topic"], number)
            for topic in body["assigned_partitions"]
            for number in topic["partitions"]
        )
        self.positions, self._committed, self._flush = {}, {}, False
        self._starting = bool(self.owns)
        self._beat = now + self.settings.heartbeat_interval_ms

    def _commit_answered(
        self, offsets: Mapping[Partition, int], body: dict[str, Any], now: int
    ) -> None:
        codes = {
            (topic["topic"], one["partition"]): one["error_code"]
            for topic in body["responses"]
            for one in topic["partition_responses"]
        }
        self._committed |= {at: to for at, to in offsets.items() if codes.get(at) == 0}
        answer = self._answered("OffsetCommit", next(filter(None, codes.values()), 0), now)
        if answer == NOT_COMPLETE:
            self._flush, self._pause = True, now + self.settings.backoff_ms
        elif answer == NOT_COORDINATOR and self.state == REDISCOVER:
            self._flush = True  # for the next coordinator

    def _offsets_answered(self, body: dict[str, Any], now: int) -> None:
        rows = [(topic["name"], one) for topic in body["topics"] for one in topic["partitions"]]
        codes = [one["error_code"] for _, one in rows]
        answer = self._answered("OffsetFetch", next(filter(None, codes), 0), now)
        if answer != NONE or not self._starting:
            return
        found = {(topic, one["partition_index"]): one["committed_offset"] for topic, one in rows}
        self._starting = False
        self.positions = {at: max(0, found.get(at, 0)) for at in self.owns}
        self._committed = dict(self.positions)
        self._out.append(Consume(self.generation, dict(self.positions)))

    def _matching(self, body: dict[str, Any]) -> None:
        """Metadata of all topics: subscribe to those that the wildcard matches."""
        names = (one["name"] for one in body["topics"])
        self._matched = frozenset(name for name in names if self.settings.matches(name))
        self._looked, self.topics = True, self._named | self._matched
