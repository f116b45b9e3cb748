"""What counts as an answer, against listeners that answer what a test says."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from barnabas.peers.apache import probe
from barnabas.specs import Frame, decode_frame, encode_frame

Serve = Callable[[bytes], int]

BROKERS = [{"node_id": 1, "host": "127.0.0.1", "port": 1}, {"node_id": 2, "host": "h", "port": 2}]
ASKED: list[bytes] = []


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Gives every client these bytes once it has said something; gives the port."""
    ASKED.clear()
    running: list[tuple[socket.socket, threading.Thread]] = []

    def run(listener: socket.socket, answer: bytes) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                ASKED.append(connection.recv(1000))
                connection.sendall(answer)

    def start(answer: bytes) -> int:
        listener = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=run, args=(listener, answer))
        thread.start()
        running.append((listener, thread))
        port: int = listener.getsockname()[1]
        return port

    yield start
    for listener, thread in running:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def answer(version: int, **body: Any) -> bytes:
    fields: dict[str, Any] = {"brokers": BROKERS, "topics": [], **body}
    return encode_frame(Frame("response", 3, version, {"correlation_id": 1}, fields))


def topic(error: int = 0, leader: int = 1) -> dict[str, Any]:
    part = {"error_code": 0, "partition_index": 0, "leader_id": leader}
    return {
        "error_code": error,
        "name": probe.TOPIC,
        "partitions": [part | {"replica_nodes": [1], "isr_nodes": [1]}],
    }


WHOLE = answer(1, controller_id=2)
ANSWERS = [
    ((4, 3, 1), WHOLE, {1, 2}),
    ((0, 10, 2, 1), WHOLE, {1, 2}),
    *(((3, 9, 1), answer(1, controller_id=one), set()) for one in (-1, 3)),
    ((3, 9, 1), answer(1, controller_id=1, brokers=[]), set()),
    ((0, 9, 0, 1), answer(0), {1, 2}),
    ((0, 9, 0, 1), answer(0, topics=[topic(error=5)]), {1, 2}),
    ((0, 8, 2, 2), answer(0, topics=[topic()]), {1, 2}),
    ((0, 8, 2, 2), answer(0, topics=[topic(error=5)]), set()),
    ((0, 8, 2, 2), answer(0, topics=[topic(leader=-1)]), set()),
    *(((3, 9, 1), cut, set()) for cut in (WHOLE[:-1], b"\x00\x00", b"")),
    *(((3, 9, 1), size, set()) for size in (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff")),
    ((3, 9, 1), struct.pack(">ii", 4, 1), set()),
]


@pytest.mark.parametrize(("kafka", "body", "found"), ANSWERS)
def test_a_broker_counts_when_it_knows_the_others(
    serve: Serve, kafka: tuple[int, ...], body: bytes, found: set[int]
) -> None:
    assert probe.brokers(serve(body), kafka) == found


@pytest.mark.parametrize(("kafka", "version", "topics"), [
    ((4, 3, 1), 1, []),
    ((0, 10, 0, 0), 1, []),
    ((0, 9, 0, 1), 0, []),
    ((0, 8, 2, 2), 0, [{"name": probe.TOPIC}]),
])  # fmt: skip
def test_it_is_asked_what_its_version_understands(
    serve: Serve, kafka: tuple[int, ...], version: int, topics: list[Any]
) -> None:
    probe.brokers(serve(b""), kafka)
    frame = decode_frame(ASKED[0][4:], "request")
    assert (frame.key, frame.version, frame.body["topics"]) == (3, version, topics)


def test_nobody_there_is_no_broker_and_no_zookeeper() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert probe.brokers(port, (3, 9, 1)) == set()
    assert not probe.keeps(port)
    assert not probe.registered(port, 1)


def test_who_does_not_answer_is_not_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert probe.brokers(listener.getsockname()[1], (3, 9, 1), timeout=0.05) == set()


@pytest.mark.parametrize(
    ("said", "there"), [(b"imok", True), (b"HTTP/1.1 400", False), (b"", False)]
)
def test_only_zookeeper_is_zookeeper(serve: Serve, said: bytes, there: bool) -> None:
    assert probe.keeps(serve(said)) is there
    assert ASKED == [b"ruok"]


DUMP = b"Sessions with Ephemerals (1):\n0x100:\n\t/controller\n\t/brokers/ids/12\n"


@pytest.mark.parametrize(("node", "there"), [(12, True), (1, False), (2, False)])
def test_a_broker_is_registered_under_its_own_id(serve: Serve, node: int, there: bool) -> None:
    assert probe.registered(serve(DUMP), node) is there
    assert ASKED == [b"dump"]
