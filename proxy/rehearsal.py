"""A scenario run over a capture, on the capture's own clock and without a network.

Every message of the capture meets the rules as it did when it arrived: the same connections, clients,
brokers and times. What they decide depends on nothing else, so the same scenario and capture give
the same decisions, and a live run's own capture gives those that it made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.columns import iso
from barnabas.captures.kafka.context.id_names import names_by_id
from barnabas.captures.kafka.frames import SeenFrame, frames
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
from barnabas.proxy.rules.by_hand import DECISIONS
from barnabas.proxy.rules.plan import Plan
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import ScenarioError, loads
from barnabas.proxy.scenario.model import Scenario
from barnabas.specs.frames import Direction

Decision = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of the rules that fired on a message, and what they wanted done, in words."""

NONE: Final[Decision] = ((), ())

_PLANS: Final = 64
"""Scenarios that may still hold in some process."""


class Rehearsed(NamedTuple):
    """A message that arrived, what the rules decide about it, and what the capture says they did."""

    frame: SeenFrame
    decision: Decision
    recorded: Decision
    depends: tuple[str, ...] = ()
    """Which of the rules depend on other connections: here the two may differ."""

    def row(self) -> dict[str, Any]:
        """In JSON form."""
        rules, what = self.decision
        seen = self.frame
        return {
            "ts": iso(seen.ts),
            "connection": seen.connection,
            "client_id": seen.client_id,
            "direction": seen.direction,
            "frame": seen.ordinal,
            "api": seen.api,
            "version": seen.version,
            "correlation_id": seen.correlation_id,
            "rules": list(rules),
            "what": list(what),
            "depends": list(self.depends),
        }


@dataclass(frozen=True, slots=True)
class Reload:
    """From this time (ns since the epoch) on another scenario holds."""

    ts: int
    scenario: Scenario


class Rehearsal:
    """The connections of a capture under a scenario."""

    def __init__(
        self, scenario: Scenario | None, began: int | None = None, reading: Values | None = None
    ) -> None:
        """`began` is when the scenario was loaded (ns since the epoch); if None, with the first event.
        reading: how rules read keys and values of records."""
        self.rules = Rules(scenario)
        self.rules.began = began
        self._plan = Plan(self.rules)
        self._plans: dict[int | None, Plan] = {began: self._plan}
        """By when the scenario was loaded."""
        self._told: set[int] = set()
        """Connections in processes of their own, which say when a scenario holds for them."""
        self._shared = SharedState(reading=reading)
        self._tally = ApiStats()
        self._totals = Totals()
        self._listeners: dict[tuple[Any, Any], Address] = {}
        self._topology = Topology(self._listen)
        self._connections: dict[int, Connection] = {}
        self._decisions: dict[tuple[int, Direction, int], tuple[Decision, tuple[str, ...]]] = {}

    def run(self, events: Iterable[Event | Reload | Note]) -> Iterator[Rehearsed]:
        """Every message that arrived, in the order in which they were complete.

        Notes tell where the proxy listened and what it was told to do meanwhile; without the former
        addresses stay as brokers have them.
        """
        for frame in frames(self._watched(events)):
            if frame.flow == "arrived":
                place = (frame.connection, frame.direction, frame.ordinal)
                decision, depends = self._decisions.pop(place, (NONE, ()))
                recorded = _decision(frame.facts) or NONE
                depends = tuple(dict.fromkeys((*depends, *_depends(frame.facts))))
                yield Rehearsed(frame, decision, recorded, depends)

    def _watched(self, events: Iterable[Event | Reload | Note]) -> Iterator[Event]:
        """The events, each after it has met the rules."""
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
        """Wake connections when they want to be, up to a time."""
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
        """Frames elsewhere have become due by what has just passed."""
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
        """What the capture says of the whole proxy."""
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
                for found in self.rules.rules:
                    found.forced += found.name == rule
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
        """Do to a message what somebody decided; what is impossible here was impossible there, too."""
        number = id.partition(".")[0]
        for connection in self._connections.values():
            if str(connection.state.number) != number:
                continue
            with contextlib.suppress(ScenarioError, LookupError, Unable):
                wanted = loads(rule, faults=DECISIONS).rules[0] if rule else None
                decision = connection.breakpoints.weigh(id, wanted)
                self._record(connection, connection.decide(id, decision, ts))

    def _record(self, connection: Connection, actions: Actions) -> None:
        for action in actions:
            if isinstance(action, Cut):
                decision = _decision(action.comment)
                if decision is not None:
                    place = (connection.state.number, action.direction, action.comment["frame"])
                    self._decisions[place] = decision, _depends(action.comment)


def _decision(comment: dict[str, Any]) -> Decision | None:
    """What a comment of the capture says that rules decided."""
    rules = comment.get("rules")
    if not rules:
        return None
    return tuple(map(str, rules)), tuple(map(str, comment.get("what", ())))


def _depends(comment: dict[str, Any]) -> tuple[str, ...]:
    """Rules that a comment says to depend on other connections."""
    return tuple(map(str, comment.get("depends", ())))
