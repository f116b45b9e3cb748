from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from operator import itemgetter

import pytest

from barnabas.fuzz.cases.observation import REPLY_LIMIT
from barnabas.fuzz.targets.connections import BACKLOG, Connections
from barnabas.fuzz.targets.flow import Flow
from barnabas.fuzz.targets.reply_reader import ReplyReader
from barnabas.specs.keys import METADATA, PRODUCE
from tests.fuzz.observed import ASK, case, request, response

ANSWER = response(METADATA, 1, {"brokers": [], "controller_id": -1, "topics": []})
SILENT = request(PRODUCE, 3, {"acks": 0, "timeout_ms": 1, "topic_data": []})


@pytest.fixture
def broker() -> Iterator[tuple[str, int]]:
    def serve(taken: socket.socket) -> None:
        with taken, taken.makefile("rwb") as stream:
            while size := stream.read(4):
                asked = stream.read(int.from_bytes(size))
                if asked[:2] == METADATA.to_bytes(2):
                    answer = asked[4:8] + ANSWER[4:]
                    stream.write(len(answer).to_bytes(4) + answer)
                    stream.flush()

    def accept() -> None:
        while True:
            try:
                taken, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(taken,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()
        listener.shutdown(socket.SHUT_RDWR)


def test_a_connection_is_left_behind_on_which_a_request_was_told_nothing(
    broker: tuple[str, int],
) -> None:
    connections = Connections(1)
    connections.aim(broker)
    cases = [
        case(*chunks, number=number)
        for number, chunks in enumerate([(ASK,), (ASK,), (SILENT,), (ASK,), (SILENT, ASK), (ASK,)])
    ]
    placed = Flow(connections, cases, timeout=0.3).some(len(cases))
    connections.close()
    seen = [observation for _, observation in sorted(placed, key=itemgetter(0))]
    assert [len(one.replies) for one in seen] == [1, 1, 0, 1, 1, 1]
    assert [one.ending for one in seen] == ["open"] * 6
    reused = [dict(one.facts).get("reused", False) for one in seen]
    assert reused == [False, True, True, False, True, False]


@pytest.fixture
def connections() -> Iterator[Connections]:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        found = Connections(32)
        found.aim(listener.getsockname())
        yield found
        found.close()


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is taken by itself, however long dialling takes."""
    monkeypatch.setattr("barnabas.fuzz.targets.connections.SETTLED_S", 3600.0)


@pytest.mark.usefixtures("unsettled")
def test_no_more_wait_to_be_taken_than_a_short_backlog_holds(connections: Connections) -> None:
    for _ in range(BACKLOG):
        assert connections.may_dial()
        assert connections.dial() is not None
    assert not connections.may_dial()


def test_what_does_not_fit_is_closed_on_the_way(connections: Connections) -> None:
    for name in ("join", "", "share"):
        connection = connections.dial()
        assert connection is not None
        connection.session = name
        connections.idle.append(connection)
    found = connections.take_fitting(lambda connection: not connection.session)
    assert found is not None
    assert not found.dropped
    assert [connection.session for connection in connections.idle] == ["join"]
    assert connections.take_fitting(lambda connection: False) is None
    assert connections.idle == []


REPLIES = [b"one!", b"", b"a third reply"]


STREAM = b"".join(len(one).to_bytes(4, "big") + one for one in REPLIES)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7, 1000])
def test_replies_are_the_same_in_whatever_pieces_they_come(step: int) -> None:
    reader = ReplyReader()
    for at in range(0, len(STREAM), step):
        reader.receive(STREAM[at : at + step])
    assert reader.replies == REPLIES
    assert not reader.midway


def test_a_negative_size_ends_what_can_be_understood() -> None:
    reader = ReplyReader()
    reader.receive(b"\xff\xff\xff\xfe" + STREAM)
    assert reader.garbled
    assert reader.replies == []


def test_a_large_reply_is_cut_and_the_next_one_is_whole() -> None:
    reader = ReplyReader()
    size = REPLY_LIMIT * 3
    reader.receive(size.to_bytes(4, "big") + b"x" * 100)
    left = size - 100
    while left:
        step = min(left, 1 << 20)
        reader.receive(b"y" * step)
        left -= step
    reader.receive(STREAM)
    assert list(map(len, reader.replies)) == [REPLY_LIMIT, *map(len, REPLIES)]
