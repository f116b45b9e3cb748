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
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final

from barnabas.captures.addresses import endpoint_text
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.wording import plural
from barnabas.captures.summary.api_stats import Tally
from barnabas.captures.writing.masked_flow import MaskedFlow
from barnabas.proxy.connection.connection import Connection
from barnabas.proxy.connection.shared_state import Crossing
from barnabas.proxy.connection.state import State
from barnabas.proxy.connection.totals import Totals
from barnabas.proxy.edits.edits import explain
from barnabas.proxy.edits.topology import Address, Node, NoPort, Topology
from barnabas.proxy.fastpath.plan import Plan
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.read_buffers import BUFFER, Buffers
from barnabas.proxy.network.reaper import Standstill
from barnabas.proxy.network.relay import Link, clock
from barnabas.proxy.network.sockets import address_of, dial, listen, reason_of, turn_away
from barnabas.proxy.network.topic_name_client import topic_names
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.lint.notes import remarks
from barnabas.proxy.scenario.model import Scenario
from barnabas.proxy.topic_names.names import TopicNames
from barnabas.proxy.topic_names.questions import Questions
from barnabas.specs.codec.budget import BUDGET
from barnabas.specs.jsonform import uuid_text
from barnabas.specs.malformed import Malformed

if TYPE_CHECKING:
    from barnabas.captures.writing.writer import CaptureWriter


FLUSH = 1.0
"""Seconds that sockets get to send what was written before they are closed for good."""

COPIES: Final = 4
"""How often a frame is in memory at most: collected, whole, its body, and what was made of it."""

LOOK = 0.5
"""Seconds between two looks at whether the capture still works, or connections can be accepted."""

