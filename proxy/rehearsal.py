"""A scenario run over a capture, on the capture's own clock and without a network.

Every message of the capture meets the rules as it did when it arrived: the same connections, clients,
brokers and times. What they decide depends on nothing else, so the same scenario and capture give
the same decisions, and a live run's own capture gives those that it made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from captures.conversation import Event
from captures.events import Chunk, Closed, Opened
from captures.exchange import iso
from captures.frames import SeenFrame, frames
from captures.tally import Tally
from proxy.actions import Actions, Cut
from proxy.connection import Connection
from proxy.crossing import Crossing
from proxy.plan import Plan
from proxy.rules import Rules
from proxy.scenario_model import Scenario
from proxy.state import State
from proxy.totals import Totals
from specs.addresses import Kind
from specs.frames import Direction

Decision = tuple[tuple[str, ...], tuple[str, ...]]
"""Names of the rules that fired on a message, and what they wanted done, in words."""

NONE: Final[Decision] = ((), ())


class Rehearsed(NamedTuple):
    """A message that arrived, what the rules decide about it, and what the capture says they did."""

    frame: SeenFrame
    decision: Decision
    recorded: Decision

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
        }


@dataclass(frozen=True, slots=True)
class Reload:
    """From this time (ns since the epoch) on another scenario holds."""

    ts: int
    scenario: Scenario


class Rehearsal:
    """The connections of a capture under a scenario."""

    def __init__(self, scenario: Scenario | None, began: int | None = None) -> None:
        """`began` is when the scenario was loaded (ns since the epoch); if None, with the first event."""
        self.rules = Rules(scenario)
        self.rules.began = began
        self._plan = Plan(self.rules)
        self._crossing = Crossing()
        self._tally = Tally()
        self._totals = Totals()
        self._connections: dict[int, Connection] = {}
        self._decisions: dict[tuple[int, Direction, int], Decision] = {}

    def run(self, events: Iterable[Event | Reload]) -> Iterator[Rehearsed]:
        """Every message that arrived, in the order in which they were complete."""
        for frame in frames(self._watched(events)):
            if frame.flow == "arrived":
                place = (frame.connection, frame.direction, frame.ordinal)
                yield Rehearsed(
                    frame, self._decisions.pop(place, NONE), _decision(frame.facts) or NONE
                )

    def _watched(self, events: Iterable[Event | Reload]) -> Iterator[Event]:
        """The events, each after it has met the rules."""
        for event in events:
            if isinstance(event, Reload):
                self._reload(event)
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
                    if connection is not None:
                        connection.closed(ts)
                case Chunk(flow="arrived") if event.connection in self._connections:
                    connection = self._connections[event.connection]
                    data = memoryview(event.data)
                    self._note(connection, connection.receive(event.direction, data, ts))
                    self._wake_others(ts)
            yield event

    def _open(self, event: Opened) -> Connection:
        broker = event.comment.get("broker")
        return Connection(
            event.connection,
            client=str(event.comment.get("client", event.client)),
            broker=broker if isinstance(broker, int) else None,
            plan=self._plan,
            crossing=self._crossing,
            tally=self._tally,
            totals=self._totals,
            resolve=_as_it_is,
        )

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
            self._note(first, first.tick(now))
            self._wake_others(now)

    def _wake_others(self, now: int) -> None:
        """Frames elsewhere have become due by what has just passed."""
        while self._crossing.ready:
            state: State = self._crossing.ready.pop()
            connection = self._connections.get(state.number)
            if connection is not None:
                self._note(connection, connection.tick(now))

    def _reload(self, reload: Reload) -> None:
        self._pass_time(reload.ts)
        self.rules = Rules(reload.scenario, self.rules)
        self.rules.began = reload.ts
        self._plan = Plan(self.rules)
        for connection in self._connections.values():
            self._note(connection, connection.replace(self._plan, reload.ts))

    def _note(self, connection: Connection, actions: Actions) -> None:
        for action in actions:
            if isinstance(action, Cut):
                decision = _decision(action.comment)
                if decision is not None:
                    place = (connection.state.number, action.direction, action.comment["frame"])
                    self._decisions[place] = decision


def _decision(comment: dict[str, Any]) -> Decision | None:
    """What a comment of the capture says that rules decided."""
    rules = comment.get("rules")
    if not rules:
        return None
    return tuple(map(str, rules)), tuple(map(str, comment.get("what", ())))


def _as_it_is(kind: Kind, node: int, host: str, port: int) -> None:
    """Addresses stay: there is no listener, and decisions do not depend on where it would be."""
