"""The proxy: listens for each broker, connects clients, learns new brokers, drains."""

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
from barnabas.proxy.network.announcement import announce
from barnabas.proxy.network.capture_watch import say_closed, watch
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.drain import Drain
from barnabas.proxy.network.listeners import Client, Listeners, Reports
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.rate_limited_lines import RateLimitedLines
from barnabas.proxy.network.read_buffers import ReadBuffers
from barnabas.proxy.network.reaper import Reaper, reap
from barnabas.proxy.network.relay import Hooks, Relay
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
    """A proxy in front of one cluster. Its rules are in force from the first connection on."""

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
        """Whether every exchange is handed to `done` now."""
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
        self._unreachable = RateLimitedLines(outputs.say)
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
        """The relays of open connections, by number."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[int] = set()
        self._changed = outputs.changed
        self._layer = surroundings.layer
        self._drain: Drain | None = None
        self._loop: asyncio.AbstractEventLoop
        self._hooks: Hooks

    @property
    def address(self) -> Address:
        """Return the address at which clients find the bootstrap broker."""
        return self.listeners.address

    @property
    def open(self) -> int:
        """Return the number of connections that are open, or about to be."""
        return len(self._open)

    async def start(self) -> None:
        """Listen, and take clients.

        Raises:
            OSError: The address is unavailable.
        """
        for line in (*self.options.explain(), *remarks(self.rules.scenario)):
            self._say(line)
        self.listen()
        self.begin()

    def listen(self) -> None:
        """Open the listeners, where they were before if they were open.

        Raises:
            OSError: The address is unavailable.
        """
        self.listeners.start()

    def begin(self) -> None:
        """Start to take clients, which another process may accept."""
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
        """Return the plan for messages under the present rules; it includes what the capture must mask."""
        return Plan(
            self.rules,
            self.options.offer,
            self.options.masking.hides if self._writers else None,
            quotes=self.options.masking.key is None,
        )

    def stop_listening(self) -> None:
        """Close the listeners: further clients are refused."""
        self.listeners.close()

    async def stop(self) -> None:
        """Stop listening, let exchanges under way finish for a while, and close everything."""
        self.stop_listening()
        await self.drain()

    async def drain(self) -> None:
        """Let exchanges under way finish for a while, and close everything."""
        self.draining = True
        for relay in self.relays.values():
            relay.resume()
        self._drain = Drain(self.options.drain)
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
        """End the remaining time of exchanges under way, while the proxy stops."""
        if self._drain is not None:
            self._drain.hurry()

    def observe(self, observed: bool) -> None:
        """Hand every exchange to `done` from now on, or only if the log needs them."""
        self.observed = observed or self.options.observed
        for relay in list(self.relays.values()):
            relay.connection.state.observed = self.observed
            relay.tick()

    def wait(self, waits: bool) -> None:
        """Stop reading from all connections until the log has caught up, or continue."""
        self._waits = waits
        for relay in list(self.relays.values()):
            relay.waits = waits
            relay.update_reading()

    def replace(self, scenario: Scenario, by: str) -> None:
        """Put all connections under other rules, between two events: no message meets both.

        Frames that removed rules held leave in order; retained rules continue to count. `by` names the origin
        of the change in the log and the capture.
        """
        before, now = self.rules, clock()
        self.adopt(scenario, now)
        self.note(announce(self.rules, before, by, self._say), now)

    def adopt(self, scenario: Scenario, began: int) -> None:
        """Put all connections under a scenario that was loaded at a time, without a line for the person.

        If another process has announced the scenario, the capture records which connections are under it from
        here on.
        """
        self.rules = Rules(scenario, self.rules)
        self.rules.began = began
        self._plan = self._planned()
        self.shared.unresolved.forget()  # the new rules will ask for the names that they need
        if self._works_for_another:
            numbers = [*self.relays]
            self.note({"barnabas": "adopted", "scenario": began, "connections": numbers})
        self._each(lambda relay: relay.replace(self._plan))

    def fire(self, rule: str) -> None:
        """Let a rule fire on its next match, whatever `when` says.

        Raises:
            LookupError: There is no such rule.
        """
        self.rules.rule(rule).forced += 1
        self.note({"barnabas": "fire", "rule": rule})

    def release(self, rule: str) -> None:
        """Release the messages that a rule holds, whatever they wait for.

        Raises:
            LookupError: There is no such rule.
        """
        self.rules.rule(rule)
        self.note({"barnabas": "release", "rule": rule})
        self.let_go(rule)

    def let_go(self, rule: str) -> None:
        """Release the messages that a rule holds, without a note in the capture."""
        self._each(lambda relay: relay.release(rule))

    def _each(self, do: Callable[[Relay], None]) -> None:
        """Apply a function to every connection; an error closes the connection and is reported."""
        for number, relay in list(self.relays.items()):
            try:
                do(relay)
            except Exception as problem:  # noqa: BLE001 - whatever it is costs this connection only
                self._say(f"connection {number}: {problem!r}; closed")
                relay.close()

    def note(self, comment: dict[str, Any], now: int | None = None) -> None:
        """Write a note about the whole proxy to the capture and the live stream, if there are any."""
        for writer in self._writers:
            writer.note(clock() if now is None else now, comment)

    def take(self, client: Client) -> None:
        """Connect a client to its broker."""
        self._open.add(client.number)
        self._changed(len(self._open))
        task = self._loop.create_task(self._connect(client))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def turned_away(self, client: str, reason: str, subject: str) -> None:
        """Count a client that could not be connected, and report each kind of reason now and then."""
        self.totals.unreachable += 1
        self._unreachable.say(subject, f"{client}: {reason}; closed", self._loop.time())

    def _over(self, number: int) -> None:
        self._open.discard(number)
        self._changed(len(self._open))

    async def _connect(self, client: Client) -> None:
        """Reach the broker, then relay; what the client sends meanwhile waits in the kernel."""
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
                reason = f"{node.name} at {node.place} can't be reached: {reason_of(problem)}"
                self.turned_away(client.name, reason, node.name)
                await self._dismiss(client)
                return
            unless_relayed.callback(broker.close)
            relay = None
            try:
                relay = self._relay(client, broker)
                # if cancelled, uvloop closes a side without a callback
                unless_relayed.callback(relay.close)
                await relay.attach(sock, broker, *self._upstream.contexts(host, sock))
            except Exception as problem:  # noqa: BLE001 - whatever it is costs this connection only
                # mostly TLS failed, or the client has gone
                failure = reason_of(problem) if isinstance(problem, OSError) else repr(problem)
                line = f"{client.name}: {failure}; closed"
                if isinstance(problem, OSError):
                    self._unreachable.say(failure, line, self._loop.time())
                else:
                    self._say(line)
                if relay is not None and not relay.greeted:
                    relay.close()
                    await self._dismiss(client)
                return
            unless_relayed.pop_all()

    async def _dismiss(self, client: Client) -> None:
        """Close a client whose broker is unavailable; with TLS, after the handshake."""
        with contextlib.suppress(Exception):  # the reason has been reported
            context, _ = self._upstream.contexts(client.node.upstream[0], client.socket)
            if context is not None:
                await dismiss(client.socket, context)

    def _relay(self, client: Client, broker: socket.socket) -> Relay:
        """Create the relay of a connection, and the protocol logic between its sockets."""
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
        """Wake connections whose frames have waited for a message that has just passed."""
        ready = self.shared.ready
        while ready:
            relay = self.relays.get(ready.pop())
            if relay is not None:
                self._loop.call_soon(relay.tick)
        if self.shared.unresolved and not self.draining:
            self._lookup.begin()

    def _authenticated(self) -> bool:
        return any(relay.connection.state.sasl.mechanism for relay in self.relays.values())

    def _ended(self, relay: Relay) -> None:
        self.relays.pop(relay.connection.state.number, None)
        self._over(relay.connection.state.number)
        for index, count in enumerate(relay.received()):
            self.received[index] += count
