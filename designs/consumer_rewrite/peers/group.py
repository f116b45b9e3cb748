"""A group at its coordinator: from READY on, the steps of `REWRITE_COORDINATOR`.

It has no sockets and no clock. Times are ms of any monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from barnabas.designs.brokers.listener import Close, Log
from barnabas.designs.consumer_rewrite import states
from barnabas.designs.consumer_rewrite.peers.actions import Write
from barnabas.designs.consumer_rewrite.peers.answers import (
    Answer,
    Body,
    RequestId,
    committed,
    fetched,
    joined,
    refusal,
)
from barnabas.designs.consumer_rewrite.peers.group_entry import Consumer, GroupEntry
from barnabas.designs.consumer_rewrite.peers.joining import Join, decided, refused, subscribed
from barnabas.designs.consumer_rewrite.peers.sessions import Session, Sessions
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings
from barnabas.designs.consumer_rewrite.peers.strategies import BrokenPromise
from barnabas.designs.consumer_rewrite.peers.wire import CODES
from barnabas.specs.groups.table import NONE

Action = Answer | Close | Write | Log


class Group:
    """The state of one group at its coordinator. Methods return actions."""

    def __init__(
        self,
        name: str,
        record: GroupEntry,
        version: int,
        *,
        settings: BrokerSettings,
        new_id: Callable[[], str],
        partitions: Mapping[str, int],
        now: int,
    ) -> None:
        self.name = name
        self.state = states.READY
        self.record = record
        self.version = version
        self._settings = settings
        self._new_id = new_id
        self._topics = partitions
        self._sessions = Sessions(record.consumers, now)
        self._waiting: list[Join] = []
        self._round: list[Join] = []
        """JoinGroups that are answered when the new generation is written."""
        self._next = record
        self._queued: list[tuple[RequestId, str, Body]] = []
        """Requests that arrived meanwhile and change the membership."""

    @property
    def blank(self) -> bool:
        """Return whether the group has nothing that must be kept."""
        return self.version < 0 and self.state == states.READY and not self._sessions.live

    @property
    def wake(self) -> int | None:
        """Return the time of the next `tick` in ms; None: not needed."""
        return min((session.deadline for session in self._awaited().values()), default=None)

    def handle(self, request: RequestId, api: str, body: Body, now: int) -> list[Action]:
        """Handle a request for this group."""
        if self.state == states.REBALANCING and api in ("JoinGroup", "LeaveGroup"):
            self._queued.append((request, api, body))
            return []
        if api == "JoinGroup":
            return self._join(request, body, now)
        if api == "LeaveGroup":
            return self._leave(request, body, now)
        if api == "OffsetCommit":
            return self._commit(request, body)
        if api == "OffsetFetch":
            self._step("OffsetFetch")
            return [Answer(request, api, fetched(self.record, body))]
        answer = self._heartbeat(request.connection, body, now)
        self._step("Heartbeat", answer)
        return [Answer(request, api, {"error_code": CODES[answer]})]

    def partitions(self, topics: Mapping[str, int], now: int) -> list[Action]:
        """Set all topics with their numbers of partitions."""
        self._topics = topics
        consumers = [session.consumer for session in self._sessions.live.values()]
        if not consumers or subscribed(consumers, topics) == self.record.partitions:
            return []
        if self.state == states.REBALANCING:  # looked at again when the round is over
            self._step(states.PARTITIONS_CHANGED)
            return []
        self._prepare(states.PARTITIONS_CHANGED)
        return self._advance(now)

    def tick(self, now: int) -> list[Action]:
        """Remove consumers without a heartbeat for a session timeout."""
        actions: list[Action] = []
        for name, session in self._awaited().items():
            if session.deadline > now:
                continue
            self._sessions.lapsed[name] = self._sessions.live.pop(name)
            self._prepare(states.DEAD)
            # a joining consumer without its former id looks like a new one next to a dead one
            waits = any(join.request_id.connection == session.connection for join in self._waiting)
            if session.connection is not None and not waits:
                actions.append(Close(session.connection, f"no heartbeat of {name} in its session"))
        return actions + self._advance(now)

    def lost(self, connection: int, now: int) -> None:
        """Drop the JoinGroups of a closed connection."""
        self._sessions.lost(connection)
        self._queued = [queued for queued in self._queued if queued[0].connection != connection]
        for join in self._withdrawn(lambda queued: queued.request_id.connection == connection):
            known = self._sessions.live.get(join.consumer.consumer_id)
            if known is not None:
                known.deadline = now + known.consumer.session_timeout_ms

    def written(self, now: int) -> list[Action]:
        """Send the responses of a round, whose entry is in the registry."""
        if self.state != states.REBALANCING:
            return []
        self.record = self._next
        joins = {member.consumer.consumer_id: member.request_id for member in self._round}
        lapsed, self._sessions = self._sessions.lapsed, Sessions(self.record.consumers, now)
        for name, session in self._sessions.live.items():
            session.connection = joins[name].connection
        self._step(states.ANSWERED if self._sessions.live else states.EMPTIED)
        actions: list[Action] = [
            Answer(joins[member.consumer_id], "JoinGroup", joined(self.record.generation, member))
            for member in self.record.consumers
        ]
        # all or none: a broken strategy leaves a generation without members
        actions += [
            Answer(member.request_id, "JoinGroup", refusal("JoinGroup", states.UNKNOWN, {}))
            for member in self._round
            if member.consumer.consumer_id not in self._sessions.live
        ]
        self._round = []
        queued, self._queued = self._queued, []
        # dead consumers whose request precedes the end of the round join the next one with their id
        self._sessions.lapsed = lapsed
        for request in queued:
            actions += self.handle(*request, now)
        self._sessions.lapsed = {}
        return actions + self.partitions(self._topics, now)

    def resigned(self) -> list[Action]:
        """Refuse all waiting requests: another broker coordinates the group."""
        self._step(states.RESIGNED)
        waiting = [
            (join.request_id, "JoinGroup", Body()) for join in (*self._waiting, *self._round)
        ]
        return [
            Answer(request, api, refusal(api, states.NOT_COORDINATOR, body))
            for request, api, body in (*waiting, *self._queued)
        ]

    def _step(self, event: str, answer: str = NONE) -> None:
        self.state = states.REWRITE_COORDINATOR.advance(self.state, event, answer)

    def _prepare(self, event: str) -> None:
        """Begin a rebalance, or note a further reason for it."""
        self._sessions.rebalance(
            begins=self.state != states.PREPARE, cancelable=event == states.DEAD
        )
        self._step(event)

    def _awaited(self) -> dict[str, Session]:
        """Return the sessions without a waiting JoinGroup."""
        if self.state in (states.REBALANCING, states.DOWN):
            return {}
        joined = {item.consumer.consumer_id for item in self._waiting}
        return {name: item for name, item in self._sessions.live.items() if name not in joined}

    def _withdrawn(self, which: Callable[[Join], object]) -> list[Join]:
        """Remove some of the waiting JoinGroups, and return them."""
        withdrawn = [join for join in self._waiting if which(join)]
        self._waiting = [join for join in self._waiting if not which(join)]
        return withdrawn

    def _heartbeat(self, connection: int, body: Body, now: int) -> str:
        name = body["consumer_id"]
        if self.state == states.REBALANCING:
            known = any(join.consumer.consumer_id == name for join in self._round)
            known |= name in self._sessions.lapsed
            return states.ILLEGAL_GENERATION if known else states.UNKNOWN_CONSUMER
        if name not in self._sessions:
            return states.UNKNOWN_CONSUMER
        if body["group_generation_id"] != self.record.generation:
            return states.ILLEGAL_GENERATION
        if self.state != states.PREPARE:
            self._sessions.live[name].extend(connection, now)
            return NONE
        if self._sessions.cancels(name, connection, now):
            self._step(states.CANCELLED)
            return NONE
        return states.ILLEGAL_GENERATION

    def _join(self, request: RequestId, body: Body, now: int) -> list[Action]:
        name = body["consumer_id"]
        waiting = [member.consumer for member in self._waiting]
        known = name in self._sessions or any(member.consumer_id == name for member in waiting)
        others = [*waiting, *(member.consumer for member in self._awaited().values())]
        others = [member for member in others if not name or member.consumer_id != name]
        error = refused(body, self._settings, known, others)
        if error is not None:
            self._step("JoinGroup", error)
            return [Answer(request, "JoinGroup", refusal("JoinGroup", error, body))]
        actions: list[Action] = [
            Close(before.request_id.connection, f"{name} has joined on another connection")
            for before in self._withdrawn(
                lambda member: name and member.consumer.consumer_id == name
            )
        ]
        topics = frozenset(body["topics"])
        timeout, strategy = body["session_timeout"], body["partition_assignment_strategy"]
        consumer = Consumer(name, timeout, topics, strategy, host=request.host)
        self._waiting.append(Join(request, consumer))
        self._prepare(states.JOINED)
        return actions + self._advance(now)

    def _leave(self, request: RequestId, body: Body, now: int) -> list[Action]:
        name = body["consumer_id"]
        answer = NONE if name in self._sessions else states.UNKNOWN_CONSUMER
        self._step("LeaveGroup", answer)
        actions: list[Action] = [Answer(request, "LeaveGroup", {"error_code": CODES[answer]})]
        self._sessions.lapsed.pop(name, None)
        if self._sessions.live.pop(name, None) is None:
            return actions
        actions += [
            Answer(join.request_id, "JoinGroup", refusal("JoinGroup", states.UNKNOWN_CONSUMER, {}))
            for join in self._withdrawn(lambda waiting: waiting.consumer.consumer_id == name)
        ]
        self._prepare(states.LEFT)
        return actions + self._advance(now)

    def _commit(self, request: RequestId, body: Body) -> list[Action]:
        name, generation = body["consumer_id"], body["group_generation_id"]
        answer = NONE
        if name not in self._sessions.live:
            answer = states.UNKNOWN_CONSUMER
        elif self.state == states.REBALANCING:
            answer = (
                states.ILLEGAL_GENERATION
            )  # until they have their responses, no consumer may commit
        elif generation != self.record.generation:
            answer = states.ILLEGAL_GENERATION
        self._step("OffsetCommit", answer)
        response = refusal("OffsetCommit", answer, body)
        if answer != NONE:
            return [Answer(request, "OffsetCommit", response)]
        record = committed(self.record, body, self._topics, response)
        actions: list[Action] = []
        if record != self.record:
            self.record = record
            actions.append(self._write(self.record))
        return [*actions, Answer(request, "OffsetCommit", response)]

    def _advance(self, now: int) -> list[Action]:
        """Continue the rebalance if all awaited consumers have joined."""
        if self.state != states.PREPARE or self._awaited():
            return []
        self._step(states.ALL_JOINED)
        self._round = [join.identified(self.name, self._new_id) for join in self._waiting]
        self._waiting = []
        consumers = [join.consumer for join in self._round]
        strategies, actions = self._settings.strategies, list[Action]()
        try:
            self._next = decided(self.record, consumers, self._topics, strategies)
        except BrokenPromise as problem:
            # no owners: the members of this generation are refused when it is written
            self._next = decided(self.record, (), self._topics, strategies)
            text = f"{self.name}: strategy {consumers[0].strategy}: {problem}"
            actions.append(Log("ERROR", text))
        return [*actions, self._write(self._next)]

    def _write(self, record: GroupEntry) -> Write:
        write = Write(self.name, record.encode(), self.version, record.generation)
        self.version += 1
        return write
