"""The proxy: listens for each broker, connects clients through, learns new brokers, drains."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.writing.masked_flow import MaskedFlow
from barnabas.captures.writing.tee import tee
from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.connection.shared_state import SharedState
from barnabas.proxy.connection.state import Phase, State
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.network.announcing import announce
from barnabas.proxy.network.capture_watch import say_closed, watch
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.draining import Draining
from barnabas.proxy.network.listeners import Client, Listeners, Reports
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.read_buffers import ReadBuffers
from barnabas.proxy.network.reaper import Reaper, reap
from barnabas.proxy.network.relay import Hooks, Relay
from barnabas.proxy.network.seldom import Seldom
from barnabas.proxy.network.sockets import address_of
from barnabas.proxy.network.surroundings import ALONE, NO_OUTPUTS, Outputs, Surroundings
from barnabas.proxy.network.tls import dismiss
from barnabas.proxy.network.topic_name_lookup import TopicNameLookup
from barnabas.proxy.network.upstream import Upstream
from barnabas.proxy.rules.plan import Plan
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.lint.notes import remarks
from barnabas.proxy.scenario.model import Scenario
from barnabas.trouble import reason_of

if TYPE_CHECKING:
    from barnabas.captures.live.writer import RingWriter
    from barnabas.captures.writing.writer import CaptureWriter


class Proxy:
    """A proxy in front of one cluster. Made with its rules: there is no moment without them."""

    def __init__(
        self,
        options: Options,
        rules: Rules | None = None,
        outputs: Outputs = NO_OUTPUTS,
        surroundings: Surroundings = ALONE,
    ) -> None:
        self.options = options
        self.rules = rules or Rules(None)
        self.capture = capture = outputs.capture
        self._writers: list[CaptureWriter | RingWriter] = (
            [*outputs.streams] if capture is None else [capture, *outputs.streams]
        )
        self.tally = surroundings.tally or ApiStats()
        self.totals = surroundings.totals or Totals()
        self.received = [0, 0]
        """Bytes of connections that are closed: from clients, from brokers."""
        self.draining = self._waits = False
        self.observed = options.observed
        """Whether every exchange is handed to `done` just now."""
        self.listeners = Listeners(
            options,
            lambda: self.rules,
            self.totals,
            Reports(self.take, self.note, outputs.say),
            surroundings,
        )
        self.topology = surroundings.topology or self.listeners.topology
        self._works_for_another = surroundings.topology is not None
        self._done = outputs.done
        self._say = outputs.say
        self._unreachable = Seldom(outputs.say)
        self._plan = self._planned()
        ordinal = surroundings.ordinal or self.listeners.ordinal
        self.shared = SharedState(surroundings.topics, ordinal, options.reading)
        self._upstream = Upstream(options)
        self._lookup = TopicNameLookup(
            self.shared,
            self._upstream,
            authenticated=self._authenticated,
            note=self.note,
            say=outputs.say,
        )
        self.relays: dict[int, Relay] = {}
        """The connections that are open, by number."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[int] = set()
        self._changed = outputs.changed
        self._layer = surroundings.layer
        self._drain: Draining | None = None
        self._loop: asyncio.AbstractEventLoop
        self._hooks: Hooks

    @property
    def address(self) -> Address:
        """Where clients find the bootstrap broker."""
        return self.listeners.address

    @property
    def open(self) -> int:
        """Connections that are open, or about to be."""
        return len(self._open)

    async def start(self) -> None:
        """Listen. Raises OSError if the address can't be had."""
        for line in (*self.options.explain(), *remarks(self.rules.scenario)):
            self._say(line)
        self.listen()
        self.begin()

    def listen(self) -> None:
        """Listen, where it did before if it did. Raises OSError if the address can't be had."""
        self.listeners.start()

    def begin(self) -> None:
        """Take clients whom another process accepts."""
        self._loop = asyncio.get_running_loop()
        self._hooks = Hooks(
            loop=self._loop,
            buffers=ReadBuffers(self.options.read_size),
            layer=self._layer,
            done=self._finished,
            say=self._say,
            ready=self._wake_others,
            over=self._ended,
        )
        if self.capture is not None:
            watch(self.capture, self._loop, self._say)
        reaper = Reaper(self.options.linger)
        reap(self.relays, reaper, self._loop, self._say, lambda: self.draining)

    def _planned(self) -> Plan:
        """What each kind of message needs, under the present rules; a capture must hide some."""
        return Plan(
            self.rules,
            self.options.offer,
            self.options.masking.hides if self._writers else None,
            quotes=self.options.masking.key is None,
        )

    def stop_listening(self) -> None:
        """Listen no more: who comes now is refused."""
        self.listeners.close()

    async def stop(self) -> None:
        """Listen no more, let what is under way finish for a while, close everything."""
        self.stop_listening()
        await self.drain()

    async def drain(self) -> None:
        """Let what is under way finish for a while, close everything."""
        self.draining = True
        for relay in self.relays.values():
            relay.resume()
        self._drain = Draining(self.options.drain)
        await self._drain.finish(self.relays.values())
        self.listeners.forget()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, self._lookup.stop(), return_exceptions=True)
        await self._drain.close(list(self.relays.values()))
        if self.capture is not None:
            self.capture.close()
            say_closed(self.capture, self._say)

    def hang_up(self) -> None:
        """Close all connections at once, whatever is under way."""
        for task in self._tasks:
            task.cancel()
        for relay in list(self.relays.values()):
            relay.close()
            relay.abort()

    def hurry(self) -> None:
        """Let what is under way have no more time, while the proxy stops."""
        if self._drain is not None:
            self._drain.hurry()

    def observe(self, wanted: bool) -> None:
        """Hand every exchange to `done` from now on, or only what the log needs."""
        self.observed = wanted or self.options.observed
        for relay in list(self.relays.values()):
            relay.connection.state.observed = self.observed
            relay.tick()

    def wait(self, waits: bool) -> None:
        """Read from no connection until the log has caught up; or go on."""
        self._waits = waits
        for relay in list(self.relays.values()):
            relay.waits = waits
            relay.update_reading()

    def replace(self, scenario: Scenario, by: str) -> None:
        """Put all connections under other rules, between two events: no message meets both.

        What rules that are gone held back leaves, in order; rules that stay the same go on counting.
        `by` is who wants it, for the log and the capture.
        """
        before, now = self.rules, clock()
        self.adopt(scenario, now)
        self.note(announce(self.rules, before, by, self._say), now)

    def adopt(self, scenario: Scenario, began: int) -> None:
        """As `replace`, which began at that time, without a word for the person. Where another process has
        announced the scenario, the capture hears which connections are under it from here on."""
        self.rules = Rules(scenario, self.rules)
        self.rules.began = began
        self._plan = self._planned()
        self.shared.questions.forget()  # what the others want they will say
        if self._works_for_another:
            numbers = [*self.relays]
            self.note({"barnabas": "adopted", "scenario": began, "connections": numbers})
        self._each(lambda relay: relay.replace(self._plan))

    def fire(self, rule: str) -> None:
        """Let a rule fire on its next match, whatever `when` says. Raises LookupError."""
        self.rules.rule(rule).forced += 1
        self.note({"barnabas": "fire", "rule": rule})

    def release(self, rule: str) -> None:
        """What a rule holds leaves, whatever it waits for. Raises LookupError."""
        self.rules.rule(rule)
        self.note({"barnabas": "release", "rule": rule})
        self.let_go(rule)

    def let_go(self, rule: str) -> None:
        """As `release`, without a note."""
        self._each(lambda relay: relay.release(rule))

    def _each(self, do: Callable[[Relay], None]) -> None:
        """Do it to every connection. What goes wrong with one closes it, and is said."""
        for number, relay in list(self.relays.items()):
            try:
                do(relay)
            except Exception as problem:  # noqa: BLE001 - whatever it is costs this connection only
                self._say(f"connection {number}: {problem!r}; closed")
                relay.close()

    def note(self, comment: dict[str, Any], now: int | None = None) -> None:
        """For capture and live stream, if there are any: what happened to no connection alone."""
        for writer in self._writers:
            writer.note(clock() if now is None else now, comment)

    def take(self, client: Client) -> None:
        """Connect a client through."""
        self._open.add(client.number)
        self._changed(len(self._open))
        task = self._loop.create_task(self._connect(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def turned_away(self, client: str, why: str, kind: str) -> None:
        """A client could not be connected through: it is counted, and of each kind said now and then."""
        self.totals.unreachable += 1
        self._unreachable.say(kind, f"{client}: {why}; closed", self._loop.time())

    def _over(self, number: int) -> None:
        self._open.discard(number)
        self._changed(len(self._open))

    async def _connect(self, client: Client) -> None:
        """Reach the broker, then let the two talk; what the client sends meanwhile waits in the kernel."""
        sock, node = client.socket, client.node
        with contextlib.ExitStack() as unless_relayed:
            unless_relayed.callback(self._over, client.number)
            unless_relayed.callback(sock.close)
            if client.leads_back:
                self.totals.unreachable += 1
                await self._dismiss(client)
                return
            try:
                broker, host = await self._upstream.dial(node)
            except OSError as problem:
                what = f"{node.name} at {node.place} can't be reached: {reason_of(problem)}"
                self.turned_away(client.name, what, node.name)
                await self._dismiss(client)
                return
            unless_relayed.callback(broker.close)
            relay = None
            try:
                relay = self._relay(client, broker)
                # cancelled, uvloop closes a side and tells nobody
                unless_relayed.callback(relay.close)
                await relay.attach(sock, broker, *self._upstream.contexts(host, sock))
            except Exception as problem:  # noqa: BLE001 - whatever it is costs this connection only
                # mostly TLS failed, or the client is gone already
                why = reason_of(problem) if isinstance(problem, OSError) else repr(problem)
                line = f"{client.name}: {why}; closed"
                if isinstance(problem, OSError):
                    self._unreachable.say(why, line, self._loop.time())
                else:
                    self._say(line)
                if relay is not None and not relay.greeted:
                    relay.close()
                    await self._dismiss(client)
                return
            unless_relayed.pop_all()

    async def _dismiss(self, client: Client) -> None:
        """Close a client whose broker can't be had: with TLS not before the handshake is over."""
        with contextlib.suppress(Exception):  # why it is closed has been said
            context, _ = self._upstream.contexts(client.node.upstream[0], client.socket)
            if context is not None:
                await dismiss(client.socket, context)

    def _relay(self, client: Client, broker: socket.socket) -> Relay:
        """The two sockets of a connection, and the protocol logic between them."""
        number, peer = client.number, client.address
        here = address_of(client.socket.getsockname())
        state = State(
            number=number,
            client=endpoint_text(peer),
            broker=client.node.id,
            plan=self._plan,
            shared=self.shared,
            tally=self.tally,
            totals=self.totals,
            resolve=self.topology.resolver(here[0], self.options.advertise),
            find=self.topology.finder(here[0], self.options.advertise),
            controller=client.node.kind == "controller",
            observed=self.observed,
            limits=self.options.limits,
            phase=Phase.UNDECIDED if self.options.any_protocol else Phase.KAFKA,
        )
        flow = None
        if self._writers:
            comment = {"client": endpoint_text(peer), "broker": client.node.id}
            if state.controller:
                comment["kind"] = "controller"
            if self._works_for_another:  # which has other rules a moment before
                comment["scenario"] = self.rules.began
            flows = [writer.open(number, peer, here, clock(), comment) for writer in self._writers]
            flow = MaskedFlow(tee(flows), self.options.masking)
            flow.upstream(address_of(broker.getsockname()), address_of(broker.getpeername()))
        relay = Relay(Connection(state), flow, self._hooks)
        relay.waits = self._waits
        self.relays[number] = relay
        return relay

    def _finished(self, exchange: Exchange) -> None:
        if (error := exchange.error) is not None:
            self.tally.error(exchange.key, error)
        self._done(self.options.masking.exchange(exchange))

    def _wake_others(self) -> None:
        """Frames of other connections may have waited for a message that has just passed."""
        ready = self.shared.ready
        while ready:
            relay = self.relays.get(ready.pop())
            if relay is not None:
                self._loop.call_soon(relay.tick)
        if self.shared.questions and not self.draining:
            self._lookup.begin()

    def _authenticated(self) -> bool:
        return any(one.connection.state.sasl.mechanism for one in self.relays.values())

    def _ended(self, relay: Relay) -> None:
        self.relays.pop(relay.connection.state.number, None)
        self._over(relay.connection.state.number)
        for place, count in enumerate(relay.received()):
            self.received[place] += count
