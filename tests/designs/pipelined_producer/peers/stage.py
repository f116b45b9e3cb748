"""A stage for playbooks: the event loop on a virtual clock, and brokers that are told what to do."""

from __future__ import annotations

import struct
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from barnabas.designs.leaders import TopicPartition
from barnabas.designs.pipelined_producer.peers import actions
from barnabas.designs.pipelined_producer.peers.actions import ReadResult, Select, WriteResult
from barnabas.designs.pipelined_producer.peers.event import UNDESIGNATED, Event, Outcome
from barnabas.designs.pipelined_producer.peers.intake import Intake
from barnabas.designs.pipelined_producer.peers.loop import Loop
from barnabas.designs.pipelined_producer.peers.serializing import PLAIN
from barnabas.designs.pipelined_producer.peers.settings import Settings
from barnabas.designs.pipelined_producer.peers.steps import STEPS, wake, wants_write
from barnabas.specs.frames import Frame, decode_frame, encode_frame, request_head
from barnabas.specs.keys import API_VERSIONS, PRODUCE
from barnabas.specs.keys import METADATA as METADATA_KEY
from barnabas.specs.records import read


class Broker:
    """One broker's side: it reads requests, and answers them in order when it is let."""

    def __init__(self, cluster: Cluster, node: int) -> None:
        self.cluster, self.node = cluster, node
        self.offered: tuple[int, int] | None = (0, 9)
        """Versions of Produce; None: it closes the connection when it is asked, as 0.8."""
        self.answering = True
        self.errors: deque[int] = deque()
        """For the next requests to produce, in turn; 0: none."""
        self.requests: list[Frame] = []


class Cluster:
    """Brokers, leaders and logs."""

    def __init__(self, nodes: int = 2, topics: dict[str, int] | None = None) -> None:
        self.brokers = {node: Broker(self, node) for node in range(1, nodes + 1)}
        self.leaders: dict[TopicPartition, int] = {}
        self.topic_errors: dict[str, int] = {}
        self.logs: dict[TopicPartition, list[bytes]] = defaultdict(list)
        for topic, partitions in (topics or {"t": 2}).items():
            for number in range(partitions):
                self.leaders[topic, number] = number % nodes + 1

    def metadata(self, names: list[str]) -> dict[str, Any]:
        topics = []
        for name in names:
            error = self.topic_errors.get(name, 0)
            parts = [
                {"partition_index": number, "leader_id": node, "error_code": 5 if node < 0 else 0}
                for (topic, number), node in self.leaders.items()
                if topic == name and not error
            ]
            error = error or (0 if parts else 5)
            topics.append({"name": name, "error_code": error, "partitions": parts})
        brokers = [{"node_id": n, "host": f"b{n}", "port": 9000 + n} for n in self.brokers]
        return {"brokers": brokers, "topics": topics}


