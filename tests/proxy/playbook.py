"""A stage for playbooks: one or more connections on a virtual clock, without sockets."""

from __future__ import annotations

import struct
from typing import Any

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.proxy.connection.actions import (
    PASS,
    Abort,
    Actions,
    Cut,
    Departure,
    Done,
    Finish,
    Forward,
    Hide,
    Say,
    Send,
)
from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.connection.shared_state import SharedState
from barnabas.proxy.connection.state import Limits, State
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.rules.plan import Plan
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.model import RuleConfig
from barnabas.specs.broker_addresses import NodeKind
from barnabas.specs.frames import Direction
from tests.proxy.frames import Chunks, whole

MS = 1_000_000
START = 1_700_000_000_000_000_000

HEARTBEATS = "{api: Heartbeat, direction: request}"
"""What a rule is about, if a test gives nothing else."""


def one_rule(do: str, match: str = HEARTBEATS, more: str = "when: {}") -> str:
    """Return a scenario of one rule, `r`; `more` has its other settings."""
    return f"version: 1\nseed: 7\nrules:\n- {{name: r, match: {match}, {more}, do: {do}}}\n"


def ruled(do: str, match: str = HEARTBEATS, more: str = "when: {}", **options: Any) -> Actor:
    """Return a connection under one rule, `r`."""
    return Stage(one_rule(do, match, more), **options).actor()


class Stage:
    """The state that the connections of one proxy share."""

    def __init__(
        self,
        scenario: str = "",
        *,
        faults: tuple[Fault, ...] = FAULTS,
        observed: bool = True,
        **limits: int,
    ) -> None:
        self.faults = faults
        self.rules = Rules(loads(scenario, faults=faults) if scenario else None)
        self.plan = Plan(self.rules)
        self.shared = SharedState()
        self.tally = ApiStats()
        self.totals = Totals()
        self.observed = observed
        self.limits = Limits(**limits)
        self.now = START
        self.actors: list[Actor] = []
        self.known: set[int] = set()

    def actor(self, broker: int | None = 1) -> Actor:
        """Return a new connection."""
        actor = Actor(self, len(self.actors) + 1, broker)
        self.actors.append(actor)
        return actor

    def wait(self, ms: float) -> None:
        """Let time pass, waking connections exactly when they want to be."""
        until = self.now + int(ms * MS)
        while True:
            wakes = [a.connection.wake for a in self.actors if a.connection.wake is not None]
            due = min(wakes, default=None)
            if due is None or due > until:
                break
            self.now = max(self.now, due)
            for actor in self.actors:
                wake = actor.connection.wake
                if wake is not None and wake <= self.now:
                    actor.perform(actor.connection.tick(self.now))
                    self.wake_ready()
        self.now = until

    def replace(self, scenario: str) -> None:
        """Go on under another scenario, as `barnabas.proxy.network.server.Proxy.replace` does."""
        self.rules = Rules(loads(scenario, faults=self.faults) if scenario else None, self.rules)
        self.plan = Plan(self.rules)
        for actor in self.actors:
            actor.perform(actor.connection.replace(self.plan, self.now))
            self.wake_ready()

    def release(self, rule: str) -> None:
        """Let go what a rule holds, as `barnabas.proxy.network.server.Proxy.release` does."""
        for actor in self.actors:
            actor.perform(actor.connection.release(rule, self.now))
            self.wake_ready()

    def decide(self, message: str, do: Any = None) -> tuple[str, ...]:
        """Decide about a waiting message as `proxy.control.local_target` does."""
        rule = None if do is None else RuleConfig.model_validate({"name": "by hand", "do": do})
        for actor in self.actors:
            if actor.connection.state.number == int(message.partition(".")[0]):
                decision = actor.connection.breakpoints.decision_by(message, rule)
                actor.perform(actor.connection.decide(message, decision, self.now))
                self.wake_ready()
                return decision.text
        raise LookupError(message)

    def observe(self, wanted: bool) -> None:
        """Whether exchanges are reported from now on, as `proxy.network.server.Proxy.observe` does."""
        self.observed = wanted
        for actor in self.actors:
            actor.connection.state.observed = wanted
            actor.perform(actor.connection.tick(self.now))

    def wake_ready(self) -> None:
        """Frames elsewhere have become due by what has just passed."""
        while self.shared.ready:
            number = self.shared.ready.pop()
            for actor in self.actors:
                if actor.connection.state.number == number:
                    actor.perform(actor.connection.tick(self.now))

    def resolve(self, kind: NodeKind, node: int, host: str, port: int) -> tuple[str, int]:
        """Return the proxy's listener for a node."""
        self.known.add(node)
        return "proxy", 10_000 + node % 1000 + (1000 if kind == "controller" else 0)

    def find(self, node: int) -> tuple[str, int] | None:
        """Return the proxy's listener for a node that was met before."""
        return self.resolve("broker", node, "", 0) if node in self.known else None


