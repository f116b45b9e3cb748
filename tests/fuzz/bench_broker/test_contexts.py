"""Contexts of a client's session: what the bench's broker does in it apart from the case."""

from __future__ import annotations

import struct
import uuid
from typing import Any

import pytest

from barnabas.fuzz.bench_broker.broker import Broker, encoded
from barnabas.fuzz.bench_broker.cluster import TOPIC
from barnabas.fuzz.bench_broker.contexts import members
from barnabas.fuzz.bench_broker.contexts.context import Context
from barnabas.fuzz.bench_broker.contexts.registry import CONTEXTS, context_of
from barnabas.fuzz.bench_broker.contexts.transactions import LOGS, TransactionLog
from barnabas.fuzz.bench_broker.offer import EVERYTHING
from barnabas.fuzz.bench_broker.planted import PlantedResponse
from barnabas.fuzz.bench_broker.seeds import seeds
from barnabas.fuzz.cases.case import Case, Recipe, Seed, shape_of
from barnabas.fuzz.targets.clients.workloads import WORKLOADS
from barnabas.specs import keys
from barnabas.specs.embedded import message
from barnabas.specs.frames import decode_frame
from barnabas.specs.records import read
from barnabas.specs.records.control import control_type
from tests.fuzz.observed import request

BY_NAME = {context.name: context for context in CONTEXTS}
FETCH_VERSION = 11
FETCH = {
    "max_wait_ms": 10,
    "isolation_level": 1,
    "session_id": 0,
    "session_epoch": -1,
    "topics": [{"topic": TOPIC, "partitions": [{"partition": 0, "fetch_offset": 0}]}],
}
JOIN = {
    "group_id": "g",
    "member_id": "",
    "protocol_type": "consumer",
    "protocols": [{"name": "range", "metadata": members.subscription(0)}],
}


def seed_of(context: Context, key: int, version: int) -> Seed:
    return next(one for one in seeds([(key, version)]) if shape_of(one.origin) == context.name)


def case_of(seed: Seed) -> Case:
    return Case(0, Recipe(seed, ()), (struct.pack(">i", len(seed.frame)) + seed.frame,))


def session(context: Context, key: int, version: int) -> Broker:
    planted = PlantedResponse(
        case_of(seed_of(context, key, version)), key, version, repeats=context.repeats
    )
    return Broker(planted=planted, context=context)


def ask(
    broker: Broker, key: int, version: int, body: dict[str, Any]
) -> tuple[dict[str, Any], bool]:
    """Return the body of a response, and whether it is the case's."""
    reply = broker.answer(request(key, version, body)[4:])
    assert reply is not None
    frame = decode_frame(b"".join(reply.chunks)[4:], "response", key=key, version=version)
    return frame.body, reply.case


def partition_of(fetched: dict[str, Any]) -> dict[str, Any]:
    partition: dict[str, Any] = fetched["responses"][0]["partitions"][0]
    return partition


def test_names_are_unique_and_workloads_exist() -> None:
    assert len(BY_NAME) == len(CONTEXTS)
    assert {context.workload for context in CONTEXTS} <= {*WORKLOADS, ""}


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: context.name)
def test_seeds_of_a_context_are_valid_and_name_it(context: Context) -> None:
    for key, since in context.keys.items():
        low, high = EVERYTHING[key]
        for version in {max(low, since), high}:
            seed = seed_of(context, key, version)
            assert context_of(case_of(seed)) is context
            body = decode_frame(seed.frame, "response", key=key, version=version).body
            assert seed.frame.endswith(encoded(key, version, "response", body))
            assert body.get("error_code", 0) == 0
            if key == keys.FETCH:
                assert {
                    partition["error_code"] for partition in body["responses"][0]["partitions"]
                } == {0}


