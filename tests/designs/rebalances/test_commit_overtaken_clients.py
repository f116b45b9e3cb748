"""What the experiment with many clients makes of made-up exchanges."""

from __future__ import annotations

import uuid
from typing import Any

from barnabas.captures.kafka.exchange import Exchange
from barnabas.designs.rebalances.experiments.commit_overtaken_clients import figures
from barnabas.specs.keys import CONSUMER_GROUP_HEARTBEAT, JOIN_GROUP, OFFSET_COMMIT
from barnabas.specs.registry import api

MS = 1_000_000
ILLEGAL_GENERATION = 22
MEMBER = {"group_id": "g", "member_id": "m"}


def made(
    key: int, version: int, at: int, number: int, request: dict[str, Any], **other: Any
) -> Exchange:
    body = api(key).request.codec(version).encode({**MEMBER, **request})
    connection = other.pop("connection", 1)
    return Exchange(
        at * MS, connection, "c:1", "me", 1, key, version, number, 20, request_body=body, **other
    )


def commit(at: int, number: int, error: int = 0, lasts: int = 300) -> Exchange:
    """A commit that is answered after 300 ms."""
    partitions = [{"partition_index": 0, "error_code": error}]
    answer = {"throttle_time_ms": 0, "topics": [{"name": "t", "partitions": partitions}]}
    response = api(OFFSET_COMMIT).response.codec(7).encode(answer)
    requested: dict[str, Any] = {
        "generation_id_or_member_epoch": 1,
        "group_instance_id": None,
        "topics": [],
    }
    return made(
        OFFSET_COMMIT, 7, at, number, requested, latency_ms=float(lasts), response_body=response
    )


def join(at: int, number: int, **other: Any) -> Exchange:
    requested = {
        "session_timeout_ms": 1, "rebalance_timeout_ms": 1, "protocol_type": "consumer", "protocols": [],
        "group_instance_id": None,
    }  # fmt: skip
    return made(JOIN_GROUP, 5, at, number, requested, **other)


def heartbeat(at: int, number: int, partitions: list[int] | None) -> Exchange:
    topics = [{"topic_id": uuid.UUID(int=1), "partitions": partitions}]
    requested = {
        "member_epoch": 1, "instance_id": None, "rack_id": None, "rebalance_timeout_ms": -1,
        "subscribed_topic_names": None, "server_assignor": None,
        "topic_partitions": None if partitions is None else topics,
    }  # fmt: skip
    return made(CONSUMER_GROUP_HEARTBEAT, 0, at, number, requested)


def test_a_join_before_the_commit_is_answered_is_behind_it() -> None:
    exchanges = [join(0, 1), commit(1000, 2, ILLEGAL_GENERATION), join(1000, 3), commit(2000, 4)]
    result = figures(exchanges, ["a", "b", "a"])
    assert result == {
        "commits": 2, "refused": 1, "gave_up": 1, "behind": 1, "elsewhere": 0,
        "errors": ["ILLEGAL_GENERATION"], "given": 3, "twice": 1,
    }  # fmt: skip


def test_a_join_after_the_answer_waited_for_it() -> None:
    result = figures([commit(1000, 2), join(1301, 3)], [])
    assert (result["gave_up"], result["behind"], result["elsewhere"]) == (1, 0, 0)


def test_another_connection_is_told_apart() -> None:
    result = figures([commit(1000, 2), join(1100, 3, connection=2)], [])
    assert (result["behind"], result["elsewhere"], result["errors"]) == (0, 1, ["no error"])


def test_a_heartbeat_gives_up_if_it_names_fewer_partitions_than_before() -> None:
    owned = [heartbeat(0, 1, [0, 1]), commit(1000, 2), heartbeat(1100, 3, None)]
    assert figures(owned, [])["gave_up"] == 0
    assert figures([*owned, heartbeat(1150, 4, [0, 1])], [])["gave_up"] == 0
    assert figures([*owned, heartbeat(1150, 4, [0])], [])["behind"] == 1
