"""One group at its coordinator: from READY on, the steps of `REWRITE_COORDINATOR`.

Nothing here knows of sockets or of the clock. Times are ms of any clock that does not go back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from barnabas.designs.brokers.listener import Close, Log
from barnabas.designs.consumer_rewrite import states
from barnabas.designs.consumer_rewrite.peers.actions import Write
from barnabas.designs.consumer_rewrite.peers.answers import (
    Answer,
    Asked,
    Body,
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
        """Who gets an answer when the new generation is written."""
        self._next = record
        self._queued: list[tuple[Asked, str, Body]] = []
        """What came meanwhile and changes the membership."""

    @property
    def blank(self) -> bool:
        """Return whether the group has nothing that must be kept."""
        return self.version < 0 and self.state == states.READY and not self._sessions.live

    @property
    def wake(self) -> int | None:
        """Return when to call `tick`, in ms; None: there is nothing to do."""
        return min((one.deadline for one in self._awaited().values()), default=None)

    def handle(self, asked: Asked, api: str, body: Body, now: int) -> list[Action]:
        """Handle a request for this group."""
        if self.state == states.REBALANCING and api in ("JoinGroup", "LeaveGroup"):
            self._queued.append((asked, api, body))
            return []
        if api == "JoinGroup":
            return self._join(asked, body, now)
        if api == "LeaveGroup":
            return self._leave(asked, body, now)
        if api == "OffsetCommit":
            return self._commit(asked, body)
        if api == "OffsetFetch":
            self._step("OffsetFetch")
            return [Answer(asked, api, fetched(self.record, body))]
        answer = self._heartbeat(asked.connection, body, now)
        self._step("Heartbeat", answer)
        return [Answer(asked, api, {"error_code": CODES[answer]})]

    def partitions(self, topics: Mapping[str, int], now: int) -> list[Action]:
        """Take note of all topics with their numbers of partitions."""
        self._topics = topics
        consumers = [one.consumer for one in self._sessions.live.values()]
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
            # without the id that it had, a consumer that joins is not to be told from a dead one
            waits = any(one.asked.connection == session.connection for one in self._waiting)
            if session.connection is not None and not waits:
                actions.append(Close(session.connection, f"no heartbeat of {name} in its session"))
        return actions + self._advance(now)

    def lost(self, connection: int, now: int) -> None:
        """Drop the JoinGroups of a closed connection."""
        self._sessions.lost(connection)
        self._queued = [one for one in self._queued if one[0].connection != connection]
        for join in self._withdrawn(lambda one: one.asked.connection == connection):
            known = self._sessions.live.get(join.consumer.consumer_id)
            if known is not None:
                known.deadline = now + known.consumer.session_timeout_ms

    def written(self, now: int) -> list[Action]:
        """Send the responses of a round, whose entry is in the registry."""
        if self.state != states.REBALANCING:
            return []
        self.record = self._next
        joins = {one.consumer.consumer_id: one.asked for one in self._round}
        lapsed, self._sessions = self._sessions.lapsed, Sessions(self.record.consumers, now)
        for name, session in self._sessions.live.items():
            session.connection = joins[name].connection
        self._step(states.ANSWERED if self._sessions.live else states.EMPTIED)
        actions: list[Action] = [
            Answer(joins[one.consumer_id], "JoinGroup", joined(self.record.generation, one))
            for one in self.record.consumers
        ]
        # all of them or none: a generation without members is what a broken strategy leaves
        actions += [
            Answer(one.asked, "JoinGroup", refusal("JoinGroup", states.UNKNOWN, {}))
            for one in self._round
            if one.consumer.consumer_id not in self._sessions.live
        ]
        self._round = []
        queued, self._queued = self._queued, []
        # dead ones that asked before the round was over take part in the next one with their id
        self._sessions.lapsed = lapsed
        for request in queued:
            actions += self.handle(*request, now)
        self._sessions.lapsed = {}
        return actions + self.partitions(self._topics, now)

    def resigned(self) -> list[Action]:
        """Refuse all requests that wait: another broker coordinates the group."""
        self._step(states.RESIGNED)
        waiting = [(one.asked, "JoinGroup", Body()) for one in (*self._waiting, *self._round)]
        return [
            Answer(asked, api, refusal(api, states.NOT_COORDINATOR, body))
            for asked, api, body in (*waiting, *self._queued)
        ]

    def _step(self, event: str, answer: str = NONE) -> None:
        self.state = states.REWRITE_COORDINATOR.advance(self.state, event, answer)

    def _prepare(self, event: str) -> None:
        """There is a reason for a rebalance."""
        self._sessions.rebalance(
            begins=self.state != states.PREPARE, cancelable=event == states.DEAD
        )
        self._step(event)

    def _awaited(self) -> dict[str, Session]:
        """Sessions that go on: all but those whose JoinGroup waits."""
        if self.state in (states.REBALANCING, states.DOWN):
            return {}
        joined = {one.consumer.consumer_id for one in self._waiting}
        return {name: one for name, one in self._sessions.live.items() if name not in joined}

    def _withdrawn(self, which: Callable[[Join], object]) -> list[Join]:
        """Those of the JoinGroups that waited, and wait no longer."""
        found = [one for one in self._waiting if which(one)]
        self._waiting = [one for one in self._waiting if not which(one)]
        return found

    def _heartbeat(self, connection: int, body: Body, now: int) -> str:
        name = body["consumer_id"]
        if self.state == states.REBALANCING:
            known = any(one.consumer.consumer_id == name for one in self._round)
            known |= name in self._sessions.lapsed
            return states.ILLEGAL_GENERATION if known else states.UNKNOWN_CONSUMER
        if name not in self._sessions:
            return states.UNKNOWN_CONSUMER
        if body["group_generation_id"] != self.record.generation:
            return states.ILLEGAL_GENERATION
        if self.state != states.PREPARE:
            self._sessions.live[name].heard(connection, now)
            return NONE
        if self._sessions.cancels(name, connection, now):
            self._step(states.CANCELLED)
            return NONE
        return states.ILLEGAL_GENERATION

    def _join(self, asked: Asked, body: Body, now: int) -> list[Action]:
        name = body["consumer_id"]
        waiting = [one.consumer for one in self._waiting]
        known = name in self._sessions or any(one.consumer_id == name for one in waiting)
        others = [*waiting, *(one.consumer for one in self._awaited().values())]
        others = [one for one in others if not name or one.consumer_id != name]
        error = refused(body, self._settings, known, others)
        if error is not None:
            self._step("JoinGroup", error)
            return [Answer(asked, "JoinGroup", refusal("JoinGroup", error, body))]
        actions: list[Action] = [
            Close(before.asked.connection, f"{name} has joined on another connection")
            for before in self._withdrawn(lambda one: name and one.consumer.consumer_id == name)
        ]
        topics = frozenset(body["topics"])
        timeout, strategy = body["session_timeout"], body["partition_assignment_strategy"]
        consumer = Consumer(name, timeout, topics, strategy, host=asked.host)
        self._waiting.append(Join(asked, consumer))
        self._prepare(states.JOINED)
        return actions + self._advance(now)

    def _leave(self, asked: Asked, body: Body, now: int) -> list[Action]:
        name = body["consumer_id"]
        answer = NONE if name in self._sessions else states.UNKNOWN_CONSUMER
        self._step("LeaveGroup", answer)
        actions: list[Action] = [Answer(asked, "LeaveGroup", {"error_code": CODES[answer]})]
        self._sessions.lapsed.pop(name, None)
        if self._sessions.live.pop(name, None) is None:
            return actions
        actions += [
            Answer(join.asked, "JoinGroup", refusal("JoinGroup", states.UNKNOWN_CONSUMER, {}))
            for join in self._withdrawn(lambda one: one.consumer.consumer_id == name)
        ]
        self._prepare(states.LEFT)
        return actions + self._advance(now)

    def _commit(self, asked: Asked, body: Body) -> list[Action]:
        name, generation = body["consumer_id"], body["group_generation_id"]
        answer = NONE
        if name not in self._sessions.live:
            answer = states.UNKNOWN_CONSUMER
        elif self.state == states.REBALANCING:
            answer = (
                states.ILLEGAL_GENERATION
            )  # until they have their responses, nobody is to commit
        elif generation != self.record.generation:
            answer = states.ILLEGAL_GENERATION
        self._step("OffsetCommit", answer)
        response = refusal("OffsetCommit", answer, body)
        if answer != NONE:
            return [Answer(asked, "OffsetCommit", response)]
        record = committed(self.record, body, self._topics, response)
        actions: list[Action] = []
        if record != self.record:
            self.record = record
            actions.append(self._write(self.record))
        return [*actions, Answer(asked, "OffsetCommit", response)]

    def _advance(self, now: int) -> list[Action]:
        """Go on with the rebalance if all have joined that are waited for."""
        if self.state != states.PREPARE or self._awaited():
            return []
        self._step(states.ALL_JOINED)
        self._round = [one.identified(self.name, self._new_id) for one in self._waiting]
        self._waiting = []
        consumers = [one.consumer for one in self._round]
        strategies, actions = self._settings.strategies, list[Action]()
        try:
            self._next = decided(self.record, consumers, self._topics, strategies)
        except BrokenPromise as problem:
            # nobody owns anything: who would be in this generation is refused when it is written
            self._next = decided(self.record, (), self._topics, strategies)
            text = f"{self.name}: strategy {consumers[0].strategy}: {problem}"
            actions.append(Log("ERROR", text))
        return [*actions, self._write(self._next)]

    def _write(self, record: GroupEntry) -> Write:
        write = Write(self.name, record.encode(), self.version, record.generation)
        self.version += 1
        return write
