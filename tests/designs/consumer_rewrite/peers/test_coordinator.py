"""What a coordinator answers: frames in, frames out, on a virtual clock."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from barnabas.designs.brokers.listener import Close, Log, Send
from barnabas.designs.consumer_rewrite.peers.actions import Load, Write
from barnabas.designs.consumer_rewrite.peers.answers import METADATA_LIMIT, METADATA_TOO_LARGE
from barnabas.designs.consumer_rewrite.peers.coordinator import Broker, slot_of
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings
from barnabas.designs.consumer_rewrite.peers.wire import error_name, read_response, request
from barnabas.designs.consumer_rewrite.states import (
    CATCH_UP,
    DOWN,
    PREPARE,
    READY,
    REBALANCING,
    STEADY,
)
from barnabas.designs.leaders import UNKNOWN_TOPIC_OR_PARTITION
from tests.designs.messages import JOIN

SLOT = slot_of("g", 8)


class Table:
    """A broker and what it says."""

    def __init__(self, *, loaded: bool = True) -> None:
        ids = itertools.count()
        self.broker = Broker(1, BrokerSettings(), new_id=lambda: str(next(ids)))
        self.broker.topics({"t": 2}, 0)
        self.now = 0
        self.actions: list[Any] = []
        self.asked: dict[int, list[str]] = {}
        if loaded:
            assert self.broker.elected(SLOT) == [Load(SLOT)]
            self.broker.loaded(SLOT, {}, 0)

    def ask(self, connection: int, api: str, **body: Any) -> None:
        if connection not in self.asked:
            self.asked[connection] = []
            self.broker.connected(connection, f"host-{connection}")
        self.asked[connection].append(api)
        group = {} if api == "Metadata" else {"group_id": "g"}
        data = request(api, len(self.asked[connection]), "test", group | body)
        self.actions += self.broker.receive(connection, data, self.now)

    def join(self, connection: int, consumer_id: str = "", **fields: Any) -> None:
        body = JOIN | {"session_timeout": 1_000, "consumer_id": consumer_id}
        self.ask(connection, "JoinGroup", **(body | fields))

    def beat(self, connection: int, consumer_id: str, generation: int) -> str:
        self.ask(connection, "Heartbeat", group_generation_id=generation, consumer_id=consumer_id)
        return self.error(connection)

    def commit(self, connection: int, consumer_id: str, generation: int, **row: Any) -> str:
        return error_name(self.commit_code(connection, consumer_id, generation, **row))

    def commit_code(self, connection: int, consumer_id: str, generation: int, **row: Any) -> int:
        one = {"partition": 0, "offset": 7, "timestamp": 1, "metadata": ""} | row
        topics = [{"topic": "t", "partitions": [one]}]
        who = {"group_generation_id": generation, "consumer_id": consumer_id}
        self.ask(connection, "OffsetCommit", **who, topics=topics)
        body = self.response(connection)
        return int(body["responses"][0]["partition_responses"][0]["error_code"])

    def response(self, connection: int) -> dict[str, Any]:
        """The next response of a connection."""
        self.write()
        found, *_ = self.sent(connection)
        self.actions.remove(found)
        return read_response(found.data[4:], self.asked[connection].pop(0))[1]

    def error(self, connection: int) -> str:
        return error_name(self.response(connection)["error_code"])

    def write(self) -> list[Write]:
        """Do the writes there are."""
        done = [one for one in self.actions if isinstance(one, Write)]
        for one in done:
            self.actions.remove(one)
            self.actions += self.broker.written(one.group, self.now)
        return done

    def sent(self, connection: int) -> list[Send]:
        sends = [one for one in self.actions if isinstance(one, Send)]
        return [one for one in sends if one.connection == connection]

    def pass_time(self, ms: int) -> None:
        self.now += ms
        self.actions += self.broker.tick(self.now)

    @property
    def state(self) -> str:
        return self.broker.state("g")


def two(count: int = 2) -> Table:
    """g-0 on connection 1 and g-1 on 2, in generation 2, each with half of the partitions."""
    table = Table()
    table.broker.topics({"t": count}, 0)
    table.join(1)
    assert table.response(1)["consumer_id"] == "g-0"
    table.join(2)
    assert table.beat(1, "g-0", 1) == "IllegalGeneration"
    table.join(1, "g-0")
    first, second = table.response(1), table.response(2)
    assert (first["group_generation_id"], second["group_generation_id"]) == (2, 2)
    for one, share in ((first, range(count // 2)), (second, range(count // 2, count))):
        assert one["assigned_partitions"] == [{"topic": "t", "partitions": [*share]}]
    assert second["consumer_id"] == "g-1"
    return table


@pytest.fixture
def table() -> Table:
    return two()


def lose_the_second(table: Table) -> None:
    """A session's time passes without a heartbeat of g-1."""
    table.pass_time(500)
    assert table.beat(1, "g-0", 2) == "NONE"
    table.pass_time(500)


