"""Produce, Fetch and Offsets in front of another core: answers, what waits, and what is closed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.designs.brokers.listener import Close, Send
from barnabas.designs.brokers.logs.broker import FRAME_LIMIT, QUEUE_LIMIT, RECORDS, LogBroker
from barnabas.designs.brokers.logs.files import Logs
from barnabas.designs.brokers.logs.log import Log
from barnabas.designs.dialogue import Dialogue
from barnabas.designs.leaders import TopicPartition, metadata
from barnabas.designs.protocol_guide.client_0_8 import EARLIEST, LATEST, Message, requests
from barnabas.specs.keys import FETCH, LIST_OFFSETS, METADATA, PRODUCE

REGISTER = 6


class Other:
    """A core that says what it gets, and owes answers to whom it is told."""

    def __init__(self) -> None:
        self.wake: int | None = None
        self.heard: list[bytes] = []
        self.owes: set[int] = set()
        self.closes = False
        self.gone: list[int] = []

    def connected(self, connection: int, host: str) -> None:
        pass

    def receive(self, connection: int, data: bytes, now: int) -> list[Any]:
        self.heard.append(data)
        return [Close(connection, "no")] if self.closes else []

    def closed(self, connection: int, now: int) -> list[Any]:
        self.gone.append(connection)
        return []

    def tick(self, now: int) -> list[Any]:
        return []


class Table:
    """A broker with a topic t of two partitions, of which it leads the first, and clients' dialogues."""

    def __init__(self, folder: Path) -> None:
        self.logs = Logs(folder)
        self.logs.lead([("t", 0)])
        self.other = Other()
        self.broker = LogBroker(
            self.other,
            self.logs,
            2,
            keys=RECORDS | {METADATA},
            becomes=REGISTER,
            waits=lambda connection: connection in self.other.owes,
        )
        self.broker.cluster({1: ("h", 9), 2: ("i", 8)}, {"t": 2})
        self.now = 0
        self.dialogues: dict[int, Dialogue] = {}
        self.closed: dict[int, str] = {}

    @property
    def log(self) -> Log:
        found = self.logs.get(("t", 0))
        assert found is not None
        return found.log

    def ask(self, connection: int, key: int, body: Any, *, answered: bool = True) -> None:
        if connection not in self.dialogues:
            self.dialogues[connection] = Dialogue("c")
            self.broker.connected(connection, "")
        data = self.dialogues[connection].ask(key, 0, body, answered=answered)
        self.take(self.broker.receive(connection, data, self.now))

    def take(self, actions: list[Any]) -> None:
        for action in actions:
            if isinstance(action, Send):
                self.dialogues[action.connection].feed(action.data)
            else:
                assert isinstance(action, Close)
                self.closed[action.connection] = action.reason

    def answers(self, connection: int) -> list[Any]:
        return [one.body for one in self.dialogues[connection].answers()]

    def produce(self, *values: bytes, connection: int = 1, acks: int = 1, at: int = 0) -> None:
        sets = {("t", at): [Message(None, value) for value in values]}
        body = requests.produce(sets, acks, 100, "none")
        self.ask(connection, PRODUCE, body, answered=acks != 0)

    def fetch(self, connection: int, offset: int, *, wait: int = 100, least: int = 1) -> None:
        positions = {("t", 0): offset}
        body = requests.fetch(positions, max_wait_ms=wait, min_bytes=least, max_bytes=1000)
        self.ask(connection, FETCH, body)

    def fetched(self, connection: int, offset: int) -> list[tuple[int, bytes | None]]:
        (body,) = self.answers(connection)
        found = requests.fetched(body, {("t", 0): offset})[("t", 0)]
        assert found.error == 0
        return [(at, message.value) for at, message in found.messages]


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    found = Table(tmp_path)
    yield found
    found.logs.close()


def test_errors_of_partitions_stand_in_their_places(table: Table) -> None:
    sets = {("t", 1): [Message(None, b"a")], ("t", 2): [Message(None, b"a")]}
    table.ask(1, PRODUCE, requests.produce(sets, 1, 100, "none"))
    bad: dict[TopicPartition, bytes] = {("t", 0): b"no messages", ("x", 0): b""}
    table.ask(1, PRODUCE, requests.produce_bytes(bad, 1, 100))
    found = [requests.produced(body) for body in table.answers(1)]
    assert {place: one.error for body in found for place, one in body.items()} == {
        ("t", 1): 6,
        ("t", 2): 3,
        ("t", 0): 2,
        ("x", 0): 3,
    }


