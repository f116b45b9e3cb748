"""The proxy: listens for each broker, connects clients through, learns new brokers, drains.

proxy = Proxy(options, say=print, done=show)
await proxy.start()
...
await proxy.stop()
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from barnabas.captures.host_port import endpoint_text
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.summary.api_stats import ApiStats
from barnabas.captures.writing.masked_flow import MaskedFlow
from barnabas.plural import plural
from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.connection.shared_state import SharedState
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.topology import Address, Node, Topology
from barnabas.proxy.fastpath.plan import Plan
from barnabas.proxy.network.acceptor import Acceptor
from barnabas.proxy.network.capture_watch import say_closed, watch
from barnabas.proxy.network.clock import clock
from barnabas.proxy.network.draining import Draining
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.read_buffers import ReadBuffers
from barnabas.proxy.network.reaper import Reaper
from barnabas.proxy.network.relay import Relay
from barnabas.proxy.network.sockets import address_of, dial, listen, reason_of, turn_away
from barnabas.proxy.network.topic_name_lookup import look_up
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.lint.notes import remarks
from barnabas.proxy.scenario.model import Scenario
from barnabas.proxy.topic_names.names import TopicNames
from barnabas.proxy.topic_names.questions import Questions
from barnabas.specs.jsonform import uuid_text

if TYPE_CHECKING:
    from barnabas.captures.writing.writer import CaptureWriter


class Proxy:
    """A proxy in front of one cluster. Made with its rules: there is no moment without them."""

    def __init__(
        self,
        options: Options,
        rules: Rules | None = None,
        *,
        capture: CaptureWriter | None = None,
        done: Callable[[Exchange], None] = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
        topics: TopicNames | None = None,
    ) -> None:
        """topics: the names of topics, if the log is to have them, too."""
        self.options = options
        self.rules = rules or Rules(None)
        self.capture = capture
        self.tally = ApiStats()
        self.totals = Totals()
        self.received = [0, 0]
        """Bytes of connections that are closed: from clients, from brokers."""
        self.past: Counter[str] = Counter()
        """How often each fault struck by rules that are gone."""
        self.draining = False
        self.observed = options.observed
        """Whether every exchange is handed to `done` just now."""
        self.topology = Topology(self._open)
        self.address: Address = options.listen
        self._done = done
        self._say = say
        self._plan = self._planned()
        self._shared = SharedState(topics)
        self._buffers = ReadBuffers()
        self._relays: dict[int, Relay] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._asking: asyncio.Task[None] | None = None
        self._attempts: Counter[int | None] = Counter()
        self._turn = -1
        """Which bootstrap address the last connection began with."""
        self._drain: Draining | None = None
        self._loop: asyncio.AbstractEventLoop
        self._acceptor: Acceptor

    async def start(self) -> None:
        """Listen. Raises OSError if the address can't be had."""
        self._loop = asyncio.get_running_loop()
        self._acceptor = Acceptor(self._loop, self._accepted, self._say)
        for line in (*self.options.explain(), *remarks(self.rules.scenario)):
            self._say(line)
        listener = listen(self.options.listen)
        self.address = address_of(listener.getsockname())
        node = Node(None, None, self.options.bootstrap[0], self.address)
        self._acceptor.serve(listener, node)
        if self.capture is not None:
            watch(self.capture, self._loop, self._say)
        self._reap(Reaper(self.options.linger))

    def _planned(self) -> Plan:
        """What each kind of message needs, under the present rules; a capture must hide some."""
        return Plan(
            self.rules,
            self.options.offer,
            None if self.capture is None else self.options.masking.hides,
            quotes=self.options.masking.key is None,
        )

    def stop_listening(self) -> None:
        """Listen no more: who comes now is refused."""
        self._acceptor.close()

    async def stop(self) -> None:
        """Listen no more, let what is under way finish for a while, close everything."""
        self.stop_listening()
        self.draining = True
        for relay in self._relays.values():
            relay.resume()
        self._drain = Draining(self.options.drain)
        await self._drain.finish(self._relays.values())
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._drain.close(list(self._relays.values()))
        if self.capture is not None:
            self.capture.close()
            say_closed(self.capture, self._say)

    def hurry(self) -> None:
        """Let what is under way have no more time, while the proxy stops."""
        if self._drain is not None:
            self._drain.hurry()

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._relays)

    @property
    def relays(self) -> Collection[Relay]:
        """The connections that are open."""
        return self._relays.values()

    @property
    def topics(self) -> TopicNames:
        """The names of topics, by id."""
        return self._shared.topics

    @property
    def questions(self) -> Questions:
        """Which of them rules lack, and why."""
        return self._shared.questions

    def observe(self, wanted: bool) -> None:
        """Hand every exchange to `done` from now on, or (if the log is off) none; then most frames
        pass unread."""
        self.observed = wanted or self.options.observed
        for relay in list(self._relays.values()):
            relay.connection.state.observed = self.observed
            relay.tick()

    def replace(self, scenario: Scenario, by: str) -> None:
        """Put all connections under other rules, between two events: no message meets both.

        What rules that are gone held back leaves, in order; rules that stay the same go on counting.
        `by` is who wants it, for the log and the capture.
        """
        before, self.rules = self.rules, Rules(scenario, self.rules)
        now = self.rules.began = clock()
        self._plan = self._planned()
        same = self.rules.shared(before)
        for rule in before.rules:
            if rule.name not in same:
                self.past.update({fault.name: rule.fired for fault in rule.faults})
        self.questions.forget()  # what the others want they will say
        for relay in list(self._relays.values()):
            relay.replace(self._plan)
        facts = f"{plural(len(self.rules.rules), 'rule')}, {len(same)} of them as before"
        self._say(f"scenario: {_change(before, self.rules, same)} by {by}: {facts}")
        for line in remarks(scenario):
            self._say(line)
        self._note({"barnabas": "scenario", "by": by, **scenario.meta()}, now)

    def fire(self, rule: str) -> None:
        """Let a rule fire on its next match, whatever `when` says. Raises LookupError."""
        self.rules.rule(rule).forced += 1
        self._note({"barnabas": "fire", "rule": rule})

    def release(self, rule: str) -> None:
        """What a rule holds leaves, whatever it waits for. Raises LookupError."""
        self.rules.rule(rule)
        self._note({"barnabas": "release", "rule": rule})
        for relay in list(self._relays.values()):
            relay.release(rule)

    def _note(self, comment: dict[str, Any], now: int | None = None) -> None:
        """For the capture, if there is one: what happened to no connection alone."""
        if self.capture is not None:
            self.capture.note(clock() if now is None else now, comment)

    # listening

    def _open(self, node: Node) -> Address:
        """A listener for a node that was just discovered."""
        ports: Sequence[int] = self.options.broker_ports or (0,)
        address = self._acceptor.open(node, self.options.listen[0], ports)
        told = self.options.advertise or address[0]
        where = {"kind": node.kind, "node": node.id, "host": told, "port": address[1]}
        self._note({"barnabas": "listener", **where})
        return address

    def _accepted(self, client: socket.socket, peer: Address, node: Node) -> None:
        task = self._loop.create_task(self._connect(client, peer, node))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, client: socket.socket, peer: Address, node: Node) -> None:
        """Reach the broker, then let the two talk; what the client sends meanwhile waits in the kernel."""
        self.totals.connections += 1
        number = self.totals.connections
        name = f"connection {number} ({endpoint_text(peer)})"
        with contextlib.ExitStack() as unless_relayed:
            unless_relayed.callback(client.close)
            reject = self.rules.connecting(node.id, self._attempts[node.id], clock())
            self._attempts[node.id] += 1
            if reject is not None:
                self.totals.rejected += 1
                self._say(f"{name}: refused by a rule ({reject.how})")
                await turn_away(client, reject)
                return
            try:
                broker, host = await dial(self._addresses(node), self.options.connect_timeout)
            except OSError as problem:
                self.totals.refused += 1
                self._say(
                    f"{name}: {node.name} at {node.place} can't be reached: "
                    f"{reason_of(problem)}; closed"
                )
                return
            unless_relayed.callback(broker.close)
            try:
                relay = self._relay(number, client, broker, peer, node)
                # cancelled, uvloop closes a side and tells nobody
                unless_relayed.callback(relay.close)
                await relay.attach(client, broker, *self._contexts(node, host, client))
            except Exception as problem:  # noqa: BLE001 - whatever it is costs this connection only
                # mostly TLS failed, or the client is gone already
                why = reason_of(problem) if isinstance(problem, OSError) else repr(problem)
                self._say(f"{name}: {why}; closed")
                return
            unless_relayed.pop_all()

    def _contexts(
        self, node: Node, host: str, sock: socket.socket
    ) -> tuple[ssl.SSLContext | None, tuple[ssl.SSLContext, str] | None]:
        """What TLS needs for the client and for the broker, where it is spoken."""
        tls = self.options.tls
        client = None
        if tls.client is not None:
            # the client may have been told any of them, or have come by one that nobody has told it
            told, here = self.options.advertise, address_of(sock.getsockname())[0]
            names = (told, here, self.options.listen[0], host, "localhost", "127.0.0.1")
            client = tls.client(tuple(name for name in names if name))
        return client, None if tls.broker is None else (tls.broker, tls.server_name or host)

    def _relay(
        self, number: int, client: socket.socket, broker: socket.socket, peer: Address, node: Node
    ) -> Relay:
        """The two sockets of a connection, and the protocol logic between them."""
        here = address_of(client.getsockname())
        connection = Connection(
            number,
            client=endpoint_text(peer),
            broker=node.id,
            plan=self._plan,
            shared=self._shared,
            tally=self.tally,
            totals=self.totals,
            resolve=self.topology.resolver(here[0], self.options.advertise),
            find=self.topology.finder(here[0], self.options.advertise),
            observed=self.observed,
            limits=self.options.limits,
        )
        flow = None
        if self.capture is not None:
            comment = {"client": endpoint_text(peer), "broker": node.id}
            arrived = self.capture.open(number, peer, here, clock(), comment)
            flow = MaskedFlow(arrived, self.options.masking)
            flow.upstream(address_of(broker.getsockname()), address_of(broker.getpeername()))
        relay = Relay(
            connection,
            loop=self._loop,
            buffers=self._buffers,
            flow=flow,
            done=self._finished,
            say=self._say,
            ready=self._wake_others,
            over=self._ended,
        )
        self._relays[number] = relay
        return relay

    def _addresses(self, node: Node | None) -> list[Address]:
        """Where a node may be reached, in turn.

        Each bootstrap connection begins with another address, as clients do: one that accepts and
        never answers must not be what all of them get.
        """
        if node is not None and node.id is not None:
            return [node.upstream]
        self._turn = (self._turn + 1) % len(self.options.bootstrap)
        return [*self.options.bootstrap[self._turn :], *self.options.bootstrap[: self._turn]]

    # what connections report

    def _finished(self, exchange: Exchange) -> None:
        error = exchange.error
        if error is not None:
            self.tally.error(exchange.key, error)
        self._done(self.options.masking.exchange(exchange))

    def flag(self, exchange: Exchange) -> None:
        """Note in the capture that a body could not be read. For the thread that reads bodies."""
        if self.capture is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(self._flag, exchange)

    def _flag(self, exchange: Exchange) -> None:
        facts = {
            "connection": exchange.connection,
            "api": exchange.api,
            "version": exchange.version,
            "correlation_id": exchange.correlation_id,
            "undecodable": exchange.undecodable,
        }
        self._note(facts)

    def _wake_others(self) -> None:
        """Frames of other connections may have waited for a message that has just passed."""
        ready = self._shared.ready
        while ready:
            relay = self._relays.get(ready.pop())
            if relay is not None:
                self._loop.call_soon(relay.tick)
        if self._shared.questions and self._asking is None and not self.draining:
            self._asking = self._loop.create_task(
                look_up(
                    self.questions,
                    self.topics,
                    self.options,
                    addresses=lambda: self._addresses(None),
                    authenticated=self._authenticated,
                    told=self._told,
                    say=self._say,
                )
            )
            self._tasks.add(self._asking)
            self._asking.add_done_callback(self._asked)

    def _asked(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._asking = None

    def _authenticated(self) -> bool:
        return any(one.connection.state.sasl.mechanism for one in self._relays.values())

    def _told(self, names: Mapping[uuid.UUID, str], now: int) -> None:
        """Brokers have told the names of topics."""
        told = {uuid_text(topic): name for topic, name in names.items()}
        self._note({"barnabas": "topics", "names": told}, now)

    def _reap(self, reaper: Reaper) -> None:
        """Close what would stay for ever; looked at now and then."""
        for relay in list(reaper.find(self._relays.values(), self._loop.time())):
            name = relay.connection.state.name
            self._say(f"{name}: the client has gone, and the broker stands still; closed")
            relay.close()
            relay.abort()
        self._loop.call_later(self.options.linger / 4, self._reap, reaper)

    def _ended(self, relay: Relay) -> None:
        self._relays.pop(relay.connection.state.number, None)
        for place, count in enumerate(relay.received()):
            self.received[place] += count


def _change(before: Rules, after: Rules, same: Collection[str]) -> str:
    """What became of the rules, in words; same: names of those that stay."""
    gone, new = (
        [rule.name for rule in rules.rules if rule.name not in same] for rules in (before, after)
    )
    match gone, new:
        case [], [name]:
            return f"rule {name!r} added"
        case [name], []:
            return f"rule {name!r} removed"
    return "replaced"
