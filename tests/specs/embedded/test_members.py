"""What members of groups tell each other: bytes that Java's own classes wrote of known arguments."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from barnabas.specs import Malformed, embedded
from barnabas.specs.codec import Oddity
from tests.specs.embedded.real import MESSAGES, Line, name

ERR_CODE, NEXT_REBALANCE = 3, 1700000000123


def task(version: int, group: int, partition: int, named: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"topic_group_id": group, "partition": partition}
    if version >= 10:
        found["named_topology"] = [ord(letter) for letter in named]
    return found


def present(version: int, since: dict[str, int], values: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in values.items() if since.get(field, 0) <= version}


def assignment_info(version: int) -> dict[str, Any]:
    reading: dict[str, Any] = {"topic": "in"}
    storing: dict[str, Any] = {"topic": "störe"}
    if version >= 5:  # a dictionary of topics
        reading, storing = {"topic_index": 0}, {"topic_index": 1}
    topics = [{"index": 0, "name": "in"}]
    if version >= 6:
        topics.insert(0, {"index": 1, "name": "störe"})
    stored = [{"topic": "störe", "partition": 1}]
    mine = [reading | {"partition": 0}, reading | {"partition": 3}]
    theirs = [storing | {"partition": 1}]
    since = {
        "commonly_supported_version": 3,
        "topics": 5,
        "partitions_by_host": 2,
        "standby_partitions_by_host": 6,
        "err_code": 4,
        "next_rebalance_ms": 7,
    }
    values = {
        "version": version,
        "commonly_supported_version": 11,
        "active_tasks": [task(version, 0, 0), task(version, 1, 7, "nämed")],
        "standby_tasks": [task(version, 2, 1) | {"partitions": stored}],
        "topics": topics,
        "partitions_by_host": [{"host": "host-a", "port": 8080, "partitions": mine}],
        "standby_partitions_by_host": [{"host": "host-b", "port": 8081, "partitions": theirs}],
        "err_code": ERR_CODE,
        "next_rebalance_ms": NEXT_REBALANCE,
    }
    return present(version, since, values)


def subscription_info(version: int) -> dict[str, Any]:
    since = {
        "latest_supported_version": 3,
        "user_end_point": 2,
        "task_offset_sums": 7,
        "unique_field": 8,
        "error_code": 9,
        "client_tags": 11,
    }
    old = {
        "prev_tasks": [{"topic_group_id": 1, "partition": 7}],  # of an offset sum of -2, the latest
        "standby_tasks": [],
    }
    by_partition = {
        "topic_group_id": 1,
        "partition_to_offset_sum": [{"partition": 7, "offset_sum": 4242}],
    }
    by_task = {"topic_group_id": 1, "partition": 7, "offset_sum": 4242, "named_topology": "nämed"}
    values = {
        "version": version,
        "latest_supported_version": 11,
        "process_id": uuid.UUID("11111111-1111-1111-2222-222222222222"),
        **(old if version < 7 else {}),
        "user_end_point": b"host-a:8080",
        "task_offset_sums": [by_partition if version < 10 else by_task],
        "unique_field": 5,
        "error_code": 1,
        "client_tags": [{"key": b"zone", "value": b"a"}],
    }
    return present(version, since, values)


def connect_assignment(version: int) -> dict[str, Any]:
    values = {
        "error": 1 if version == 0 else 0,
        "leader": "worker-1",
        "leader_url": "http://a:8083/",
        "config_offset": 17,
        "assignment": [{"connector": "sink", "tasks": [-1, 0, 2]}],
        "revoked": [{"connector": "old", "tasks": [1]}],
        "delay": 60000,
    }
    return present(version, {"revoked": 1, "delay": 1}, values)


STREAMS = [
    line for line in MESSAGES if line["message"] in ("AssignmentInfo", "SubscriptionInfoData")
]
CONNECT = [line for line in MESSAGES if line["message"].startswith("Connect")]


@pytest.mark.parametrize("line", STREAMS, ids=name)
def test_what_kafka_streams_keeps_in_the_user_data(line: Line) -> None:
    data, version = bytes.fromhex(line["hex"]), line["version"]
    if line["message"] == "AssignmentInfo":
        found, expected = (
            embedded.read_user_data("stream", "assignment", data),
            assignment_info(version),
        )
    else:
        found = embedded.read_user_data("stream", "subscription", data)
        expected = subscription_info(version)
    assert found == embedded.EmbeddedMessage(line["message"], version, expected)
    assert embedded.message(found.name).codec(version).encode(expected) == data
    assert embedded.message(found.name).at(version).parse(data) == expected


@pytest.mark.parametrize("line", CONNECT, ids=name)
def test_what_workers_of_connect_tell_each_other(line: Line) -> None:
    data, version = bytes.fromhex(line["hex"]), line["version"]
    if line["message"] == "ConnectProtocolAssignment":
        found, expected = (
            embedded.read_member("connect", "assignment", data),
            connect_assignment(version),
        )
    else:
        found = embedded.read_member("connect", "subscription", data)
        expected = {"url": "http://a:8083/", "config_offset": 17}
        if version >= 1:
            allocation = found.values["allocation"]
            if allocation is not None:
                inner = embedded.read_versioned("ConnectProtocolAssignment", allocation)
                assert (inner.version, inner.values) == (version, connect_assignment(version))
            expected |= {"allocation": allocation}
    assert found == embedded.EmbeddedMessage(line["message"], version, expected)
    assert (
        version.to_bytes(2) + embedded.message(found.name).codec(version).encode(expected) == data
    )
    assert embedded.message(found.name).at(version).parse(data[2:]) == expected


def test_java_wrote_every_version_of_them() -> None:
    seen = {(line["message"], line["version"]) for line in MESSAGES}
    for message in ("AssignmentInfo", "SubscriptionInfoData"):
        assert {version for which, version in seen if which == message} == set(range(1, 12))
    for message in ("ConnectProtocolSubscription", "ConnectProtocolAssignment"):
        assert {version for which, version in seen if which == message} == {0, 1, 2}


Message = embedded.EmbeddedMessage
PREVIOUS = {"previous_assignment": [{"topic": "orders", "partitions": [0, 2]}]}
NINE = {"generation": 9}
V0 = "00000001 0006 6f7264657273 00000002 00000000 00000002"
V1 = f"{V0} 00000009"
STICKY, COOPERATIVE = "StickyAssignorUserData", "CooperativeStickyAssignorUserData"
IN_FRONT = Oddity("", 0, "a version in front")


@pytest.mark.parametrize("part", ["subscription", "assignment"])
@pytest.mark.parametrize(
    ("assignor", "hexed", "expected"),
    [
        ("sticky", V0, Message(STICKY, 0, PREVIOUS)),
        ("sticky", V1, Message(STICKY, 1, PREVIOUS | NINE)),
        ("cooperative-sticky", V1, Message(STICKY, 1, PREVIOUS | NINE)),
        ("cooperative-sticky", "00000009", Message(COOPERATIVE, 0, NINE)),
        ("sticky", f"0001 {V1}", Message(STICKY, 1, PREVIOUS | NINE, (IN_FRONT,))),
    ],
)
def test_what_sticky_assignors_keep(
    part: embedded.Part, assignor: str, hexed: str, expected: embedded.EmbeddedMessage
) -> None:
    assert embedded.read_user_data(assignor, part, bytes.fromhex(hexed)) == expected
    java = {line["message"]: bytes.fromhex(line["hex"]) for line in MESSAGES}
    if (expected.name, expected.version) in ((STICKY, 1), (COOPERATIVE, 0)):
        assert java[expected.name] == bytes.fromhex(hexed.removeprefix("0001 "))


def test_a_version_to_come_is_read_as_the_newest_known() -> None:
    data = bytes.fromhex("0004 00000000 ffffffff ffff".replace(" ", ""))
    found = embedded.read_member("consumer", "assignment", data)
    assert (found.version, found.values["user_data"]) == (3, None)
    assert [(odd.offset, odd.what) for odd in found.oddities] == [
        (0, "version 4, read as 3"),
        (10, "2 trailing bytes"),
    ]


@pytest.mark.parametrize(
    ("kind", "part", "data", "problem"),
    [
        ("consumer", "subscription", b"", "version at byte 0: 2 bytes expected, 0 remain"),
        ("consumer", "subscription", b"\xff\xff", "version at byte 0: ConsumerProtocolSubscription has"),
        ("consumer", "subscription", b"\0\0\0\0\0\1", "topics at byte 2: 1 elements announced"),
        ("connect", "assignment", b"\0\0\0", "error at byte 2: 2 bytes expected"),
        ("sr", "subscription", b"{}", "body at byte 0: what groups of type 'sr' exchange is not known"),
    ],
)  # fmt: skip
def test_what_is_nothing_of_a_member(
    kind: str, part: embedded.Part, data: bytes, problem: str
) -> None:
    with pytest.raises(Malformed) as raised:
        embedded.read_member(kind, part, data)
    assert str(raised.value).startswith(problem)


@pytest.mark.parametrize(
    ("assignor", "data", "problem"),
    [
        ("range", b"?", "body at byte 0: what the assignor 'range' keeps in its subscriptions"),
        ("stream", b"\0\0\0\x0c", "version at byte 0: SubscriptionInfoData has versions 1 to 11"),
        ("stream", b"\0\0\0\1" + bytes(16), "prev_tasks at byte 20: 4 bytes expected"),
        ("sticky", b"\0\0\0\1\0", "previous_assignment at byte 2: 4 bytes expected"),
    ],
)
def test_what_is_nothing_of_an_assignor(assignor: str, data: bytes, problem: str) -> None:
    with pytest.raises(Malformed) as raised:
        embedded.read_user_data(assignor, "subscription", data)
    assert str(raised.value).startswith(problem)