QUIET = 30.0
"""Seconds for which it is not said again that they can't."""


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
        self.tally = Tally()
        self.totals = Totals()
        self.received = [0, 0]
        """Bytes of connections that are closed: from clients, from brokers."""
        self.past: Counter[str] = Counter()
        """How often each fault struck by rules that are gone."""
        self.draining = False
        self._until = 0.0
        """When what is under way has had its time, on the loop's clock."""
        self.observed = options.observed
        """Whether every exchange is handed to `done` just now."""
        self.topology = Topology(self._open)
        self.address: Address = options.listen
        self._done = done
        self._say = say
        self._plan = self._planned()
        self._crossing = Crossing(topics)
        self._buffers = Buffers()
        self._links: dict[State, Link] = {}
        self._listeners: list[socket.socket] = []
        self._unsaid = 0
        """How often no connection could be accepted, and nothing was said of it."""
        self._quiet_until = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._used: set[int] = set()
        self._asking: asyncio.Task[None] | None = None
        self._attempts: Counter[int | None] = Counter()
        self._turn = -1
        """Which bootstrap address the last connection began with."""
        self._loop: asyncio.AbstractEventLoop

    async def start(self) -> None:
        """Listen. Raises OSError if the address can't be had."""
        self._loop = asyncio.get_running_loop()
        for line in (*self.explain(), *remarks(self.rules.scenario)):
            self._say(line)
        listener = listen(self.options.listen)
        self.address = address_of(listener.getsockname())
        node = Node(None, None, self.options.bootstrap[0], self.address)
        self._serve(listener, node)
        if self.capture is not None:
            self._watch_capture()
        self._watch_standstill(Standstill(self.options.linger))

    def explain(self) -> list[str]:
        """A line for each thing that it does without a rule, and for what bounds its memory."""
        limits = self.options.limits
        per_side = (COPIES * limits.frame + 2 * limits.queued) >> 20
        return [
            *explain(self.options.offer),
            *self._advertised(),
            *self.options.tls.explain(),
            *self.options.masking.explain(),
            f"memory: a connection keeps at most {per_side} MiB in each direction "
            f"(one frame of {limits.frame >> 20} MiB, up to {COPIES} times while it is read and changed; "
            f"{limits.queued >> 20} MiB that wait, and their bodies); what is decoded of a message, and "
            f"its JSON form, take at most {2 * BUDGET >> 20} MiB: larger ones are not, and counted; "
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
            quotes=self.options.masking.key is None,
        )

    def refuse(self) -> None:
        """Listen no more: who comes now is refused."""
        for listener in self._listeners:
            self._loop.remove_reader(listener)
            listener.close()
        self._listeners.clear()

    async def stop(self) -> None:
        """Listen no more, let what is under way finish for a while, close everything."""
        self.refuse()
        self.draining = True
        for link in self._links.values():
            link.resume()
        self._until = self._loop.time() + self.options.drain
        while self._loop.time() < self._until:
            if all(link.connection.idle for link in self._links.values()):
                break
            await asyncio.sleep(0.01)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        links = list(self._links.values())
        for link in links:
            link.close()
        while any(link.open for link in links) and self._loop.time() < self._until + FLUSH:  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # what was written is still on its way
        for link in links:
            link.abort()
        if self.capture is not None:
            self.capture.close()
            self._look_at_segments()

    def hurry(self) -> None:
        """Let what is under way have no more time, while the proxy stops."""
        self._until = min(self._until, self._loop.time())

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._links)

    @property
    def links(self) -> Collection[Link]:
        """The connections that are open."""
        return self._links.values()

    @property
    def topics(self) -> TopicNames:
        """The names of topics, by id."""
        return self._crossing.topics

    @property
    def questions(self) -> Questions:
        """Which of them rules lack, and why."""
        return self._crossing.questions

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
        self.questions.forget()  # what the others want they will say
        for link in list(self._links.values()):
            link.replace(self._plan)
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
        for link in list(self._links.values()):
            link.release(rule)

    def _note(self, comment: dict[str, Any], now: int | None = None) -> None:
        """For the capture, if there is one: what happened to no connection alone."""
        if self.capture is not None:
            self.capture.note(clock() if now is None else now, comment)

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
                listener = listen((host, port))
            except OSError:
                continue
            address = address_of(listener.getsockname())
            self._used.add(address[1])
            node.listen = address
            self._serve(listener, node)
            told = self.options.advertise or address[0]
            where = {"kind": node.kind, "node": node.id, "host": told, "port": address[1]}
            self._note({"barnabas": "listener", **where})
            return address
        first, last = ports[0], ports[-1]
        raise NoPort(
            f"no port is free in {first}-{last} for {node.name} ({node.place}): "
            "widen --broker-ports"
        )

    def _serve(self, listener: socket.socket, node: Node) -> None:
        listener.setblocking(False)
        self._listeners.append(listener)
        self._loop.add_reader(listener, self._accept, listener, node)
        self._say(f"listening on {endpoint_text(node.listen)} for {node.name} at {node.place}")

    def _accept(self, listener: socket.socket, node: Node) -> None:
        while True:
            try:
                client, peer = listener.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as problem:
                # no descriptors left, mostly: trying again at once would only spin
                self._not_accepted(node, problem)
                self._loop.remove_reader(listener)
                self._loop.call_later(LOOK, self._accept_again, listener, node)
                return
            client.setblocking(False)
            task = self._loop.create_task(self._connect(client, address_of(peer), node))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _not_accepted(self, node: Node, problem: OSError) -> None:
        """Say it now and then only: it may go on for hours, several times a second."""
        self._unsaid += 1
        if self._loop.time() >= self._quiet_until:
            self._quiet_until = self._loop.time() + QUIET
            more = f" ({self._unsaid} times since it was last said)" if self._unsaid > 1 else ""
            self._say(
                f"{endpoint_text(node.listen)}: can't accept connections: {problem.strerror}; "
                f"they wait{more}"
            )
            self._unsaid = 0

    def _accept_again(self, listener: socket.socket, node: Node) -> None:
        if listener in self._listeners:
            self._loop.add_reader(listener, self._accept, listener, node)

    async def _connect(self, client: socket.socket, peer: Address, node: Node) -> None:
        """Reach the broker, then let the two talk; what the client sends meanwhile waits in the kernel."""
        self.totals.connections += 1
        number = self.totals.connections
        name = f"connection {number} ({endpoint_text(peer)})"
        with contextlib.ExitStack() as unless_linked:
            unless_linked.callback(client.close)
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
            unless_linked.callback(broker.close)
            try:
                link = self._link(number, client, broker, peer, node)
                # cancelled, uvloop closes a side and tells nobody
                unless_linked.callback(link.close)
                await link.attach(client, broker, *self._contexts(node, host, client))
            except Exception as problem:  # noqa: BLE001 - whatever it is costs this connection only
                # mostly TLS failed, or the client is gone already
                why = reason_of(problem) if isinstance(problem, OSError) else repr(problem)
                self._say(f"{name}: {why}; closed")
                return
            unless_linked.pop_all()

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

    def _link(
        self, number: int, client: socket.socket, broker: socket.socket, peer: Address, node: Node
    ) -> Link:
        """The two sockets of a connection, and the protocol logic between them."""
        here = address_of(client.getsockname())
        connection = Connection(
            number,
            client=endpoint_text(peer),
            broker=node.id,
            plan=self._plan,
            crossing=self._crossing,
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
        ready = self._crossing.ready
        while ready:
            link = self._links.get(ready.pop())
            if link is not None:
                self._loop.call_soon(link.tick)
        if self._crossing.questions and self._asking is None and not self.draining:
            self._asking = self._loop.create_task(self._ask())
            self._tasks.add(self._asking)
            self._asking.add_done_callback(self._asked)

    def _asked(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._asking = None

    async def _ask(self) -> None:
        """Learn the names of topics that rules lack, from a broker, for as long as any are lacking."""
        questions, topics = self.questions, self.topics
        while questions:
            await asyncio.sleep(questions.pause(clock()) / 1e9)
            ids = questions.next(topics, clock())
            if not ids:
                continue
            try:
                if any(state.sasl.mechanism for state in self._crossing.states):
                    raise OSError("they want SASL, and only their clients can say who they are")
                tls = self.options.tls
                names = await topic_names(
                    ids,
                    self._addresses(None),
                    None if tls.broker is None else (tls.broker, tls.server_name),
                    patience=self.options.connect_timeout,
                    largest=self.options.limits.frame,
                )
            except (OSError, Malformed) as problem:
                reason = reason_of(problem) if isinstance(problem, OSError) else str(problem)
                reason = f"the brokers can't be asked for it: {reason}"
                if questions.failed(reason, clock()):
                    self._say(
                        f"a rule lacks the name of a topic id: {reason}; "
                        "it is known when a client next asks for Metadata"
                    )
            else:
                topics.update(names)
                now = clock()
                questions.answered(ids, names, now)
                told = {uuid_text(topic): name for topic, name in names.items()}
                self._note({"barnabas": "topics", "names": told}, now)

    def _watch_capture(self, said: str = "") -> None:
        """Say which segments were closed, and once if it has stopped or loses packets."""
        assert self.capture is not None  # noqa: S101
        self._look_at_segments()
        stats = self.capture.stats
        trouble = ""
        if stats.stopped:
            trouble = f"capture: stopped, {stats.stopped}; traffic goes on, the loss is counted"
        elif stats.lost_packets:
            trouble = "capture: the disk is too slow, packets are lost and counted"
        if trouble and not said:
            self._say(trouble)
        self._loop.call_later(LOOK, self._watch_capture, said or trouble)

    def _look_at_segments(self) -> None:
        if self.capture is not None:
            for path in self.capture.look(clock()):
                self._say(f"capture: {path} is closed")

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
