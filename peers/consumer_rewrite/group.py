"""One group as its coordinator has it: from READY on, the steps of `REWRITE_COORDINATOR`.

Nothing here knows of sockets or of the clock. Times are ms of any clock that does not go back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from barnabas.peers.consumer_rewrite.actions import Log, Write
from barnabas.peers.consumer_rewrite.answers import (
    Answer,
    Asked,
    Body,
    committed,
    fetched,
    joined,
    refusal,
)
from barnabas.peers.consumer_rewrite.joining import decided, refused
from barnabas.peers.consumer_rewrite.record import Consumer, Record
from barnabas.peers.consumer_rewrite.settings import BrokerSettings
from barnabas.peers.consumer_rewrite.strategies import BrokenPromise
from barnabas.peers.consumer_rewrite.wire import CODES
from barnabas.peers.listener import Close
from barnabas.specs.drafts.rewrite_states import (
    ALL_JOINED,
    ANSWERED,
    CANCELLED,
    DEAD,
    DOWN,
    EMPTIED,
    ILLEGAL_GENERATION,
    JOINED,
    LEFT,
    NOT_COORDINATOR,
    PARTITIONS_CHANGED,
    PREPARE,
    READY,
    REBALANCING,
    RESIGNED,
    REWRITE_COORDINATOR,
    UNKNOWN,
    UNKNOWN_CONSUMER,
)
from barnabas.specs.groups.table import NONE

Action = Answer | Close | Write | Log


@dataclass
class _Member:
    """A consumer of the current generation. It is dead at its deadline, unless its JoinGroup waits."""

    consumer: Consumer
    deadline: int
    connection: int | None = None


@dataclass(frozen=True)
class _Join:
    """A JoinGroup that waits for its response."""

    asked: Asked
    consumer: Consumer
    """Its id is empty if the request had none."""


NAMED: Final = 200
"""Characters of a group's name that its consumers' ids begin with."""


class Group:
    """The state of one group at its coordinator. All methods but `state` return what is to be done."""

    def __init__(
        self,
        name: str,
        record: Record,
        version: int,
        *,
        settings: BrokerSettings,
        new_id: Callable[[], str],
        partitions: Mapping[str, int],
        now: int,
    ) -> None:
        self.name = name
        self.state = READY
        self.record = record
        self.version = version
        self._settings = settings
        self._new_id = new_id
        self._topics = partitions
        self._members = {
            one.consumer_id: _Member(one, now + one.session_timeout_ms) for one in record.consumers
        }
        self._lapsed: dict[str, _Member] = {}
        """Dead ones of whom the rest of the group has not heard for sure."""
        self._told: set[str] = set()
        """Who had IllegalGeneration in a heartbeat's response since the rebalance began."""
        self._cancelable = False
        """Whether nothing but dead consumers is the reason of the rebalance."""
        self._waiting: list[_Join] = []
        self._round: tuple[_Join, ...] = ()
        """Who gets an answer when the new generation is written."""
        self._next = record
        self._queued: list[tuple[Asked, str, Body]] = []
        """What came meanwhile and changes the membership."""

    @property
    def blank(self) -> bool:
        """Whether nothing is known of it that must be kept."""
        return self.version < 0 and self.state == READY and not self._members

    @property
    def wake(self) -> int | None:
        """When `tick` has something to do."""
        return min((self._members[one].deadline for one in self._awaited()), default=None)

    def handle(self, asked: Asked, api: str, body: Body, now: int) -> list[Action]:
        """A request for this group."""
        if self.state == REBALANCING and api in ("JoinGroup", "LeaveGroup"):
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
        """These are the topics now, with their numbers of partitions."""
        self._topics = topics
        if not self._members or self._wanted() == self.record.partitions:
            return []
        if self.state == REBALANCING:  # looked at again when the round is over
            self._step(PARTITIONS_CHANGED)
            return []
        self._prepare(PARTITIONS_CHANGED, cancelable=False)
        return self._advance(now)

    def tick(self, now: int) -> list[Action]:
        """Time has passed: who was not heard of for a session timeout is dead."""
        actions: list[Action] = []
        for name in [one for one in self._awaited() if self._members[one].deadline <= now]:
            member = self._lapsed[name] = self._members.pop(name)
            self._prepare(DEAD, cancelable=True)
            # without the id that it had, a consumer that joins is not to be told from a dead one
            waits = any(one.asked.connection == member.connection for one in self._waiting)
            if member.connection is not None and not waits:
                actions.append(Close(member.connection, f"no heartbeat of {name} in its session"))
        return actions + self._advance(now)

    def lost(self, connection: int, now: int) -> list[Action]:
        """A connection is closed: nobody would get the answer to a JoinGroup that came on it."""
        for member in (*self._members.values(), *self._lapsed.values()):
            if member.connection == connection:
                member.connection = None
        self._queued = [one for one in self._queued if one[0].connection != connection]
        for join in [one for one in self._waiting if one.asked.connection == connection]:
            self._waiting.remove(join)
            known = self._members.get(join.consumer.consumer_id)
            if known is not None:
                known.deadline = now + known.consumer.session_timeout_ms
        return []

    def written(self, now: int) -> list[Action]:
        """The entry of which the last `Write` spoke is in the registry."""
        if self.state != REBALANCING:
            return []
        self.record = self._next
        joins = {one.consumer.consumer_id: one.asked for one in self._round}
        self._members = {
            one.consumer_id: _Member(
                one, now + one.session_timeout_ms, joins[one.consumer_id].connection
            )
            for one in self.record.consumers
        }
        self._told = set()
        self._step(ANSWERED if self._members else EMPTIED)
        actions: list[Action] = [
            Answer(joins[one.consumer_id], "JoinGroup", joined(self.record.generation, one))
            for one in self.record.consumers
        ]
        # all of them or none: a generation without members is what a broken strategy leaves
        actions += [
            Answer(one.asked, "JoinGroup", refusal("JoinGroup", UNKNOWN, {}))
            for one in self._round
            if one.consumer.consumer_id not in self._members
        ]
        self._round = ()
        queued, self._queued = self._queued, []
        for request in queued:
            actions += self.handle(*request, now)
        # those who asked before the round was over take part in the next one with their id
        self._lapsed = {}
        return actions + self.partitions(self._topics, now)

    def resigned(self) -> list[Action]:
        """Somebody else coordinates this group: all that wait hear it."""
        self._step(RESIGNED)
        waiting: list[tuple[Asked, str, Body]] = [
            (one.asked, "JoinGroup", {}) for one in (*self._waiting, *self._round)
        ]
        return [
            Answer(asked, api, refusal(api, NOT_COORDINATOR, body))
            for asked, api, body in (*waiting, *self._queued)
        ]

    def _step(self, event: str, answer: str = NONE) -> None:
        following = REWRITE_COORDINATOR.step(self.state, event, answer)
        if following is None:
            raise AssertionError(f"{self.name}: {event} ({answer}) in state {self.state}")
        self.state = following

    def _prepare(self, event: str, *, cancelable: bool) -> None:
        if self.state == PREPARE:
            self._cancelable &= cancelable
        else:
            self._cancelable, self._told = cancelable, set()
        self._step(event)

    def _awaited(self) -> list[str]:
        """Consumers whose session goes on: all but those whose JoinGroup waits."""
        if self.state in (REBALANCING, DOWN):
            return []
        joined = {one.consumer.consumer_id for one in self._waiting}
        return [name for name in self._members if name not in joined]

    def _wanted(self) -> dict[str, int]:
        """The partitions that a decision would be about now."""
        topics = {topic for one in self._members.values() for topic in one.consumer.topics}
        return {topic: self._topics[topic] for topic in sorted(topics) if topic in self._topics}

    def _heartbeat(self, connection: int, body: Body, now: int) -> str:
        name = body["consumer_id"]
        if self.state == REBALANCING:
            known = any(one.consumer.consumer_id == name for one in self._round)
            return ILLEGAL_GENERATION if known or name in self._lapsed else UNKNOWN_CONSUMER
        member = self._members.get(name) or self._lapsed.get(name)
        if member is None:
            return UNKNOWN_CONSUMER
        if body["group_generation_id"] != self.record.generation:
            return ILLEGAL_GENERATION
        if self.state != PREPARE:
            member.deadline, member.connection = (
                now + member.consumer.session_timeout_ms,
                connection,
            )
            return NONE
        if name in self._lapsed:
            if self._told or not self._cancelable:
                return ILLEGAL_GENERATION
            self._members[name] = self._lapsed.pop(name)
            if not self._lapsed:  # it came back before anybody heard of the rebalance
                member.deadline = now + member.consumer.session_timeout_ms
                member.connection = connection
                self._step(CANCELLED)
                return NONE
        if name not in self._told:
            self._told.add(name)
            member.deadline, member.connection = (
                now + member.consumer.session_timeout_ms,
                connection,
            )
        return ILLEGAL_GENERATION

    def _join(self, asked: Asked, body: Body, now: int) -> list[Action]:
        error = self._refuses(body)
        if error is not None:
            self._step("JoinGroup", error)
            return [Answer(asked, "JoinGroup", refusal("JoinGroup", error, body))]
        name = body["consumer_id"]
        actions: list[Action] = []
        for before in [one for one in self._waiting if name and one.consumer.consumer_id == name]:
            self._waiting.remove(before)
            actions.append(
                Close(before.asked.connection, f"{name} has joined on another connection")
            )
        topics = frozenset(body["topics"])
        timeout, strategy = body["session_timeout"], body["partition_assignment_strategy"]
        consumer = Consumer(name, timeout, topics, strategy, host=asked.host)
        self._waiting.append(_Join(asked, consumer))
        self._prepare(JOINED, cancelable=False)
        return actions + self._advance(now)

    def _refuses(self, body: Body) -> str | None:
        """Why a JoinGroup is refused, None: it is accepted."""
        name = body["consumer_id"]
        waiting = [one.consumer for one in self._waiting]
        known = {one.consumer_id for one in waiting} | self._members.keys() | self._lapsed.keys()
        others = [one for one in waiting if not name or one.consumer_id != name]
        others += [self._members[one].consumer for one in self._awaited() if one != name]
        return refused(body, self._settings, known, others)

    def _leave(self, asked: Asked, body: Body, now: int) -> list[Action]:
        name = body["consumer_id"]
        known = name in self._members or name in self._lapsed
        answer = NONE if known else UNKNOWN_CONSUMER
        self._step("LeaveGroup", answer)
        actions: list[Action] = [Answer(asked, "LeaveGroup", {"error_code": CODES[answer]})]
        self._lapsed.pop(name, None)
        if self._members.pop(name, None) is None:
            return actions
        for join in [one for one in self._waiting if one.consumer.consumer_id == name]:
            self._waiting.remove(join)
            body = refusal("JoinGroup", UNKNOWN_CONSUMER, {})
            actions.append(Answer(join.asked, "JoinGroup", body))
        self._prepare(LEFT, cancelable=False)
        return actions + self._advance(now)

    def _commit(self, asked: Asked, body: Body) -> list[Action]:
        name, generation = body["consumer_id"], body["group_generation_id"]
        answer = NONE
        if name not in self._members:
            answer = UNKNOWN_CONSUMER
        elif self.state == REBALANCING:
            answer = ILLEGAL_GENERATION  # until they have their responses, nobody is to commit
        elif generation != self.record.generation:
            answer = ILLEGAL_GENERATION
        self._step("OffsetCommit", answer)
        response = refusal("OffsetCommit", answer, body)
        if answer != NONE:
            return [Answer(asked, "OffsetCommit", response)]
        offsets = committed(self.record.offsets, body, self._topics, response)
        actions: list[Action] = []
        if offsets != self.record.offsets:
            self.record = replace(self.record, offsets=offsets)
            actions.append(self._write(self.record))
        return [*actions, Answer(asked, "OffsetCommit", response)]

    def _advance(self, now: int) -> list[Action]:
        """Go on with the rebalance if all have joined that are waited for."""
        if self.state != PREPARE or self._awaited():
            return []
        self._step(ALL_JOINED)
        self._round = tuple(
            replace(
                one,
                consumer=replace(one.consumer, consumer_id=one.consumer.consumer_id or self._id()),
            )
            for one in self._waiting
        )
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

    def _id(self) -> str:
        """A consumer's id. The name of a group may be as long as a string can be, an id with it not."""
        return f"{self.name[:NAMED]}-{self._new_id()}"

    def _write(self, record: Record) -> Write:
        write = Write(self.name, record.encode(), self.version, record.generation)
        self.version += 1
        return write