def test_offsets_are_told(table: Table) -> None:
    table.produce(b"a", b"b")
    table.answers(1)
    for time, count, told in (
        (LATEST, 2, (2, 0)),
        (LATEST, 1, (2,)),
        (EARLIEST, 1, (0,)),
        (5, 1, ()),
    ):
        table.ask(1, LIST_OFFSETS, requests.offsets({("t", 0): time}, count))
        assert requests.offsets_found(*table.answers(1))[("t", 0)].offsets == told


def test_metadata_names_leaders(table: Table) -> None:
    table.ask(1, METADATA, metadata(["t", "x"]))
    (body,) = table.answers(1)
    told, unknown = body["topics"]
    assert [one["leader_id"] for one in told["partitions"]] == [1, 2]
    assert unknown["error_code"] == 3


def test_a_fetch_waits_for_a_record_and_what_is_behind_it_waits_too(table: Table) -> None:
    table.fetch(1, 0)
    table.ask(1, METADATA, metadata([]))
    assert table.answers(1) == []
    assert table.broker.wake == 100
    table.produce(b"a", connection=2)
    first, second = table.answers(1)
    assert first["responses"][0]["partitions"][0]["records"]
    assert second["topics"][0]["name"] == "t"


def test_a_fetch_waits_for_as_many_bytes_as_it_wants_until_it_is_late(table: Table) -> None:
    table.fetch(1, 0, least=60)
    table.produce(b"a", connection=2)
    assert table.answers(1) == []
    table.now = 99
    table.take(table.broker.tick(table.now))
    assert table.answers(1) == []
    table.now = 100
    table.take(table.broker.tick(table.now))
    assert table.fetched(1, 0) == [(0, b"a")]


def test_a_fetch_that_asks_twice_for_a_partition_does_not_wait(table: Table) -> None:
    body = requests.fetch({("t", 0): 0}, max_wait_ms=100, min_bytes=1, max_bytes=9)
    body["topics"][0]["partitions"] *= 2
    table.ask(1, FETCH, body)
    (answer,) = table.answers(1)
    assert [one["error_code"] for one in answer["responses"][0]["partitions"]] == [0, 0]


def test_a_consumer_that_has_registered_only_answers(table: Table) -> None:
    table.broker.connected(1, "")
    frames = [REGISTER.to_bytes(2), bytes(2)]  # the second is an answer without an error
    for frame in frames:
        assert table.broker.receive(1, len(frame).to_bytes(4) + frame, 0) == []
    assert table.other.heard == [len(frame).to_bytes(4) + frame for frame in frames]


def test_a_request_for_records_behind_one_that_waits_elsewhere_is_closed(table: Table) -> None:
    table.other.owes.add(1)
    table.fetch(1, 0)
    assert "behind one that waits" in table.closed[1]
    assert table.other.gone == [1]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("7fffffff", "a frame of"),
        ("00000004 0001 0000", "header is cut off"),
        ("0000000a 0001 0001 00000000 ffff", "version 1 is not spoken here"),
        ("0000000a 0001 0000 00000000 ffff", "no request"),
    ],
)
def test_bad_input_costs_its_connection_and_no_other(table: Table, data: str, said: str) -> None:
    table.broker.connected(9, "")
    table.take(table.broker.receive(9, bytes.fromhex(data), 0))
    assert said in table.closed[9]
    assert table.broker.receive(9, bytes.fromhex(data), 0) == []
    table.produce(b"a")
    assert table.answers(1)


def test_too_much_behind_a_fetch_that_waits_is_closed(table: Table) -> None:
    table.fetch(1, 0)
    frame = FRAME_LIMIT.to_bytes(4) + bytes(FRAME_LIMIT)
    for _ in range(QUEUE_LIMIT // FRAME_LIMIT + 1):
        table.take(table.broker.receive(1, frame, 0))
    assert "behind a Fetch" in table.closed[1]


@given(st.binary(max_size=60), st.integers(0, 3))
def test_any_bytes_get_an_answer_or_are_closed(data: bytes, key: int) -> None:
    broker = LogBroker(Other(), NOTHING, 1, keys=RECORDS | {METADATA})
    broker.connected(1, "")
    frame = key.to_bytes(2) + bytes(2) + data
    for action in broker.receive(1, len(frame).to_bytes(4) + frame, 0):
        assert isinstance(action, Send | Close)


class _Nothing:
    def get(self, place: TopicPartition) -> None:
        return None


NOTHING = _Nothing()
