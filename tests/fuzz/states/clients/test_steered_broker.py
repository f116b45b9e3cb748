"""The steered broker, without sockets: what waits, what it carries, and what it is answered with."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.bench_broker.broker import encoded
from barnabas.fuzz.states.clients.alphabets import CONSUMER, MEMBER, OK, PRODUCER, ClientAlphabet
from barnabas.fuzz.states.clients.steered_broker import WAITS, SteeredBroker
from barnabas.specs import decode_frame
from barnabas.specs.frames import Frame, encode_frame
from barnabas.specs.keys import (
    ADD_PARTITIONS_TO_TXN,
    CONSUMER_GROUP_HEARTBEAT,
    END_TXN,
    HEARTBEAT,
    INIT_PRODUCER_ID,
    JOIN_GROUP,
    METADATA,
    SYNC_GROUP,
)
from barnabas.specs.registry import api

VERSIONS = {
    JOIN_GROUP: 2,
    SYNC_GROUP: 1,
    HEARTBEAT: 1,
    METADATA: 1,
    INIT_PRODUCER_ID: 0,
    ADD_PARTITIONS_TO_TXN: 0,
    END_TXN: 0,
    CONSUMER_GROUP_HEARTBEAT: 0,
}


def request(key: int, **values: Any) -> bytes:
    version = VERSIONS[key]
    body = api(key).request.codec(version).decode(encoded(key, version, "request", values))
    header = {"correlation_id": 7, "client_id": "t"}
    return encode_frame(Frame("request", key, version, header, body))[4:]


def steered(alphabet: ClientAlphabet = MEMBER) -> SteeredBroker:
    return SteeredBroker(alphabet, "127.0.0.1", 9092)


def told(it: SteeredBroker, key: int, error: str) -> dict[str, Any]:
    """What the request that waits is answered with."""
    data = b"".join(it.answered(error).chunks)[4:]
    frame = decode_frame(data, "response", key=key, version=VERSIONS[key])
    assert frame.header["correlation_id"] == 7
    return dict(frame.body)


def joined(it: SteeredBroker) -> dict[str, Any]:
    it.answer(request(JOIN_GROUP, group_id="g", member_id=""))
    return told(it, JOIN_GROUP, OK)


def test_what_is_watched_waits_and_the_rest_is_answered() -> None:
    it = steered()
    assert it.answer(request(METADATA)) not in (None, WAITS)
    assert it.answer(request(JOIN_GROUP, group_id="g")) is WAITS
    assert it.pending_request == "JoinGroup without an id"
    # a heartbeat beside it is not held, nor is anything once it is free
    assert it.answer(request(HEARTBEAT, group_id="g")) is not None
    it.answered(OK)
    it.free = True
    assert it.answer(request(JOIN_GROUP, group_id="g")) is not None


@pytest.mark.parametrize(
    ("error", "member", "generation", "said"),
    [
        (OK, "own", 0, "Heartbeat"),
        (OK, "own", -1, "Heartbeat of an old generation"),
        (OK, "other", 0, "Heartbeat with an old id"),
        ("UNKNOWN_MEMBER_ID", "own", 0, "Heartbeat with an id that it lost"),
        ("ILLEGAL_GENERATION", "own", 0, "Heartbeat of an old generation"),
        ("REBALANCE_IN_PROGRESS", "own", 0, "Heartbeat"),
    ],
)
def test_what_a_member_carries(error: str, member: str, generation: int, said: str) -> None:
    it = steered()
    own = joined(it)
    who = {
        "member_id": own["member_id"] if member == "own" else member,
        "generation_id": own["generation_id"] + generation,
    }
    known = {"member_id": own["member_id"], "generation_id": own["generation_id"]}
    it.answer(request(SYNC_GROUP, group_id="g", **known))
    assert (
        told(it, SYNC_GROUP, error)["error_code"]
        == {OK: 0, "UNKNOWN_MEMBER_ID": 25, "ILLEGAL_GENERATION": 22, "REBALANCE_IN_PROGRESS": 27}[
            error
        ]
    )
    if error != OK:  # one may have been due
        it.answer(request(HEARTBEAT, group_id="g", **known))
    it.answer(request(HEARTBEAT, group_id="g", **who))
    assert it.pending_request == said


@pytest.mark.parametrize(
    ("error", "epoch", "said"),
    [
        (OK, 1, ""),
        (OK, 0, " that joins"),
        (OK, -1, " that leaves"),
        ("NOT_COORDINATOR", 1, ""),
        ("FENCED_MEMBER_EPOCH", 1, " of an old epoch"),
        ("UNKNOWN_MEMBER_ID", 0, " that joins"),  # with the id that it has (KIP-848)
    ],
)
def test_what_a_member_of_a_consumer_group_carries(error: str, epoch: int, said: str) -> None:
    it = steered(CONSUMER)

    def send_heartbeat(member: str, epoch: int) -> None:
        asked = {"group_id": "g", "member_id": member, "member_epoch": epoch}
        it.answer(request(CONSUMER_GROUP_HEARTBEAT, **asked))

    send_heartbeat("", 0)
    own = told(it, CONSUMER_GROUP_HEARTBEAT, OK)
    assert (own["member_epoch"], own["heartbeat_interval_ms"]) == (1, 200)
    send_heartbeat(own["member_id"], 1)
    told(it, CONSUMER_GROUP_HEARTBEAT, error)
    send_heartbeat(own["member_id"], epoch)
    assert it.pending_request == f"ConsumerGroupHeartbeat{said}"
    assert CONSUMER.event(it.pending_request) == {0: "join", 1: "heartbeat", -1: "leave"}[epoch]


def test_a_producer_of_another_epoch_is_old_and_errors_stand_where_the_answer_has_them() -> None:
    it = steered(PRODUCER)
    it.answer(request(INIT_PRODUCER_ID, transactional_id="t"))
    own = told(it, INIT_PRODUCER_ID, OK)
    enters = {
        "v3_and_below_transactional_id": "t",
        "v3_and_below_producer_id": own["producer_id"],
        "v3_and_below_producer_epoch": own["producer_epoch"],
        "v3_and_below_topics": [{"name": "bench", "partitions": [0]}],
    }
    it.answer(request(ADD_PARTITIONS_TO_TXN, **enters))
    assert it.pending_request == "AddPartitionsToTxn"
    (topic,) = told(it, ADD_PARTITIONS_TO_TXN, "PRODUCER_FENCED")["results_by_topic_v3_and_below"]
    assert topic["results_by_partition"][0]["partition_error_code"] == 90
    ends = {"transactional_id": "t", "producer_id": own["producer_id"], "committed": True}
    it.answer(request(END_TXN, **ends, producer_epoch=own["producer_epoch"]))
    assert it.pending_request == "EndTxn that commits"
    it.answered(OK)
    it.answer(request(END_TXN, **ends, producer_epoch=own["producer_epoch"] + 1))
    assert it.pending_request == "EndTxn of an old epoch"
