"""The proxy: listens for each broker, connects clients through, learns new brokers, drains.

proxy = Proxy(options, say=print, done=show)
await proxy.start()
...
await proxy.stop()
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import struct
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from captures.exchange import Exchange
from captures.masked_flow import MaskedFlow
from captures.masking import Masking
from captures.tally import Tally
from proxy.connection import Connection
from proxy.crossing import Crossing
from proxy.edits import explain
from proxy.effects import Reject
from proxy.never import warnings
from proxy.offer import Offer
from proxy.plan import Plan
from proxy.relay import BUFFER, Buffers, Link, clock
from proxy.rules import Rules
from proxy.scenario_model import Scenario
from proxy.standstill import Standstill
from proxy.state import Limits, State
from proxy.tls import Tls
from proxy.topology import Address, Node, NoPort, Topology
from proxy.totals import Totals

if TYPE_CHECKING:
    from captures.writer import CaptureWriter

BACKLOG = 1024

FLUSH = 1.0
"""Seconds that sockets get to send what was written before they are closed for good."""

LOOK = 0.5
"""Seconds between two looks at whether the capture still works, or connections can be accepted."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a proxy is made from."""

    bootstrap: Sequence[Address]
    listen: Address = ("127.0.0.1", 0)
    broker_ports: range | None = None
    """The ports for brokers; None lets the system choose."""
    observed: bool = True
    """Whether every exchange is handed to `done` (the log); if not, only headers are read."""
    connect_timeout: float = 10.0
    """Seconds to wait for a broker."""
    drain: float = 5.0
    """Seconds that exchanges under way get to finish when the proxy stops."""
    linger: float = 30.0
    """Seconds that a broker may stand still after its client has gone before both are closed; as
    long as clients wait themselves (request.timeout.ms)."""
    tls: Tls = field(default_factory=Tls)
    offer: Offer = field(default_factory=Offer)
    """The versions that clients are offered."""
    advertise: str | None = None
    """The host that clients are told for all listeners; None: the one that they listen on."""
    masking: Masking = field(default_factory=Masking)
    """What log and capture must not hold."""
    limits: Limits = field(default_factory=Limits)


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
    ) -> None:
        self.options = options
        self.rules = rules or Rules(None)
        self.capture = capture
        self.tally = Tally()
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
        self._crossing = Crossing()
        self._buffers = Buffers()
        self._links: dict[State, Link] = {}
        self._listeners: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._used: set[int] = set()
        self._attempts: Counter[int | None] = Counter()
        self._turn = -1
        """Which bootstrap address the last connection began with."""
        self._loop: asyncio.AbstractEventLoop

    async def start(self) -> None:
        """Listen. Raises OSError if the address can't be had."""
        self._loop = asyncio.get_running_loop()
        for line in (*self.explain(), *warnings(self.rules.scenario)):
            self._say(line)
        listener = _listen(self.options.listen)
        self.address = _address(listener.getsockname())
        node = Node(None, None, self.options.bootstrap[0], self.address)
        self._serve(listener, node)
        if self.capture is not None:
            self._watch_capture()
        self._watch_standstill(Standstill(self.options.linger))

    def explain(self) -> list[str]:
        """A line for each thing that it does without a rule, and for what bounds its memory."""
        limits = self.options.limits
        per_side = (limits.frame + limits.queued) >> 20
        return [
            *explain(self.options.offer),
            *self._advertised(),
            *self.options.tls.explain(),
            *self.options.masking.explain(),
            f"memory: a connection keeps at most {per_side} MiB in each direction "
            f"(one frame of {limits.frame >> 20} MiB, {limits.queued >> 20} MiB that wait); "
            f"reading {BUFFER >> 10} KiB at a time from a buffer that all connections share",
        ]

    def _advertised(self) -> list[str]:
        host = self.options.advertise
        return (
            [] if host is None else [f"edit: clients are told {host} as the host of all listeners"]
        )

    def _planned(self) -> Plan:
        """What each kind of message needs, under the present rules; a capture must hide some."""
        return Plan(
            self.rules,
            self.options.offer,
            None if self.capture is None else self.options.masking.hides,
        )

    async def stop(self) -> None:
        """Listen no more, let what is under way finish for a while, close everything."""
        for listener in self._listeners:
            self._loop.remove_reader(listener)
            listener.close()
        self._listeners.clear()
        self.draining = True
        for link in self._links.values():
            link.resume()
        until = self._loop.time() + self.options.drain
        while self._loop.time() < until:
            if all(link.connection.idle for link in self._links.values()):
                break
            await asyncio.sleep(0.01)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        links = list(self._links.values())
        for link in links:
            link.close()
        while any(link.open for link in links) and self._loop.time() < until + FLUSH:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # what was written is still on its way
        for link in links:
            link.abort()
        if self.capture is not None:
            self.capture.close()

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._links)

    @property
    def links(self) -> Collection[Link]:
        """The connections that are open."""
        return self._links.values()

    def observe(self, wanted: bool) -> None:
        """Hand every exchange to `done` from now on, or (if the log is off) none; then most frames
        pass unread."""
        self.observed = wanted or self.options.observed
        for link in list(self._links.values()):
            link.connection.state.observed = self.observed
            link.tick()

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
        for link in list(self._links.values()):
            link.replace(self._plan)
        facts = f"{len(self.rules.rules)} rules, {len(same)} of them as before"
        self._say(f"scenario: replaced by {by}: {facts}")
        for line in warnings(scenario):
            self._say(line)
        if self.capture is not None:
            self.capture.note(now, {"barnabas": "scenario", "by": by, **scenario.meta()})

    # listening

    def _open(self, node: Node) -> Address:
        """A listener for a node that was just discovered."""
        host = self.options.listen[0]
        ports: Sequence[int] = self.options.broker_ports or (0,)
        preferred = [] if node.id is None or ports == (0,) else [ports[0] + node.id]
        for port in (*preferred, *ports):
            if port in self._used or (port and port not in ports):
                continue
            try:
                listener = _listen((host, port))
            except OSError:
                continue
            address = _address(listener.getsockname())
            self._used.add(address[1])
            node.listen = address
            self._serve(listener, node)
            return address
        first, last = ports[0], ports[-1]
        raise NoPort(
            f"no port is free in {first}-{last} for {node.name} ({_text(node.upstream)}): "
            "widen --broker-ports"
        )

    def _serve(self, listener: socket.socket, node: Node) -> None:
        listener.setblocking(False)
        self._listeners.append(listener)
        self._loop.add_reader(listener, self._accept, listener, node)
        self._say(f"listening on {_text(node.listen)} for {node.name} at {_text(node.upstream)}")

    def _accept(self, listener: socket.socket, node: Node) -> None:
        while True:
            try:
                client, peer = listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as problem:
                # no descriptors left, mostly: trying again at once would only spin
                self._say(f"{_text(node.listen)}: can't accept connections: {problem.strerror}")
                self._loop.remove_reader(listener)
                self._loop.call_later(LOOK, self._accept_again, listener, node)
                return
            client.setblocking(False)
            task = self._loop.create_task(self._connect(client, _address(peer), node))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _accept_again(self, listener: socket.socket, node: Node) -> None:
        if listener in self._listeners:
            self._loop.add_reader(listener, self._accept, listener, node)

    async def _connect(self, client: socket.socket, peer: Address, node: Node) -> None:
        """Reach the broker, then let the two talk; what the client sends meanwhile waits in the kernel."""
        self.totals.connections += 1
        number = self.totals.connections
        name = f"connection {number} ({_text(peer)})"
        with contextlib.ExitStack() as unless_linked:
            unless_linked.callback(client.close)
            reject = self.rules.connecting(node.id, self._attempts[node.id], clock())
            self._attempts[node.id] += 1
            if reject is not None:
                self.totals.rejected += 1
                self._say(f"{name}: refused by a rule ({reject.how})")
                await _reject(client, reject)
                return
            try:
                broker, host = await self._dial(node)
            except OSError as problem:
                self.totals.refused += 1
                self._say(
                    f"{name}: {node.name} at {_text(node.upstream)} can't be reached: "
                    f"{_reason(problem)}; closed"
                )
                return
            unless_linked.callback(broker.close)
            link = None
            try:
                link = self._link(number, client, broker, peer, node)
                await link.attach(client, broker, *self._contexts(node, host))
            except OSError as problem:  # TLS failed, or the client is gone already
                self._say(f"{name}: {_reason(problem)}; closed")
                if link is not None:
                    link.close()
                return
            unless_linked.pop_all()

    def _contexts(
        self, node: Node, host: str
    ) -> tuple[ssl.SSLContext | None, tuple[ssl.SSLContext, str] | None]:
        """What TLS needs for the client and for the broker, where it is spoken."""
        tls = self.options.tls
        here = self.options.advertise or self.options.listen[0]
        names = (here, host, "localhost", "127.0.0.1")
        client = None if tls.client is None else tls.client(names)
        return client, None if tls.broker is None else (tls.broker, tls.server_name or host)

    def _link(
        self, number: int, client: socket.socket, broker: socket.socket, peer: Address, node: Node
    ) -> Link:
        """The two sockets of a connection, and the protocol logic between them."""
        here = _address(client.getsockname())
        connection = Connection(
            number,
            client=_text(peer),
            broker=node.id,
            plan=self._plan,
            crossing=self._crossing,
            tally=self.tally,
            totals=self.totals,
            resolve=self.topology.resolver(here[0], self.options.advertise),
            observed=self.observed,
            limits=self.options.limits,
        )
        flow = None
        if self.capture is not None:
            comment = {"client": _text(peer), "broker": node.id}
            arrived = self.capture.open(number, peer, here, clock(), comment)
            flow = MaskedFlow(arrived, self.options.masking)
            flow.upstream(_address(broker.getsockname()), _address(broker.getpeername()))
        link = Link(
            connection,
            loop=self._loop,
            buffers=self._buffers,
            flow=flow,
            done=self._finished,
            say=self._say,
            ready=self._wake_others,
            over=self._ended,
        )
        self._links[connection.state] = link
        return link

    async def _dial(self, node: Node) -> tuple[socket.socket, str]:
        """A connection to a node, and the host.

        Each bootstrap connection begins with another address, as clients do: one that accepts and
        never answers must not be what all of them get.
        """
        addresses = [node.upstream]
        if node.id is None:
            first = self._turn = (self._turn + 1) % len(self.options.bootstrap)
            addresses = [*self.options.bootstrap[first:], *self.options.bootstrap[:first]]
        problem: OSError = ConnectionRefusedError("no address")
        for host, port in addresses:
            try:
                async with asyncio.timeout(self.options.connect_timeout):
                    for family, kind, protocol, _, address in await self._loop.getaddrinfo(
                        host, port, type=socket.SOCK_STREAM
                    ):
                        sock = socket.socket(family, kind, protocol)
                        sock.setblocking(False)
                        try:
                            await self._loop.sock_connect(sock, address)
                        except OSError as failure:
                            sock.close()
                            problem = failure
                        except BaseException:
                            sock.close()
                            raise
                        else:
                            return sock, host
            except TimeoutError:
                problem = TimeoutError(f"no answer in {self.options.connect_timeout:g} s")
            except OSError as failure:
                problem = failure
        raise problem

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
        assert self.capture is not None  # noqa: S101
        facts = {
            "connection": exchange.connection,
            "api": exchange.api,
            "version": exchange.version,
            "correlation_id": exchange.correlation_id,
            "undecodable": exchange.undecodable,
        }
        self.capture.note(clock(), facts)

    def _wake_others(self) -> None:
        """Frames of other connections may have waited for a message that has just passed."""
        ready = self._crossing.ready
        while ready:
            link = self._links.get(ready.pop())
            if link is not None:
                self._loop.call_soon(link.tick)

    def _watch_capture(self) -> None:
        """Say so, once, when the capture has stopped or loses packets; looked at now and then."""
        assert self.capture is not None  # noqa: S101
        stats = self.capture.stats
        if stats.stopped:
            self._say(f"capture: stopped, {stats.stopped}; traffic goes on, the loss is counted")
        elif stats.lost_packets:
            self._say("capture: the disk is too slow, packets are lost and counted")
        else:
            self._loop.call_later(LOOK, self._watch_capture)

    def _watch_standstill(self, standstill: Standstill) -> None:
        """Close what would stay for ever; looked at now and then."""
        for link in list(standstill.find(self._links.values(), self._loop.time())):
            name = link.connection.state.name
            self._say(f"{name}: the client has gone, and the broker stands still; closed")
            link.close()
            link.abort()
        self._loop.call_later(self.options.linger / 4, self._watch_standstill, standstill)

    def _ended(self, link: Link) -> None:
        self._links.pop(link.connection.state, None)
        for place, count in enumerate(link.received()):
            self.received[place] += count


async def _reject(client: socket.socket, reject: Reject) -> None:
    """Turn a client away."""
    if reject.how == "hang":
        await asyncio.sleep(reject.at_most / 1e9)
    elif reject.how == "reset":
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _address(name: tuple[str, int] | tuple[str, int, int, int]) -> Address:
    return name[0], name[1]


def _text(address: Address) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _reason(problem: OSError) -> str:
    if isinstance(problem, ConnectionError) and problem.errno:
        return os.strerror(problem.errno)  # the loop has put a text of its own in its place
    return problem.strerror or str(problem) or type(problem).__name__