def test_generations_of_commits_and_heartbeats(table: Table) -> None:
    assert table.commit(1, "g-0", 2) == "NONE"
    assert table.commit(1, "g-0", 1) == "IllegalGeneration"
    assert table.commit(1, "g-0", 3) == "IllegalGeneration"
    assert table.commit(1, "g-9", 2) == "UnknownConsumerId"
    assert table.beat(1, "g-0", 2) == "NONE"
    assert table.beat(1, "g-0", 1) == "IllegalGeneration"
    assert table.beat(1, "g-9", 2) == "UnknownConsumerId"
    table.ask(1, "LeaveGroup", consumer_id="g-9")
    assert table.error(1) == "UnknownConsumerId"
    assert table.state == STEADY
    table.ask(1, "OffsetFetch", topics=[{"name": "t", "partition_indexes": [0, 1]}])
    rows = table.response(1)["topics"][0]["partitions"]
    assert [one["committed_offset"] for one in rows] == [7, -1]


def test_commits_that_cannot_be_kept(table: Table) -> None:
    assert table.commit_code(1, "g-0", 2, partition=2) == UNKNOWN_TOPIC_OR_PARTITION
    assert table.commit_code(1, "g-0", 2, metadata="x" * (METADATA_LIMIT + 1)) == METADATA_TOO_LARGE
    assert table.broker.groups["g"].record.offsets == {}


def test_a_commit_that_no_entry_holds_is_refused_and_the_group_stays() -> None:
    table = two(300)
    one = {"offset": 7, "timestamp": 1, "metadata": "x" * METADATA_LIMIT}
    topics = [{"topic": "t", "partitions": [one | {"partition": at} for at in range(240)]}]
    who = {"group_generation_id": 2, "consumer_id": "g-0"}
    table.ask(1, "OffsetCommit", **who, topics=topics)
    (told,) = table.response(1)["responses"]
    assert {said["error_code"] for said in told["partition_responses"]} == {METADATA_TOO_LARGE}
    assert table.broker.groups["g"].record.offsets == {}
    assert table.commit(1, "g-0", 2) == "NONE"


def test_a_generation_that_no_entry_holds_is_refused_and_the_next_one_is_not() -> None:
    table = Table()
    table.broker.topics({"t": 2, "many": 100_000}, 0)
    table.join(1, topics=["many"])
    assert table.error(1) == "Unknown"
    assert any(isinstance(one, Log) and "bytes" in one.text for one in table.actions)
    table.join(1)
    assert table.error(1) == "NONE"


def test_nobody_commits_while_a_generation_is_written(table: Table) -> None:
    table.join(1, "g-0")
    table.join(2, "g-1")
    assert table.state == REBALANCING
    table.actions, held = [], table.actions
    assert table.commit(3, "g-0", 2) == "IllegalGeneration"
    assert table.commit(3, "g-9", 2) == "UnknownConsumerId"
    assert table.beat(3, "g-0", 2) == "IllegalGeneration"
    assert table.beat(3, "g-9", 2) == "UnknownConsumerId"
    table.actions = held
    assert table.response(1)["group_generation_id"] == 3


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"session_timeout": 30_001}, "SessionTimeoutTooHigh"),
        ({"session_timeout": 0}, "Unknown"),
        ({"topics": ["x" * 30_000] * 4}, "Unknown"),
        ({"partition_assignment_strategy": "best"}, "UnknownPartitioningStrategy"),
        ({"partition_assignment_strategy": "roundrobin"}, "InconsistentPartitioningStrategy"),
        ({"consumer_id": "g-9"}, "UnknownConsumerId"),
    ],
)
def test_refused_joins_cause_no_rebalance(table: Table, fields: dict[str, Any], error: str) -> None:
    table.join(3, **fields)
    assert table.error(3) == error
    assert table.state == STEADY
    assert table.beat(1, "g-0", 2) == "NONE"


