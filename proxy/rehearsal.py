"""Runs a scenario over a capture, on the capture's clock and without a network.

Every message of the capture meets the rules as it did when it arrived: the same connections, clients, brokers
and times. Decisions depend on nothing else. The same scenario and capture therefore give the same decisions,
and a live run's own capture gives the decisions of that run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.context.id_names import names_by_id
from barnabas.captures.kafka.frames import ListedFrame, frames
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.tcp.events import Chunk, Closed, Event, Note, Opened
from barnabas.captures.values.value import Values
from barnabas.proxy.connection.actions import Actions, Cut
from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.connection.shared_state import SharedState
from barnabas.proxy.connection.state import State
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import Address, Node, Topology
from barnabas.proxy.matching.message import Unable
from barnabas.proxy.rules.manual_decision import DECISIONS
from barnabas.proxy.rules.plan import Plan
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.frames import Direction

Decision = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of the rules that fired on a message, and their effects as text."""

NONE: Final[Decision] = ((), ())

_PLANS: Final = 64
"""The number of latest scenarios that may still be in force in some process."""


class RehearsedMessage(NamedTuple):
    """A message that arrived, the decision of the rules, and the decision that the capture records."""

    frame: ListedFrame
    decision: Decision
    recorded: Decision
    depends: tuple[str, ...] = ()
    """The rules that depend on other connections, whose live decisions may differ."""

    def row(self) -> dict[str, Any]:
        """Return the message and its decision in JSON form."""
        rules, texts = self.decision
        frame = self.frame
        return {
            "ts": iso(frame.ts),
            "connection": frame.connection,
            "client_id": frame.client_id,
            "direction": frame.direction,
            "frame": frame.ordinal,
            "api": frame.api,
            "version": frame.version,
            "correlation_id": frame.correlation_id,
            "rules": list(rules),
            "what": list(texts),
            "depends": list(self.depends),
        }


@dataclass(frozen=True, slots=True)
class Reload:
    """The event that another scenario comes into force at this time (ns since the epoch)."""

    ts: int
    scenario: Scenario