def read_committed(partition: dict[str, Any]) -> tuple[int, ...]:
    """Return the offsets that a consumer delivers, by the rules of KIP-98."""
    pending = sorted(
        (one["first_offset"], one["producer_id"]) for one in partition["aborted_transactions"]
    )
    aborting, offsets = set(), []
    for batch in read(partition["records"]):
        while pending and pending[0][0] <= batch.last_offset:
            aborting.add(pending.pop(0)[1])
        if batch.is_control:
            if "ABORT" in map(control_type, batch.records()):
                aborting.discard(batch.producer_id)
        elif not (batch.is_transactional and batch.producer_id in aborting):
            offsets += [record.offset for record in batch.records()]
    return tuple(offsets)


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
def test_a_list_of_aborted_transactions_hides_their_records(log: TransactionLog) -> None:
    seed = seed_of(BY_NAME[log.name], keys.FETCH, FETCH_VERSION)
    body = decode_frame(seed.frame, "response", key=keys.FETCH, version=FETCH_VERSION).body
    partition = partition_of(body)
    assert read_committed(partition) == log.visible
    assert all(batch.crc_ok for batch in read(partition["records"]))
    listed = [
        (one["producer_id"], one["first_offset"]) for one in partition["aborted_transactions"]
    ]
    assert listed == list(log.aborted)


def test_a_reader_of_uncommitted_records_gets_no_list() -> None:
    broker = Broker(context=BY_NAME["aborted"])
    committed, _ = ask(broker, keys.FETCH, FETCH_VERSION, FETCH)
    uncommitted, _ = ask(broker, keys.FETCH, FETCH_VERSION, {**FETCH, "isolation_level": 0})
    assert len(partition_of(committed)["aborted_transactions"]) == 2
    assert partition_of(uncommitted)["aborted_transactions"] == []


@pytest.mark.parametrize(
    "name", ["members", "members-sticky", "members-cooperative", "members-versions"]
)
def test_members_have_subscriptions_that_can_be_read(name: str) -> None:
    seed = seed_of(BY_NAME[name], keys.JOIN_GROUP, 9)
    body = decode_frame(seed.frame, "response", key=keys.JOIN_GROUP, version=9).body
    assert len(body["members"]) >= 3
    assert len({one["member_id"] for one in body["members"]}) == len(body["members"])
    versions = set()
    for one in body["members"]:
        (version,) = struct.unpack_from(">h", one["metadata"])
        versions.add(version)
        data = one["metadata"][2:].removesuffix(b"\x00\x00\x00\x01later")
        codec = message("ConsumerProtocolSubscription").codec(min(version, 3))
        assert codec.decode(data)["topics"] == [TOPIC]
    assert len(versions) > 1


def _subscriptions(context: str) -> list[dict[str, Any]]:
    """Return the subscriptions of all members but the first, with the owned partitions of both assignors."""
    seed = seed_of(BY_NAME[context], keys.JOIN_GROUP, 9)
    body = decode_frame(seed.frame, "response", key=keys.JOIN_GROUP, version=9).body
    subscriptions = []
    for member in body["members"][1:]:
        (version,) = struct.unpack_from(">h", member["metadata"])
        values = (
            message("ConsumerProtocolSubscription").codec(version).decode(member["metadata"][2:])
        )
        owned, generation = values.get("owned_partitions", []), values.get("generation_id", -1)
        if "sticky" in context and "cooperative" not in context:
            user_data = message("StickyAssignorUserData").codec(1).decode(values["user_data"])
            owned, generation = user_data["previous_assignment"], user_data["generation"]
        partitions = {(row["topic"], number) for row in owned for number in row["partitions"]}
        subscriptions.append({**values, "owned": partitions, "generation": generation})
    return subscriptions


@pytest.mark.parametrize("assignor", ["sticky", "cooperative"])
def test_members_claim_what_others_own_in_another_generation_or_in_the_same(assignor: str) -> None:
    stale, dropped, owner = _subscriptions(f"members-claims-{assignor}")
    assert stale["owned"] == dropped["owned"] | owner["owned"]
    assert dropped["generation"] == owner["generation"] > stale["generation"]
    assert dropped["owned"]
    assert TOPIC not in dropped["topics"]
    first, second = _subscriptions(f"members-double-{assignor}")
    assert first["owned"] == second["owned"] != set()
    assert first["generation"] == second["generation"]


