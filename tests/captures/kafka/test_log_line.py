"""Test log lines of exchanges, and that nothing makes them fail."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.captures.kafka.log_line import DETAILS, details
from barnabas.captures.kafka.wording import WIDTH, fit, listed, pairs, ranges, size
from barnabas.specs.records import Record, build
from barnabas.specs.registry import NAMES, api
from tests.bodies import reassignments
from tests.captures.kafka.context.exchanges import Body, exchange, golden

# magic 0, one record "v"
MESSAGE = bytes.fromhex("00000000000000070000000f b8ba5f57 0000 ffffffff 0000000176")
# the same, but said to be compressed with gzip: what is inside is not counted
ZIPPED = MESSAGE[:17] + b"\x01" + MESSAGE[18:]
# a batch of offsets 100 to 109, of which compaction has left two records
COMPACTED = build([Record(100, 1, None, b"a"), Record(109, 1, None, b"b")])
ID = uuid.UUID("6d1f0c38-3a8e-4a8c-9d3e-2f6f5a3c1b7e")
MEMBER = f"app-{ID}"
ASSIGNED = bytes.fromhex("0000 00000001 0006 6f7264657273 00000002 00000000 00000001 ffffffff")


def produced(*partitions: tuple[int, bytes | None], acks: int = -1, **topic: Any) -> Body:
    data = [{"index": index, "records": records} for index, records in partitions]
    return {"acks": acks, "topic_data": [{"name": "orders"} | topic | {"partition_data": data}]}


def asked(*partitions: tuple[int, int]) -> Body:
    found = [{"partition": index, "fetch_offset": offset} for index, offset in partitions]
    return {"topics": [{"topic": "orders", "partitions": found}]}


def fetched(*partitions: tuple[int, bytes | None], **topic: Any) -> Body:
    found = [{"partition_index": index, "records": records} for index, records in partitions]
    return {"responses": [(topic or {"topic": "orders"}) | {"partitions": found}]}


def offsets(name: str = "orders", **values: int) -> dict[str, Any]:
    found = [
        {"partition_index": int(index[1:]), "committed_offset": at} for index, at in values.items()
    ]
    return {"name": name, "partitions": found}


LINES: tuple[tuple[str, int, Body, Body, str], ...] = (
    ("Produce", 3, produced((0, MESSAGE * 2), (2, MESSAGE)), None, "orders[0,2] 3 records 81 B acks=all"),
    ("Produce", 3, produced((0, ZIPPED + MESSAGE), acks=1), None, "orders[0] 2+ records 54 B acks=1"),
    ("Produce", 9, produced((0, None), acks=0), None, "no records acks=0"),
    ("Produce", 3, produced((1, MESSAGE * 200), acks=1), None, "orders[1] 200 records 5.3 KiB acks=1"),
    ("Fetch", 4, {}, fetched((0, MESSAGE), (1, None), (2, b"")), "orders[0→7] 1 record 27 B"),
    ("Fetch", 4, asked((0, 105), (2, 7)), fetched((0, COMPACTED), (2, MESSAGE + MESSAGE[:20])),
     "orders[0=105→109,2=7→7] 3 records 124 B"),
    ("Fetch", 4, {"topics": [{"topic": name, "partitions": [{"partition": 0, "fetch_offset": at}]}
     for name, at in (("orders", 5), ("clicks", 6))]}, fetched((0, MESSAGE)), "orders[0=5→7] 1 record 27 B"),
    ("Fetch", 0, asked((0, 5)), fetched((0, MESSAGE[:20])), "orders[0=5] 0 records 20 B"),
    ("Fetch", 4, asked((0, 110)), fetched((0, b"")), "orders[0=110] empty"),
    ("Fetch", 4, {}, fetched((0, b""), (1, None)), "empty"),
    ("Fetch", 12, {}, {"responses": []}, "empty"),
    ("Fetch", 13, {}, fetched((3, MESSAGE), topic_id=ID), "bR8MODqO[3→7] 1 record 27 B"),
    ("Fetch", 11, asked(*((number, 10 * number) for number in range(4))), None, "orders[0=0,1=10,2=20,3=30]"),
    ("ListOffsets", 1, {"topics": [{"name": "orders",
     "partitions": [{"partition_index": 0, "timestamp": -1}]}]},
     {"topics": [{"name": "orders", "partitions": [{"partition_index": 0, "offset": 42}]}]},
     "orders[0=42] latest"),
    ("ListOffsets", 0, {"topics": [{"name": "orders",
     "partitions": [{"partition_index": 0, "timestamp": -2}]}]},
     {"topics": [{"name": "orders", "partitions": [{"old_style_offsets": [7, 5]}]}]},
     "orders[0=7,5] earliest"),
    ("ListOffsets", 5, {"topics": [{"name": "orders", "partitions": [{"timestamp": 1_500_000_000_000}]}]},
     None, "orders[0] 2017-07-14T02:40:00Z"),
    *(("ListOffsets", 11, {"topics": [{"name": "orders", "partitions": [{"timestamp": ts}]}]}, None,
       f"orders[0] {word}") for ts, word in (
        (-3, "max timestamp"), (-4, "earliest local"), (-5, "latest tiered"),
        (-6, "earliest pending upload"))),
    ("Metadata", 1, {"topics": None}, {"brokers": [{}] * 3, "topics": [{}]},
     "all topics → 3 brokers, 1 topic"),
    ("Metadata", 9, {"topics": [{"name": "a"}, {"name": "b"}]}, None, "a b"),
    ("Metadata", 12, {"topics": [{"name": None, "topic_id": ID}]}, None, "bR8MODqO"),
    ("Metadata", 0, {"topics": []}, None, "all topics"),
    ("Metadata", 4, {"topics": []}, None, "no topics"),
    ("FindCoordinator", 0, {"key": "billing"}, {"node_id": 2}, "group billing → 2"),
    ("FindCoordinator", 2, {"key": "tx", "key_type": 1}, {"node_id": 1}, "transaction tx → 1"),
    ("FindCoordinator", 4, {"coordinator_keys": ["a", "b"]},
     {"coordinators": [{"key": "a", "node_id": 1}, {"key": "b", "node_id": 2}]}, "group a → 1 b → 2"),
    ("JoinGroup", 5, {"group_id": "billing", "protocols": [{"name": "range"}, {"name": "sticky"}]}, None,
     "billing new member range sticky"),
    ("JoinGroup", 5, {"group_id": "billing", "member_id": MEMBER},
     {"generation_id": 3, "protocol_name": "range", "leader": MEMBER, "member_id": MEMBER,
     "members": [{}, {}]}, "billing member 6d1f0c38 generation 3 range leader of 2 members"),
    ("JoinGroup", 9, {"group_id": "billing"}, {"generation_id": 3, "protocol_name": "range", "leader": "x",
     "member_id": MEMBER}, "billing member 6d1f0c38 generation 3 range follower"),
    ("JoinGroup", 9, {"group_id": "billing", "reason": "group is already rebalancing"},
     {"generation_id": 3, "protocol_name": "range", "leader": "x", "member_id": MEMBER},
     "billing member 6d1f0c38 generation 3 range follower (group is already rebalancing)"),
    ("JoinGroup", 9, {"group_id": "b", "reason": f"need to re-join with the given member-id: {MEMBER}"},
     {"generation_id": 3, "protocol_name": "range", "leader": "x", "member_id": MEMBER},
     "b member 6d1f0c38 generation 3 range follower"),
    ("SyncGroup", 3, {"group_id": "billing", "generation_id": 3, "member_id": "0x7f",
     "assignments": [{"member_id": "a"}, {"member_id": "b"}]}, {"assignment": ASSIGNED},
     "billing generation 3 member 0x7f leads 2 → orders[0,1]"),
    ("SyncGroup", 0, {"group_id": "connect"}, {"assignment": b"\0\1x"},
     "connect generation 0 new member → 3 B"),
    ("SyncGroup", 0, {"group_id": "billing", "generation_id": 3, "member_id": "0x7f"}, None,
     "billing generation 3 member 0x7f"),
    ("SyncGroup", 0, {"group_id": "g", "member_id": "m"}, {"assignment": b""}, "g generation 0 member m"),
    ("Heartbeat", 0, {"group_id": "billing", "generation_id": 3, "member_id": MEMBER}, {},
     "billing generation 3 member 6d1f0c38"),
    ("LeaveGroup", 1, {"group_id": "billing", "member_id": MEMBER}, {}, "billing member 6d1f0c38"),
    ("LeaveGroup", 1, {"group_id": "g", "member_id": "one-of-mine"}, {}, "g member one-of-mine"),
    ("LeaveGroup", 3, {"group_id": "g", "members": [{"member_id": MEMBER},
     {"group_instance_id": "static-1"}]}, {}, "g member 6d1f0c38 static-1"),
    ("LeaveGroup", 5, {"group_id": "g", "members": [{"member_id": MEMBER,
     "reason": "consumer poll timeout has expired."}, {"member_id": "other", "reason": ""},
     {"member_id": "same", "reason": "consumer poll timeout has expired."}]}, {},
     "g member 6d1f0c38 member other member same (consumer poll timeout has expired.)"),
    ("OffsetCommit", 2, {"group_id": "g", "topics": [offsets(p0=120, p1=80)]}, {}, "g orders[0=120,1=80]"),
    ("OffsetFetch", 1, {"group_id": "g", "topics": [{"name": "orders", "partition_indexes": [0, 1]}]},
     {"topics": [offsets(p0=120, p1=-1)]}, "g orders[0=120,1=-]"),
    ("OffsetFetch", 2, {"group_id": "g", "topics": None}, None, "g all topics"),
    ("OffsetFetch", 8, {"groups": [{"group_id": "g",
     "topics": [{"name": "a", "partition_indexes": [0, 1, 2]}]}]}, None, "g a[0-2]"),
    ("OffsetFetch", 8, {"groups": []}, {"groups": [{"group_id": "g", "topics": [offsets(p0=1)]},
     {"group_id": "h"}]}, "g orders[0=1] h nothing committed"),
    ("ApiVersions", 3, {"client_software_name": "librdkafka", "client_software_version": "2.16.0"},
     {"api_keys": [{}] * 24}, "librdkafka 2.16.0 → 24 APIs"),
    ("ApiVersions", 0, {}, {"api_keys": [{}]}, "→ 1 API"),
    ("CreateTopics", 5, {"topics": [{"name": "orders", "num_partitions": 6, "replication_factor": 3},
     {"name": "x", "num_partitions": -1}]}, None, "orders(6 partitions x 3) x"),
    ("DeleteTopics", 1, {"topic_names": ["orders", "x"]}, None, "orders x"),
    ("DeleteTopics", 6, {"topics": [{"name": "orders"}, {"name": None, "topic_id": ID}]}, None,
     "orders bR8MODqO"),
    ("InitProducerId", 2, {"transactional_id": None}, {"producer_id": 4000}, "→ producer 4000 epoch 0"),
    ("InitProducerId", 2, {"transactional_id": None}, {"producer_id": 0}, "→ producer 0 epoch 0"),
    ("InitProducerId", 2, {"transactional_id": "tx"}, {"error_code": 16}, "tx"),
    ("AddPartitionsToTxn", 3, {"v3_and_below_transactional_id": "tx",
     "v3_and_below_topics": [{"name": "a", "partitions": [0]}]}, None, "tx a[0]"),
    ("AddPartitionsToTxn", 4, {"transactions": [{"transactional_id": "tx",
     "topics": [{"name": "a", "partitions": [0]}]}]}, None, "tx a[0]"),
    ("AddOffsetsToTxn", 3, {"transactional_id": "tx", "group_id": "g"}, None, "tx g"),
    ("EndTxn", 3, {"transactional_id": "tx", "committed": True}, {}, "tx commit"),
    ("EndTxn", 3, {"transactional_id": "tx", "committed": False}, {}, "tx abort"),
    ("EndTxn", 3, None, {}, ""),
    ("TxnOffsetCommit", 2, {"transactional_id": "tx", "group_id": "g", "topics": [offsets(p0=1)]}, {},
     "tx g orders[0=1]"),
    ("SaslHandshake", 1, {"mechanism": "PLAIN"}, {"mechanisms": ["PLAIN"]}, "PLAIN"),
    ("SaslHandshake", 1, {"mechanism": "PLAIN"}, {"error_code": 33,
     "mechanisms": ["GSSAPI", "SCRAM-SHA-256"]}, "PLAIN → GSSAPI SCRAM-SHA-256"),
    ("SaslAuthenticate", 1, {"auth_bytes": b"\0u\0hunter2"}, {}, "10 bytes → 0 bytes"),
    ("DescribeCluster", 0, {}, {"controller_id": 2, "brokers": [{}] * 3}, "→ 3 brokers, controller 2"),
    ("DescribeCluster", 1, {}, {"endpoint_type": 2, "brokers": [{}]}, "→ 1 controller, controller -1"),
    ("DescribeGroups", 0, {}, {"groups": [{"group_id": "g", "group_state": "Stable"}]}, "g (Stable)"),
    ("ListGroups", 0, {}, {"groups": [{}, {}]}, "→ 2 groups"),
    ("ConsumerGroupHeartbeat", 0, {"group_id": "g", "member_id": "m", "member_epoch": 3},
     {"member_id": "m", "member_epoch": 4, "assignment": {"topic_partitions": [{"topic_id": ID,
     "partitions": [0, 1, 2]}]}}, "g epoch 4 member m → bR8MODqO[0-2]"),
    ("ConsumerGroupHeartbeat", 1, {"group_id": "g", "member_id": "m", "member_epoch": 0},
     {"member_id": "m", "member_epoch": 5}, "g joins, epoch 5 member m"),
    ("ConsumerGroupHeartbeat", 1, {"group_id": "g", "member_id": "m", "member_epoch": -1},
     {"member_id": "m", "member_epoch": -1}, "g leaves member m"),
    ("StreamsGroupHeartbeat", 0, {"group_id": "g", "member_id": "m", "member_epoch": 3},
     {"member_epoch": 4, "active_tasks": [{"subtopology_id": "0", "partitions": [0, 1]}]},
     "g epoch 4 member m → 0[0,1]"),
    ("WriteTxnMarkers", 0, {"markers": [{"producer_id": 7,
     "topics": [{"name": "t", "partition_indexes": [1]}]}]}, {}, "producer 7 abort t[1]"),
    ("ShareFetch", 1, {"group_id": "g", "member_id": "m",
     "topics": [{"topic_id": ID, "partitions": [{"partition_index": 3}]}]}, None, "g member m bR8MODqO[3]"),
    ("ShareFetch", 1, {"group_id": "g", "member_id": "m"}, fetched((3, MESSAGE), topic_id=ID),
     "g member m → bR8MODqO[3] 1 record 27 B"),
    ("CreatePartitions", 0, {"topics": [{}, {}], "timeout_ms": 500}, None, "topics=2 timeout_ms=500"),
    ("StopReplica", 0, {"controller_id": -1, "controller_epoch": 5}, None, "controller_epoch=5"),
    ("RenewDelegationToken", 1, {"hmac": b"hunter2"}, None, "hmac=7 B renew_period_ms=0"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "version", "request_", "response", "expected"), LINES)
def test_lines(name: str, version: int, request_: Body, response: Body, expected: str) -> None:
    assert details(exchange(name, version, request_, response)) == expected


def test_every_api_of_the_table_has_a_line_here() -> None:
    tried = {api(name).key for name, *_ in LINES}
    assert set(DETAILS) - tried <= {76}  # ShareGroupHeartbeat has ConsumerGroupHeartbeat's phrase


def test_all_that_apache_kafka_writes_has_words() -> None:
    """Requests and responses, each alone and both together, decoded or not."""
    bodies: dict[tuple[int, int], dict[str, list[bytes | None]]] = {}
    for direction, one in golden():
        by = bodies.setdefault((one.key, one.version), {"request": [], "response": []})
        by[direction].append(one.body(direction))
    assert len({key for key, _ in bodies}) == len(NAMES)
    for (key, version), by in bodies.items():
        pairs = list(zip(by["request"], reversed(by["response"]), strict=True))
        for sent, came in [
            *pairs,
            *((one, None) for one, _ in pairs),
            *((None, one) for _, one in pairs),
        ]:
            one = Exchange(0, 1, "a:1", None, 1, key, version, 1, 10)
            one.request_body, one.response_body = sent, came
            text = details(one)
            assert len(text) <= WIDTH
            assert text.isprintable()
            assert "undecodable" not in text
            decoded = replace(one)
            assert (decoded.request, decoded.response) != (None, None)
            assert details(decoded) == text


@given(st.sampled_from(sorted(DETAILS)), st.data())
def test_bytes_of_any_kind_have_words(key: int, data: st.DataObject) -> None:
    low, high = api(key).versions
    one = Exchange(
        *(0, 1, "a:1", None, 1, key, data.draw(st.integers(low, high)), 1, 10),
        request_body=data.draw(st.binary(max_size=60)),
        response_body=data.draw(st.binary(max_size=60)),
    )
    text = details(one)
    assert text.isprintable()
    if not one.undecodable:  # which decodes it
        assert details(one) == text


def test_long_lists_are_cut_and_counted() -> None:
    names = [{"name": f"topic-{i}"} for i in range(500)]
    text = details(exchange("Metadata", 1, {"topics": names}))
    assert text.startswith("topic-0 topic-1 ")
    assert text.endswith(" ... +494 topics")
    assert len(text) <= WIDTH
    many = [{"transactional_id": f"tx-{number}"} for number in range(100)]
    text = details(exchange("AddPartitionsToTxn", 4, {"transactions": many}))
    assert text.endswith(" transactions")


def test_escape_sequences_in_names_are_not_printed() -> None:
    assert details(exchange("Metadata", 1, {"topics": [{"name": "\x1b[2J\n"}]})) == "�[2J�"


def test_undecodable_bodies_and_unknown_versions_say_so() -> None:
    one = exchange("Heartbeat", 0, None)
    one.request_body = b"\x00"
    assert details(one).startswith("undecodable: group_id at byte 0: ")
    one.version = 99
    assert details(one) == "no such version"
    one.key = 999
    assert details(one) == ""
    large = exchange("AlterPartitionReassignments", 0, None, {})
    large.request_body = reassignments()
    assert details(large) == "too large to decode: it would take more than 64 MiB of memory"


def test_raw_tokens_show_their_size_alone() -> None:
    one = Exchange(0, 1, "a:1", None, 1, SASL_TOKEN, 0, 0, 10, 0, request_body=b"\0u\0hunter2")
    assert details(one) == "10 bytes → 0 bytes"


@given(st.sets(st.integers(0, 200)))
def test_ranges_name_each_partition_once(numbers: set[int]) -> None:
    text = ranges(numbers)
    if "…" in text:
        return
    found: list[int] = []
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    assert found == sorted(numbers)


def test_words_are_bounded() -> None:
    assert len(pairs((i, 10**18) for i in range(1000))) == 32
    assert len(listed(("x" * 1000 for _ in range(5)), "topic")) < 80
    assert len(ranges(range(0, 1000, 2))) == 32


@pytest.mark.parametrize(
    ("text", "width", "fitting"),
    [
        (
            "a-service-of-bills another-service-of-all-orders",
            48,
            "a-service-of-bills another-service-of-all-orders",
        ),
        (
            "a-service-of-bills another-service-of-all-orders",
            47,
            "a-service-of-bills another-service-of…ll-orders",
        ),
        (
            "a-service-of-bills another-service-of-all-orders",
            40,
            "a-service-of-bills another-servic…orders",
        ),
    ],
)
def test_the_longest_names_get_shorter_first(text: str, width: int, fitting: str) -> None:
    assert fit(text, width) == fitting


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (2**20 - 1, "1024.0 KiB"),
        (2**20, "1.0 MiB"),
        (2**30, "1024.0 MiB"),
    ],
)
def test_a_size_is_in_the_largest_unit_that_it_fills(count: int, words: str) -> None:
    assert size(count) == words
