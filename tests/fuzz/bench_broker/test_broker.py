"""The bench's broker on playbooks: fed whole and byte by byte, with and without a case."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from barnabas.fuzz.bench_broker.broker import Broker, Connection, Reply, encoded
from barnabas.fuzz.bench_broker.cluster import TOPIC, TOPIC_ID
from barnabas.fuzz.bench_broker.offer import EVERYTHING, FIRST_TRANSACTIONS, Offer, narrowed
from barnabas.fuzz.bench_broker.planted import PlantedResponse, filled
from barnabas.fuzz.bench_broker.seeds import ASSIGNMENT, SUBSCRIPTION, seeds
from barnabas.fuzz.cases.case import Case, Live, Recipe, Seed
from barnabas.specs import keys
from barnabas.specs.frames import Frame, decode_frame
from barnabas.specs.registry import NAMES
from tests.fuzz.observed import request as asked


def told(reply: Reply, key: int, version: int) -> Frame:
    return decode_frame(b"".join(reply.chunks)[4:], "response", key=key, version=version)


GROUP: dict[str, Any] = {"group_id": "g"}
MEMBER: dict[str, Any] = {**GROUP, "member_id": "member-1"}
JOINS = {**GROUP, "session_timeout_ms": 1000, "member_id": "", "protocol_type": "consumer"}
COMMITTED = {"partition_index": 1, "committed_offset": 3, "committed_metadata": None}
HELLO = {"client_software_name": "t", "client_software_version": "1"}
# fmt: off
PLAYBOOK: tuple[tuple[int, int, dict[str, Any]], ...] = (
    (keys.API_VERSIONS, 3, HELLO),
    (keys.METADATA, 9, {"topics": [{"name": TOPIC}]}),
    (keys.FIND_COORDINATOR, 4, {"coordinator_keys": ["g"]}),
    (keys.JOIN_GROUP, 7, JOINS | {"protocols": [{"name": "range", "metadata": SUBSCRIPTION}]}),
    (keys.SYNC_GROUP, 5, MEMBER | {
        "generation_id": 1, "assignments": [{"member_id": "member-1", "assignment": ASSIGNMENT}]}),
    (keys.OFFSET_COMMIT, 8, MEMBER | {
        "generation_id_or_member_epoch": 1, "topics": [{"name": TOPIC, "partitions": [COMMITTED]}]}),
    (keys.LEAVE_GROUP, 2, MEMBER),
)
# fmt: on


def _played(broker: Broker, *, bytewise: bool) -> list[Reply]:
    connection = Connection(broker)
    stream = b"".join(asked(*step, number) for number, step in enumerate(PLAYBOOK))
    pieces = [stream[at : at + 1] for at in range(len(stream))] if bytewise else [stream]
    return [reply for piece in pieces for reply in connection.receive(piece)]


@pytest.mark.parametrize("bytewise", [False, True])
def test_a_session_is_answered_in_order_without_errors(bytewise: bool) -> None:
    replies = _played(Broker(), bytewise=bytewise)
    assert len(replies) == len(PLAYBOOK)
    for number, (reply, (key, version, _)) in enumerate(zip(replies, PLAYBOOK, strict=True)):
        frame = told(reply, key, version)
        assert frame.header["correlation_id"] == number
        assert frame.body.get("error_code", 0) == 0
    assert told(replies[4], keys.SYNC_GROUP, 5).body["assignment"] == ASSIGNMENT


def _fetch(offset: int, **session: int) -> dict[str, Any]:
    places = [{"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1 << 20}]
    topics = [{"topic": TOPIC, "partitions": places}]
    return {"max_wait_ms": 30, "min_bytes": 1, "topics": topics, **session}


def test_what_was_produced_is_fetched_and_nothing_more_is_waited_for() -> None:
    connection = Connection(Broker())
    seed, *_ = seeds([(keys.FETCH, 3)])
    records = decode_frame(seed.frame, "response", key=1, version=3).body["responses"][0]
    partition = {"index": 0, "records": records["partitions"][0]["records"]}
    topics = [{"name": TOPIC, "partition_data": [partition]}]
    data = {"acks": 1, "timeout_ms": 100, "topic_data": topics}
    (reply,) = connection.receive(asked(keys.PRODUCE, 2, data))
    produced = told(reply, keys.PRODUCE, 2).body["responses"][0]["partition_responses"][0]
    assert (produced["error_code"], produced["base_offset"]) == (0, 7)
    (found,) = connection.receive(asked(keys.FETCH, 4, _fetch(7)))
    assert told(found, keys.FETCH, 4).body["responses"][0]["partitions"][0]["high_watermark"] == 14
    assert found.wait_ms == 0
    (nothing,) = connection.receive(asked(keys.FETCH, 4, _fetch(14)))
    assert nothing.wait_ms == 30


def test_a_fetch_session_goes_on_with_what_changed() -> None:
    connection = Connection(Broker())
    (first,) = connection.receive(asked(keys.FETCH, 11, _fetch(0, session_id=0, session_epoch=0)))
    session = told(first, keys.FETCH, 11).body["session_id"]
    assert session > 0
    more = {**_fetch(7, session_id=session, session_epoch=1), "topics": []}
    (second,) = connection.receive(asked(keys.FETCH, 11, more))
    assert told(second, keys.FETCH, 11).body["responses"][0]["partitions"][0]["records"]
    more = _fetch(7, session_id=session, session_epoch=2)
    (third,) = connection.receive(asked(keys.FETCH, 11, more))
    assert told(third, keys.FETCH, 11).body["responses"] == []
    (gone,) = connection.receive(asked(keys.FETCH, 11, _fetch(0, session_id=99, session_epoch=3)))
    assert told(gone, keys.FETCH, 11).body["error_code"] == 70


def test_a_produce_without_acks_is_not_answered() -> None:
    data = asked(keys.PRODUCE, 7, {"acks": 0, "timeout_ms": 0, "topic_data": []})
    assert Connection(Broker()).receive(data) == []


@pytest.mark.parametrize(
    "data",
    [
        struct.pack(">i", 2**31 - 1),
        struct.pack(">i", -1),
        struct.pack(">i", 8) + b"\x03\xe7" + bytes(6),
        asked(keys.METADATA, 9, {"topics": []})[:-1] + b"\xff",
    ],
)
def test_what_is_no_request_ends_the_connection(data: bytes) -> None:
    connection = Connection(Broker())
    assert [reply.closes for reply in connection.receive(data + bytes(8))] == [True]
    assert connection.receive(asked(keys.METADATA, 1, {"topics": []})) == []


def test_a_version_that_is_not_offered_ends_the_connection() -> None:
    broker = Broker(offer=narrowed(keys.METADATA, 4))
    (reply,) = Connection(broker).receive(asked(keys.METADATA, 5, {"topics": []}))
    assert reply.closes


@pytest.mark.parametrize("last", [False, True])
def test_behind_a_case_of_fetch_there_may_be_no_records_and_what_is_asked_is_known(
    last: bool,
) -> None:
    seed, *_ = seeds([(keys.FETCH, 4)])
    case = Case(0, Recipe(seed, ()), (b"case",))
    broker = Broker(planted=PlantedResponse(case, keys.FETCH, 4), last=last)
    given, behind = (broker.answer(asked(keys.FETCH, 4, _fetch(at))[4:]) for at in (0, 3))
    assert given is not None
    assert given.case
    assert behind is not None
    (partition,) = told(behind, keys.FETCH, 4).body["responses"][0]["partitions"]
    assert bool(partition["records"]) is not last
    assert broker.starts == {0: 3}


@pytest.mark.parametrize("key", sorted(EVERYTHING), ids=lambda key: NAMES[key])
def test_every_api_is_answered_as_its_schema_says(key: int) -> None:
    low, high = EVERYTHING[key]
    for version in range(low, high + 1):
        found = seeds([(key, version)])
        assert found == seeds([(key, version)])
        for seed in found:
            frame = decode_frame(seed.frame, "response", key=key, version=version)
            again = encoded(key, version, "response", frame.body)
            assert seed.frame.endswith(again)
            assert frame.body.get("error_code", 0) == 0


def test_behind_a_handshake_of_version_0_a_token_stands_alone() -> None:
    token = b"\0barnabas\0secret"
    handshake = asked(keys.SASL_HANDSHAKE, 0, {"mechanism": "PLAIN"})
    connection = Connection(Broker())
    _, welcome = connection.receive(handshake + struct.pack(">i", len(token)) + token)
    assert welcome == Reply((bytes(4),))
    (reply,) = connection.receive(asked(keys.METADATA, 1, {"topics": None}))
    assert told(reply, keys.METADATA, 1).body["topics"]
    handshake = asked(keys.SASL_HANDSHAKE, 1, {"mechanism": "PLAIN"})
    later = Connection(Broker())
    _, answered = later.receive(handshake + asked(keys.METADATA, 1, {"topics": None}))
    assert told(answered, keys.METADATA, 1).body["topics"]


def _asked_for(broker: Broker, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
    (reply,) = Connection(broker).receive(asked(key, version, body))
    return told(reply, key, version).body


def test_a_session_of_a_share_group_is_given_each_record_once() -> None:
    broker = Broker()
    places = [{"partition_index": 0, "acknowledgement_batches": []}]
    limits = {"max_wait_ms": 50, "min_bytes": 1, "max_records": 10, "batch_size": 10}
    wanted: dict[str, Any] = {
        **(MEMBER | limits),
        "topics": [{"topic_id": TOPIC_ID, "partitions": places}],
        "forgotten_topics_data": [],
    }
    found = []
    for epoch in range(2):
        body = _asked_for(broker, keys.SHARE_FETCH, 1, wanted | {"share_session_epoch": epoch})
        ((one,),) = (topic["partitions"] for topic in body["responses"])
        found.append(
            (bool(one["records"]), [each["last_offset"] for each in one["acquired_records"]])
        )
    assert found == [(True, [6]), (False, [])]


@pytest.mark.parametrize(
    ("offer", "level"),
    [
        (EVERYTHING, 2),
        (FIRST_TRANSACTIONS, 0),
        (narrowed(keys.ADD_PARTITIONS_TO_TXN, 3), 0),
        (narrowed(keys.PRODUCE, 9), 0),
        (narrowed(keys.METADATA, 1), 2),
    ],
)
def test_transactions_are_of_version_2_where_all_is_offered_that_they_need(
    offer: Offer, level: int
) -> None:
    found = _asked_for(Broker(offer=offer), keys.API_VERSIONS, 3, HELLO)
    finalized = {one["name"]: one["max_version_level"] for one in found["finalized_features"]}
    assert finalized.get("transaction.version", 0) == level
    assert {"group.version", "share.version"} <= set(finalized)


def _case(chunk: bytes, *live: Live) -> Case:
    seed, *_ = seeds([(keys.METADATA, 9)])
    return Case(0, Recipe(seed, ()), (chunk,), live)


def _valid() -> bytes:
    seed, *_ = seeds([(keys.METADATA, 9)])
    return struct.pack(">i", len(seed.frame)) + seed.frame


def test_the_requests_correlation_id_and_the_listeners_port_are_put_in() -> None:
    (chunk,) = filled(_case(_valid()), 77, "127.0.0.1", 40123)
    frame = decode_frame(chunk[4:], "response", key=keys.METADATA, version=9)
    assert frame.header["correlation_id"] == 77
    assert [(one["host"], one["port"]) for one in frame.body["brokers"]] == [("127.0.0.1", 40123)]
    assert len(chunk) == len(_valid())


def _with_broker(host: str, port: int) -> bytes:
    frame = decode_frame(_valid()[4:], "response", key=keys.METADATA, version=9)
    brokers = [{"node_id": 0, "host": host, "port": port}]
    body = encoded(keys.METADATA, 9, "response", {**frame.body, "brokers": brokers})
    data = b"\x00\x00\x00\x01\x00" + body
    return struct.pack(">i", len(data)) + data


def test_nobody_is_sent_to_an_address_that_is_not_the_benchs() -> None:
    for host, port in (("10.0.0.1", 9092), ("kafka.example.org", 9092), ("127.0.0.1", 22)):
        (chunk,) = filled(_case(_with_broker(host, port)), 1, "127.0.0.1", 40123)
        (broker,) = decode_frame(chunk[4:], "response", key=3, version=9).body["brokers"]
        assert (broker["host"], broker["port"]) == ("127.0.0.1", 40123)


def test_an_address_that_nobody_can_go_to_stays() -> None:
    for host, port in (("no such host\x00", 9092), ("127.0.0.1", -1), ("x" * 300, 9092)):
        chunk = _with_broker(host, port)
        assert filled(_case(chunk), 1, "127.0.0.1", 40123) == (chunk,)


def test_what_can_not_be_read_is_sent_as_it_is() -> None:
    chunk = b"\x00\x00\x00\x05\x00\x00\x00\x01\xff"
    assert filled(_case(chunk), 1, "127.0.0.1", 40123) == (chunk,)


def test_a_malformed_request_gets_the_case_s_response_too() -> None:
    seed = Seed(keys.METADATA, 9, "response", bytes(5), "test")
    case = Case(0, Recipe(seed, ()), ((5).to_bytes(4, "big") + bytes(5),))
    broker = Broker(planted=PlantedResponse(case, keys.METADATA, 9))
    reply = broker.answer(asked(keys.METADATA, 9, {"topics": []}, 1)[4:-1])
    assert reply is not None
    assert reply.case
    assert broker.replaced == b"", "no valid response is replaced"