@pytest.mark.parametrize(
    "context", ["members-topics", "members-topics-sticky", "members-topics-cooperative"]
)
def test_the_leader_finds_the_topics_that_only_others_read(context: str) -> None:
    names = {name for values in _subscriptions(context) for name in values["topics"]}
    wanted = {"topics": [{"name": name, "topic_id": uuid.UUID(int=0)} for name in sorted(names)]}
    body, _ = ask(Broker(context=BY_NAME[context]), keys.METADATA, 12, wanted)
    assert {topic["name"]: topic["error_code"] for topic in body["topics"]} == dict.fromkeys(
        names, 0
    )
    assert len({topic["topic_id"] for topic in body["topics"]}) == len(names)
    by_id = {"topics": [{"name": None, "topic_id": body["topics"][0]["topic_id"]}]}
    again, _ = ask(Broker(context=BY_NAME[context]), keys.METADATA, 12, by_id)
    assert again["topics"] == body["topics"][:1]


def test_a_follower_gets_the_assignment_of_another_leader() -> None:
    broker = Broker(context=BY_NAME["follower"])
    joined, _ = ask(broker, keys.JOIN_GROUP, 7, JOIN)
    assert joined["leader"] != joined["member_id"]
    assert joined["members"] == []
    member = {
        "group_id": "g",
        "generation_id": 1,
        "member_id": joined["member_id"],
        "assignments": [],
    }
    synced, _ = ask(broker, keys.SYNC_GROUP, 5, member)
    assert synced["assignment"] == members.assignment(1, user_data=b"")


def test_the_case_waits_until_the_leader_has_moved() -> None:
    broker = session(BY_NAME["leader-moves"], keys.METADATA, 9)
    wanted = {"topics": [{"name": TOPIC}]}
    before, early = ask(broker, keys.METADATA, 9, wanted)
    refused, _ = ask(broker, keys.FETCH, FETCH_VERSION, FETCH)
    after, case = ask(broker, keys.METADATA, 9, wanted)
    assert (early, case) == (False, True)
    assert partition_of(refused)["error_code"] == 6
    assert partition_of(refused)["records"] == b""
    leaders = [
        (one["leader_id"], one["leader_epoch"])
        for body in (before, after)
        for one in body["topics"][0]["partitions"][:1]
    ]
    assert leaders == [(0, 0), (1, 1)]
    assert {one["node_id"] for one in after["brokers"]} == {0, 1}
    fetched, _ = ask(broker, keys.FETCH, FETCH_VERSION, FETCH)
    assert partition_of(fetched)["records"]


def test_an_epoch_goes_back_once() -> None:
    broker = Broker(context=BY_NAME["epoch-back"])
    epochs = []
    for _ in range(2):
        for _ in range(2):
            body, _ = ask(broker, keys.METADATA, 9, {"topics": [{"name": TOPIC}]})
            epochs.append(body["topics"][0]["partitions"][0]["leader_epoch"])
        ask(broker, keys.FETCH, FETCH_VERSION, FETCH)
    assert epochs == [5, 5, 3, 6]


TOPICS: dict[str, Any] = {"topics": [{"name": TOPIC, "topic_id": uuid.UUID(int=0)}]}


def _topics(broker: Broker, count: int) -> list[dict[str, Any]]:
    """Return the topic of each of so many Metadata responses."""
    return [ask(broker, keys.METADATA, 12, TOPICS)[0]["topics"][0] for _ in range(count)]


def test_each_response_names_another_leader_in_the_next_epoch() -> None:
    topics = _topics(Broker(context=BY_NAME["leader-moves-on"]), 4)
    leaders = [
        (one["partitions"][0]["leader_id"], one["partitions"][0]["leader_epoch"]) for one in topics
    ]
    assert leaders == [(0, 0), (1, 1), (0, 2), (1, 3)]