def test_the_only_consumer_of_a_group_may_change_its_strategy() -> None:
    table = Table()
    table.join(1)
    table.response(1)
    table.join(1, "g-0", partition_assignment_strategy="roundrobin")
    assert table.error(1) == "NONE"


def test_who_is_no_coordinator_and_who_is_not_one_yet() -> None:
    table = Table(loaded=False)
    assert table.state == DOWN
    table.join(1)
    assert table.error(1) == "NotCoordinatorForGroup"
    assert table.beat(1, "g-0", 1) == "NotCoordinatorForGroup"
    assert table.commit(1, "g-0", 1) == "NotCoordinatorForGroup"
    table.broker.elected(SLOT)
    assert table.state == CATCH_UP
    table.join(1)
    assert table.error(1) == "IllegalProtocolState"
    assert table.beat(1, "g-0", 1) == "CoordinatorStartupNotComplete"
    assert table.commit(1, "g-0", 1) == "CoordinatorStartupNotComplete"
    table.broker.loaded(SLOT, {}, 0)
    assert table.state == READY
    table.join(1)
    assert table.error(1) == "NONE"


def test_who_is_demoted_tells_all_that_wait(table: Table) -> None:
    table.join(3)
    table.actions += table.broker.resigned(SLOT, table.now)
    assert table.error(3) == "NotCoordinatorForGroup"
    assert table.beat(1, "g-0", 2) == "NotCoordinatorForGroup"


def test_a_session_ends_and_the_connection_with_it(table: Table) -> None:
    table.pass_time(999)
    assert table.beat(1, "g-0", 2) == "NONE"
    table.pass_time(1)
    assert [one.connection for one in table.actions if isinstance(one, Close)] == [2]
    assert table.state == PREPARE
    assert table.beat(1, "g-0", 2) == "IllegalGeneration"
    table.join(1, "g-0")
    assert table.response(1)["assigned_partitions"] == [{"topic": "t", "partitions": [0, 1]}]


def test_a_slow_consumer_that_is_back_before_anybody_was_told_cancels_the_rebalance(
    table: Table,
) -> None:
    lose_the_second(table)
    assert table.state == PREPARE
    assert table.beat(3, "g-1", 2) == "NONE"
    assert table.state == STEADY
    assert table.beat(1, "g-0", 2) == "NONE"


def test_a_slow_consumer_that_is_back_later_hears_of_the_rebalance_and_may_join_it(
    table: Table,
) -> None:
    lose_the_second(table)
    assert table.beat(1, "g-0", 2) == "IllegalGeneration"
    assert table.beat(3, "g-1", 2) == "IllegalGeneration"
    table.join(3, "g-1")
    assert not table.sent(3)
    table.join(1, "g-0")
    assert table.response(3)["consumer_id"] == "g-1"
    assert table.response(1)["group_generation_id"] == 3


def test_who_was_left_out_is_unknown_when_the_round_is_over(table: Table) -> None:
    lose_the_second(table)
    table.join(1, "g-0")
    assert table.response(1)["group_generation_id"] == 3
    table.join(3, "g-1")
    assert table.error(3) == "UnknownConsumerId"
    assert table.beat(3, "g-1", 2) == "UnknownConsumerId"
    assert table.state == STEADY


def test_heartbeats_in_place_of_a_join_do_not_stop_the_rebalance(table: Table) -> None:
    table.join(2, "g-1")
    for _ in range(9):
        assert table.beat(1, "g-0", 2) == "IllegalGeneration"
        table.pass_time(120)
    assert table.response(2)["assigned_partitions"] == [{"topic": "t", "partitions": [0, 1]}]


def test_a_join_whose_connection_is_gone_does_not_count(table: Table) -> None:
    table.join(3)
    table.broker.closed(3, table.now)
    table.join(1, "g-0")
    table.join(2, "g-1")
    table.response(1)
    assert [one.consumer_id for one in table.broker.groups["g"].record.consumers] == ["g-0", "g-1"]