class Wire:
    """A connection: bytes on their way in both directions."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.received = broker, bytearray()
        self.waiting: deque[bytes] = deque()
        """Requests that are not answered yet."""
        self.answers, self.closed = bytearray(), False

    def take(self, data: bytes) -> None:
        self.received += data
        while len(self.received) >= 4:
            (size,) = struct.unpack_from(">i", self.received)
            if len(self.received) < 4 + size:
                break
            self.waiting.append(bytes(self.received[4 : 4 + size]))
            del self.received[: 4 + size]

    def work(self, only: int | None = None) -> None:
        """The broker handles what it has: all, or so many requests."""
        while self.waiting and not self.closed and only != 0:
            only = None if only is None else only - 1
            self._handle(self.waiting.popleft())

    def _handle(self, data: bytes) -> None:
        broker = self.broker
        head = request_head(data, 0, len(data))
        frame = decode_frame(data, "request")
        broker.requests.append(frame)
        if head.key == API_VERSIONS:
            if broker.offered is None:
                self.closed = True
                return
            low, high = broker.offered
            key = {"api_key": PRODUCE, "min_version": low, "max_version": high}
            self._answer(frame, {"error_code": 0, "api_keys": [key]})
        elif head.key == METADATA_KEY:
            names = [topic["name"] for topic in frame.body["topics"]]
            self._answer(frame, broker.cluster.metadata(names))
        else:
            self._produce(frame)

    def _produce(self, frame: Frame) -> None:
        broker = self.broker
        told = broker.errors.popleft() if broker.errors else 0
        responses = []
        for topic in frame.body["topic_data"]:
            parts = []
            for part in topic["partition_data"]:
                place = topic["name"], part["index"]
                error = told or (0 if broker.cluster.leaders.get(place) == broker.node else 6)
                log = broker.cluster.logs[place]
                offset = -1 if error else len(log)
                if not error:
                    log += (
                        record.value or b"" for batch in read(part["records"]) for record in batch
                    )
                parts.append({"index": place[1], "error_code": error, "base_offset": offset})
            responses.append({"name": topic["name"], "partition_responses": parts})
        if frame.body["acks"]:
            self._answer(frame, {"responses": responses})

    def _answer(self, request: Frame, body: dict[str, Any]) -> None:
        header = {"correlation_id": request.header["correlation_id"]}
        self.answers += encode_frame(Frame("response", request.key, request.version, header, body))


class Stage:
    """The loop and its world. Time is in seconds and stands still unless it is told to pass."""

    def __init__(
        self,
        settings: Settings | None = None,
        cluster: Cluster | None = None,
        *,
        chunk: int = 1 << 20,
        bootstrap: tuple[int, ...] = (1,),
        **loop: Any,
    ) -> None:
        self.settings = settings or Settings()
        self.cluster = cluster or Cluster()
        self.intake = Intake(self.settings, serializers=loop.get("serializers", PLAIN))
        asked = [(f"b{node}", 9000 + node) for node in bootstrap]
        self.loop = Loop(asked, self.settings, self.intake, **loop)
        self.now = 1000.0
        self.outcomes: list[Outcome] = []
        self.wires: dict[int, Wire] = {}
        self.refused: set[int] = set()
        """Brokers to which no connection can be made."""
        self.unwritable: set[int] = set()
        self.closes: list[int] = []

        self._connecting: dict[int, tuple[str, int]] = {}
        self._chunk = chunk

    def send(
        self,
        value: bytes,
        key: bytes | None = None,
        topic: str = "t",
        partition: int = UNDESIGNATED,
    ) -> Event:
        event = Event(topic, key, value, self.now, partition)
        self.intake.put(event)
        return event

    def send_numbered(self, count: int, **where: Any) -> None:
        for value in numbered(count):
            self.send(value, **where)

    def turn(self) -> bool:
        """One round of the loop; whether anything moved."""
        moved = False
        for _, step in STEPS:
            if step is Select.READABLE:
                self.loop.heard = self._readable()
                self.loop.now = self.now
                moved |= bool(self.loop.heard.arrived or self.loop.heard.lost)
            elif step is Select.WRITABLE:
                self.loop.takes = self._writable()
                moved |= bool(self.loop.takes.connected)
            else:
                moved |= self.do(step)
        return moved

    def do(self, step: Callable[[Loop], None]) -> bool:
        """One step, and what it wants done; whether that was anything."""
        actions = self.loop.do(step)
        for action in actions:
            self._do(action)
        return bool(actions)

    def _readable(self) -> ReadResult:
        lost: set[int] = set()
        for node, (_, port) in list(self._connecting.items()):
            if port - 9000 in self.refused or port - 9000 not in self.cluster.brokers:
                lost.add(node)
                del self._connecting[node]
        arrived: dict[int, bytes] = {}
        for node, wire in self.wires.items():
            if wire.broker.answering:
                wire.work()
            if wire.answers:
                arrived[node] = bytes(wire.answers[: self._chunk])
                del wire.answers[: self._chunk]
            elif wire.closed:
                lost.add(node)
        return ReadResult(arrived, lost)

    def _writable(self) -> WriteResult:
        connected = list(self._connecting)
        for node, (_, port) in self._connecting.items():
            self.wires[node] = Wire(self.cluster.brokers[port - 9000])
        self._connecting.clear()
        return WriteResult(self._ready(), connected)

    def _do(self, action: Any) -> None:
        match action:
            case actions.Connect(node, address):
                assert node not in self.wires
                self._connecting[node] = address
            case actions.Write(node, data):
                taken = 0 if node in self.unwritable else min(len(data), self._chunk)
                self.wires[node].take(bytes(data[:taken]))
                self.loop.wrote(node, taken)
            case actions.Close(node):
                self.wires.pop(node, None)
                self._connecting.pop(node, None)
                self.closes.append(node)
            case actions.Report(outcome):
                self.intake.over(1)
                self.outcomes.append(outcome)

    def settle(self) -> None:
        """Turns, until nothing moves at this moment."""
        for _ in range(5_000):
            moved = self.turn() or bool(self._ready())
            configured = self.do(Loop.configure_connections)  # it comes before the next wait
            if not configured and not moved:
                return
        raise AssertionError("it never comes to rest")

    def _ready(self) -> set[int]:
        """Connections for which select would return at once."""
        return {node for node in wants_write(self.loop) if node in self.wires} - self.unwritable

    def wait(self, ms: float) -> None:
        """Let time pass; the loop wakes exactly when it wants to."""
        until = self.now + ms / 1e3
        self.settle()
        while (due := wake(self.loop)) is not None and due <= until:
            assert due >= self.now
            self.now = due
            self.settle()
        self.now = until
        self.settle()

    def cut(self, node: int) -> None:
        """A broker's connection ends; what it had not handled is lost."""
        self.wires[node].waiting.clear()
        self.wires[node].answers.clear()
        self.wires[node].closed = True

    @property
    def acknowledged(self) -> list[bytes]:
        return [one.event.value for one in self.outcomes if one.problem is None]

    @property
    def problems(self) -> dict[bytes, str]:
        return {one.event.value: one.problem for one in self.outcomes if one.problem is not None}

    def requests(self, node: int, key: int = PRODUCE) -> list[Frame]:
        return [frame for frame in self.cluster.brokers[node].requests if frame.key == key]


def silent_stage(settings: Settings | None = None, **loop: Any) -> Stage:
    """One broker with one partition has acknowledged a first message, and is silent from now on."""
    stage = Stage(settings, Cluster(1, {"t": 1}), **loop)
    stage.send(b"first")
    stage.settle()
    stage.cluster.brokers[1].answering = False
    return stage


def numbered(count: int) -> Iterator[bytes]:
    return (b"%d" % number for number in range(count))


def parts(frame: Frame) -> dict[TopicPartition, int]:
    """The partitions of a Produce request, and how many records each has."""
    return {
        (topic["name"], part["index"]): sum(1 for batch in read(part["records"]) for _ in batch)
        for topic in frame.body["topic_data"]
        for part in topic["partition_data"]
    }