def test_a_topic_that_is_created_again_is_read_by_its_newest_id() -> None:
    broker = Broker(context=BY_NAME["topic-recreated"])
    topics = _topics(broker, 4)
    assert len({one["topic_id"] for one in topics}) == 4
    assert len({len(one["partitions"]) for one in topics}) == 2
    partition = {"partition": 0, "fetch_offset": 0}
    codes = []
    for topic_id in (topics[-1]["topic_id"], topics[0]["topic_id"]):
        topic = {"topic_id": topic_id, "partitions": [partition]}
        for _ in range(4):  # the first ones are refused
            fetched, _ = ask(broker, keys.FETCH, 13, {**FETCH, "topics": [topic]})
        codes.append(partition_of(fetched)["error_code"])
    assert codes == [0, 100]


def test_one_response_lacks_what_an_older_version_lacks() -> None:
    topics = _topics(Broker(context=BY_NAME["older-answer"]), 3)
    assert [one["topic_id"].int == 0 for one in topics] == [False, True, False]
    assert [one["partitions"][0]["leader_epoch"] for one in topics] == [0, 1, 2]


def test_another_node_coordinates_the_group() -> None:
    broker = session(BY_NAME["coordinator-moves"], keys.FIND_COORDINATOR, 2)
    wanted = {"key": "g", "key_type": 0}
    before, early = ask(broker, keys.FIND_COORDINATOR, 2, wanted)
    refused, _ = ask(broker, keys.JOIN_GROUP, 7, JOIN)
    after, case = ask(broker, keys.FIND_COORDINATOR, 2, wanted)
    joined, _ = ask(broker, keys.JOIN_GROUP, 7, JOIN)
    assert (before["node_id"], early, refused["error_code"]) == (0, False, 16)
    assert (after["node_id"], case, joined["error_code"]) == (1, True, 0)


@pytest.mark.parametrize(("name", "error"), [("rebalance", 27), ("member-forgotten", 25)])
def test_a_member_joins_again_and_is_given_the_case(name: str, error: int) -> None:
    broker = session(BY_NAME[name], keys.JOIN_GROUP, 7)
    joined, early = ask(broker, keys.JOIN_GROUP, 7, JOIN)
    member = {
        "group_id": "g",
        "generation_id": 1,
        "member_id": joined["member_id"],
        "assignments": [],
    }
    refused, _ = ask(broker, keys.SYNC_GROUP, 5, member)
    _, case = ask(broker, keys.JOIN_GROUP, 7, {**JOIN, "member_id": joined["member_id"]})
    assert (early, refused["error_code"], case) == (False, error, True)


def test_each_request_gets_the_case_again() -> None:
    broker = session(BY_NAME["every-time"], keys.METADATA, 9)
    wanted = {"topics": [{"name": TOPIC}]}
    assert [ask(broker, keys.METADATA, 9, wanted)[1] for _ in range(3)] == [True] * 3


def _after(seed: Seed, chunk: bytes) -> list[dict[str, Any]]:
    """Return the responses after a case with these bytes."""
    case = Case(0, Recipe(seed, ()), (chunk,))
    planted = PlantedResponse(case, seed.key, seed.version)
    broker = Broker(planted=planted, context=BY_NAME["together"])
    broker.answer(request(keys.METADATA, 9, {"topics": [{"name": TOPIC}]})[4:])
    return [ask(broker, keys.FETCH, FETCH_VERSION, FETCH)[0] for _ in range(6)]


def test_up_to_three_responses_after_the_case_are_wrong_and_the_case_alone_says_how() -> None:
    plain = ask(Broker(), keys.FETCH, FETCH_VERSION, FETCH)[0]
    seed = seed_of(BY_NAME["together"], keys.METADATA, 9)
    wrong = set()
    for number in range(20):
        chunk = struct.pack(">i", number)
        bodies = _after(seed, chunk)
        assert bodies == _after(seed, chunk)
        differing = [body != plain for body in bodies]
        count = sum(differing)
        assert differing == [True] * count + [False] * (6 - count)
        wrong.add(count)
        assert {body["throttle_time_ms"] for body in bodies} == {0}
    assert wrong == {1, 2, 3}