class Rehearsal:
    """The connections of a capture under a scenario."""

    def __init__(
        self, scenario: Scenario | None, began: int | None = None, reading: Values | None = None
    ) -> None:
        """Start with a scenario and no connections.

        Args:
            scenario: The scenario.
            began: When it was loaded (ns since the epoch); None: with the first event.
            reading: How rules decode keys and values of records.
        """
        self.rules = Rules(scenario)
        self.rules.began = began
        self._plan = Plan(self.rules)
        self._plans: dict[int | None, Plan] = {began: self._plan}
        """The plans by the time at which their scenario was loaded."""
        self._told: set[int] = set()
        """The connections of workers, whose notes report when a scenario is in force for them."""
        self._shared = SharedState(reading=reading)
        self._tally = ApiStats()
        self._totals = Totals()
        self._listeners: dict[tuple[Any, Any], Address] = {}
        self._topology = Topology(self._listen)
        self._connections: dict[int, Connection] = {}
        self._decisions: dict[tuple[int, Direction, int], tuple[Decision, tuple[str, ...]]] = {}

    def run(self, events: Iterable[Event | Reload | Note]) -> Iterator[RehearsedMessage]:
        """Yield every message that arrived, in the order in which they were complete.

        Notes in the capture report where the proxy listened and what it was told to do. Without the notes of
        listeners, addresses stay those of the brokers.
        """
        for frame in frames(self._watched(events)):
            if frame.flow == "arrived":
                position = (frame.connection, frame.direction, frame.ordinal)
                decision, depends = self._decisions.pop(position, (NONE, ()))
                recorded = _decision(frame.facts) or NONE
                depends = tuple(dict.fromkeys((*depends, *_depends(frame.facts))))
                yield RehearsedMessage(frame, decision, recorded, depends)

    def _watched(self, events: Iterable[Event | Reload | Note]) -> Iterator[Event]:
        """Yield the events, each after the rules have seen it."""
        for event in events:
            if isinstance(event, Reload):
                self._reload(event)
                continue
            if isinstance(event, Note):
                self._apply(event)
                continue
            ts = event.ts_ns
            if self.rules.began is None:
                self.rules.began = ts
            self._pass_time(ts)
            match event:
                case Opened():
                    self._connections[event.connection] = self._open(event)
                case Closed():
                    connection = self._connections.pop(event.connection, None)
                    self._told.discard(event.connection)
                    if connection is not None:
                        connection.closed(ts)
                        self._wake_others(ts)
                case Chunk(flow="arrived") if event.connection in self._connections:
                    connection = self._connections[event.connection]
                    data = memoryview(event.data)
                    self._record(connection, connection.receive(event.direction, data, ts))
                    self._wake_others(ts)
            yield event

    def _open(self, event: Opened) -> Connection:
        broker, plan = event.comment.get("broker"), self._plan
        if isinstance(began := event.comment.get("scenario"), int):
            self._told.add(event.connection)
            plan = self._plans.get(began, plan)
        reached_at = event.server.rpartition(":")[0].strip("[]")
        state = State(
            number=event.connection,
            client=str(event.comment.get("client", event.client)),
            broker=broker if isinstance(broker, int) else None,
            controller=event.comment.get("kind") == "controller",
            plan=plan,
            shared=self._shared,
            tally=self._tally,
            totals=self._totals,
            resolve=self._topology.resolver(reached_at),
            find=self._topology.finder(reached_at),
            rehearses=True,  # requests that a capture does not have may be answered in it
        )
        return Connection(state)

    def _listen(self, node: Node) -> Address:
        return self._listeners.get((node.kind, node.id), node.upstream)

    def _pass_time(self, until: int) -> None:
        """Wake the connections that are due up to a time."""
        while True:
            due = [
                connection
                for connection in self._connections.values()
                if connection.wake is not None and connection.wake <= until
            ]
            if not due:
                return
            first = min(due, key=lambda connection: connection.wake or 0)
            now = first.wake or 0
            self._record(first, first.tick(now))
            self._wake_others(now)

    def _wake_others(self, now: int) -> None:
        """Wake the connections whose frames have become due by what has just passed."""
        while self._shared.ready:
            connection = self._connections.get(self._shared.ready.pop())
            if connection is not None:
                self._record(connection, connection.tick(now))

    def _reload(self, reload: Reload) -> None:
        self._pass_time(reload.ts)
        self.rules = Rules(reload.scenario, self.rules)
        self.rules.began = reload.ts
        self._plan = self._plans[reload.ts] = Plan(self.rules)
        while len(self._plans) > _PLANS:
            del self._plans[next(iter(self._plans))]
        self._replace(self._connections.keys() - self._told, self._plan, reload.ts)

    def _replace(self, numbers: Iterable[int], plan: Plan, ts: int) -> None:
        for number in numbers:
            if (connection := self._connections.get(number)) is not None:
                self._record(connection, connection.replace(plan, ts))

    def _apply(self, note: Note) -> None:
        """Apply a note of the capture about the whole proxy."""
        match note.comment:
            case {"barnabas": "listener", "host": str(host), "port": int(port), **node}:
                self._listeners[node.get("kind"), node.get("node")] = host, port
            case {"barnabas": "topics", "names": names}:
                self._shared.topics.update(names_by_id(names))
            case {"barnabas": "adopted", "scenario": int(began), "connections": [*numbers]}:
                self._pass_time(note.ts_ns)
                open_ = [number for number in numbers if isinstance(number, int)]
                self._replace(open_, self._plans.get(began, self._plan), note.ts_ns)
            case {"barnabas": "fire", "rule": str(rule)}:
                for candidate in self.rules.rules:
                    candidate.forced += candidate.name == rule
            case {"barnabas": "release", "rule": str(rule)}:
                self._pass_time(note.ts_ns)
                for connection in self._connections.values():
                    self._record(connection, connection.release(rule, note.ts_ns))
                self._wake_others(note.ts_ns)
            case {"barnabas": "decide", "message": str(id), "rule": str(rule)}:
                self._pass_time(note.ts_ns)
                self._decide(id, rule, note.ts_ns)
                self._wake_others(note.ts_ns)

    def _decide(self, id: str, rule: str, ts: int) -> None:
        """Apply a person's decision to a message; if it is impossible here, it was impossible live, too."""
        number = id.partition(".")[0]
        for connection in self._connections.values():
            if str(connection.state.number) != number:
                continue
            with contextlib.suppress(ScenarioError, LookupError, Unable):
                config = loads(rule, faults=DECISIONS).rules[0] if rule else None
                decision = connection.breakpoints.decision_by(id, config)
                self._record(connection, connection.decide(id, decision, ts))

    def _record(self, connection: Connection, actions: Actions) -> None:
        for action in actions:
            if isinstance(action, Cut):
                decision = _decision(action.comment)
                if decision is not None:
                    position = (connection.state.number, action.direction, action.comment["frame"])
                    self._decisions[position] = decision, _depends(action.comment)


def _decision(comment: dict[str, Any]) -> Decision | None:
    """Return the decision that a comment of the capture records."""
    rules = comment.get("rules")
    if not rules:
        return None
    return tuple(map(str, rules)), tuple(map(str, comment.get("what", ())))


def _depends(comment: dict[str, Any]) -> tuple[str, ...]:
    """Return the rules that depend on other connections, according to a comment."""
    return tuple(map(str, comment.get("depends", ())))
