"""Columns of group APIs, classic and of KIP-848, KIP-932 and KIP-1071."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from barnabas.specs.embedded import message
from tests.captures.kafka.context.exchanges import ORDERS, metadata
from tests.pipeline.given import hot, said


@pytest.mark.parametrize("version", range(10))
def test_join_group(version: int) -> None:
    request: dict[str, Any] = {"group_id": "g", "session_timeout_ms": 9000, "member_id": ""}
    request |= {"protocol_type": "consumer", "protocols": []}
    answer: dict[str, Any] = {"error_code": 0, "generation_id": 4, "protocol_name": "range"}
    answer |= {"leader": "m", "member_id": "m", "members": []}
    joined = {"group": "g", "member": "m", "generation": 4}
    assert hot(said("JoinGroup", version, request, answer)) == joined
    refused = answer | {"error_code": 79, "generation_id": -1}
    result = hot(said("JoinGroup", version, request, refused))
    assert result["member"] == "m"  # the id that it is to come back with (KIP-394)
    assert "generation" not in result
    assert hot(said("JoinGroup", version, request)) == {"group": "g"}


@pytest.mark.parametrize("version", range(6))
def test_sync_group(version: int) -> None:
    layout = message("ConsumerProtocolAssignment").codec(0)
    assigned = b"\0\0" + layout.encode(
        {"assigned_partitions": [{"topic": "orders", "partitions": [0, 2]}], "user_data": None}
    )
    request = {"group_id": "g", "generation_id": 4, "member_id": "m", "assignments": []}
    whose = {"group": "g", "member": "m", "generation": 4}
    result = hot(said("SyncGroup", version, request, {"assignment": assigned}))
    places = [(one["topic"], one["partition"]) for one in result.pop("partitions")]
    assert places == [("orders", 0), ("orders", 2)]
    assert result == whose
    assert hot(said("SyncGroup", version, request, {"assignment": b"\xff"})) == whose


@pytest.mark.parametrize("version", range(5))
def test_heartbeat(version: int) -> None:
    request = {"group_id": "g", "generation_id": 4, "member_id": "m"}
    result = hot(said("Heartbeat", version, request, {"error_code": 27}))
    error = {"error": "REBALANCE_IN_PROGRESS", "error_codes": [27]}
    assert result == {"group": "g", "member": "m", "generation": 4} | error


@pytest.mark.parametrize("version", range(6))
def test_leave_group(version: int) -> None:
    members = [{"member_id": "m"}]
    request: dict[str, Any] = {"group_id": "g"}
    request |= {"member_id": "m"} if version < 3 else {"members": members}
    assert hot(said("LeaveGroup", version, request)) == {"group": "g", "member": "m"}
    if version >= 3:
        several = request | {"members": [*members, {"member_id": "n"}]}
        assert hot(said("LeaveGroup", version, several)) == {"group": "g"}


@pytest.mark.parametrize(
    ("name", "version"),
    [("ConsumerGroupHeartbeat", 0), ("ConsumerGroupHeartbeat", 1), ("ShareGroupHeartbeat", 1)],
)
def test_heartbeats_of_their_own(name: str, version: int) -> None:
    context = Context()
    context.learn(metadata(orders=ORDERS))
    begins: dict[str, Any] = {"group_id": "g", "member_id": "m", "member_epoch": 0}
    begins["subscribed_topic_names"] = ["orders"]
    assigned = {"topic_partitions": [{"topic_id": ORDERS, "partitions": [0, 1]}]}
    reported = {"error_code": 0, "member_id": "m", "member_epoch": 3, "assignment": assigned}
    result = hot(said(name, version, begins, reported), context)
    places = [(one["topic"], one["partition"]) for one in result.pop("partitions")]
    assert places == [("orders", 0), ("orders", 1)]
    assert result == {"group": "g", "member": "m", "topics": ["orders"]}
    beats: dict[str, Any] = {"group_id": "g", "member_id": "m", "member_epoch": 3}
    beats["subscribed_topic_names"] = None
    result = hot(said(name, version, beats, reported | {"assignment": None}), context)
    assert result == {"group": "g", "member": "m", "generation": 3, "topics": ["orders"]}
    leaves = beats | {"member_epoch": -1}
    answer = {"error_code": 0, "member_id": "m", "member_epoch": -1}
    assert hot(said(name, version, leaves, answer), context)["generation"] == -1


def test_streams_heartbeat() -> None:
    requested = {"group_id": "g", "member_id": "m", "member_epoch": 2}
    result = hot(said("StreamsGroupHeartbeat", 0, requested, {"member_id": "m", "member_epoch": 2}))
    assert result == {"group": "g", "member": "m", "generation": 2}