class Actor:
    """One connection, and what came out of it with the time in ms since the start."""

    def __init__(self, stage: Stage, number: int, broker: int | None) -> None:
        self.stage = stage
        state = State(
            number=number,
            client=f"client:{number}",
            broker=broker,
            plan=stage.plan,
            shared=stage.shared,
            tally=stage.tally,
            totals=stage.totals,
            resolve=stage.resolve,
            find=stage.find,
            observed=stage.observed,
            limits=stage.limits,
        )
        self.connection = Connection(state)
        self.sent: dict[Direction, bytearray] = {"request": bytearray(), "response": bytearray()}
        self.times: dict[Direction, list[tuple[float, bytes]]] = {"request": [], "response": []}
        self.said: list[str] = []
        self.done: list[Exchange] = []
        self.cuts: list[dict[str, Any]] = []
        self.left: list[tuple[Direction, bytes, dict[str, Any]]] = []
        self.finished: list[Direction] = []
        self.kinds: list[tuple[int, int]] = []
        """API key and version of what is in `left`."""
        self.untouched = 0
        """How many chunks passed as they came, without a look at what is in them."""
        self.aborted = False

    def feed(self, direction: Direction, data: bytes, chunks: Chunks = whole) -> None:
        """Bytes arrive."""
        for chunk in chunks(data):
            view = memoryview(bytearray(chunk))
            self.perform(self.connection.receive(direction, view, self.stage.now), direction, view)
            self.stage.wake_ready()

    def ask(self, data: bytes, chunks: Chunks = whole) -> None:
        """Send bytes from the client."""
        self.feed("request", data, chunks)

    def answer(self, data: bytes, chunks: Chunks = whole) -> None:
        """Send bytes from the broker."""
        self.feed("response", data, chunks)

    def end(self, direction: Direction) -> None:
        """End a direction: its sender has sent everything."""
        self.perform(self.connection.receive_eof(direction, self.stage.now))
        self.stage.wake_ready()

    def close(self) -> None:
        """Both sides are closed."""
        self.perform(self.connection.closed(self.stage.now))
        self.stage.wake_ready()

    def perform(
        self, actions: Actions, direction: Direction = "request", chunk: memoryview | None = None
    ) -> None:
        """Note what the connection asks for."""
        if actions is PASS:
            assert chunk is not None
            self.untouched += 1
            self._send(direction, bytes(chunk))
            return
        for action in actions:
            match action:
                case Send(way, data):
                    self._send(way, bytes(data))
                case Done(exchange):
                    self.done.append(exchange)
                case Say(text):
                    self.said.append(text)
                case Cut(_, offset, comment):
                    assert chunk is None or 0 <= offset <= len(chunk)
                    self.cuts.append(comment)
                case Departure(way, data, comment, key, version):
                    self.left.append((way, bytes(data), comment))
                    self.kinds.append((key, version))
                case Finish(way):
                    self.finished.append(way)
                case Abort():
                    self.aborted = True
                case Hide():
                    pass
                case Forward():
                    raise AssertionError("only PASS forwards")

    def _send(self, direction: Direction, data: bytes) -> None:
        assert not self.aborted
        assert direction not in self.finished
        self.sent[direction] += data
        self.times[direction].append(((self.stage.now - START) / MS, data))

    def frames(self, direction: Direction) -> list[bytes]:
        """Return the whole frames that left in a direction."""
        data, found = bytes(self.sent[direction]), []
        while data:
            (size,) = struct.unpack_from(">i", data)
            assert len(data) >= 4 + size, "a frame was cut off"
            found.append(data[: 4 + size])
            data = data[4 + size :]
        return found

    @property
    def waiting(self) -> list[int]:
        """The correlation ids of requests that wait for their responses."""
        return [pending.correlation_id for pending in self.connection.state.pairing.waiting]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of counted exchanges of each API."""
        return {row.api: row.count for row in self.stage.tally.rows()}

    def ids(self, direction: Direction) -> list[int]:
        """Return the correlation ids that left in a direction."""
        at = 8 if direction == "request" else 4
        return [struct.unpack_from(">i", frame, at)[0] for frame in self.frames(direction)]
