"""Columns of ListOffsets, OffsetCommit, TxnOffsetCommit and OffsetFetch."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.context import Context
from tests.captures.kafka.context.exchanges import ORDERS, metadata
from tests.pipeline.given import hot, said


def known() -> Context:
    context = Context()
    context.learn(metadata(orders=ORDERS))
    return context


def gist(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    names = ("topic", "partition", "offset", "error_code")
    return [tuple(one[name] for name in names) for one in found.pop("partitions")]


@pytest.mark.parametrize("version", range(12))
def test_list_offsets(version: int) -> None:
    requested = [{"partition_index": 1, "timestamp": -1}, {"partition_index": 0, "timestamp": -2}]
    came: list[dict[str, Any]] = [
        {"partition_index": 0, "error_code": 0, "offset": 5},
        {"partition_index": 1, "error_code": 6, "offset": -1},
    ]
    if version == 0:
        came[0]["old_style_offsets"], came[1]["old_style_offsets"] = [5, 0], []
    request = {"replica_id": -1, "topics": [{"name": "orders", "partitions": requested}]}
    response = {"topics": [{"name": "orders", "partitions": came}]}
    result = hot(said("ListOffsets", version, request, response))
    offset = None if version == 0 else -1
    assert gist(result) == [("orders", 1, offset, 6), ("orders", 0, 5, 0)]
    assert result["topics"] == ["orders"]


@pytest.mark.parametrize(
    ("name", "version", "by_id"),
    [
        *(("OffsetCommit", version, version >= 10) for version in range(11)),
        *(("TxnOffsetCommit", version, version >= 6) for version in range(7)),
    ],
)
def test_commits(name: str, version: int, by_id: bool) -> None:
    topic: dict[str, Any] = {"topic_id": ORDERS} if by_id else {"name": "orders"}
    commits = [{"partition_index": 2, "committed_offset": 17}]
    requested: dict[str, Any] = {"group_id": "g", "topics": [topic | {"partitions": commits}]}
    requested |= {"generation_id_or_member_epoch": 4, "member_id": "m"}
    if name == "TxnOffsetCommit":
        requested |= {"transactional_id": "payments", "producer_id": 9, "producer_epoch": 1}
    answer = {"topics": [topic | {"partitions": [{"partition_index": 2, "error_code": 25}]}]}
    result = hot(said(name, version, requested, answer), known())
    assert gist(result) == [("orders", 2, 17, 25)]
    whose = {}
    if version >= (3 if name == "TxnOffsetCommit" else 1):
        whose = {"member": "m", "generation": 4}
    if name == "TxnOffsetCommit":
        whose |= {"transactional_id": "payments", "producer_id": 9, "producer_epoch": 1}
    error = {"error": "UNKNOWN_MEMBER_ID", "error_codes": [25]}
    assert result == {"topics": ["orders"], "group": "g"} | whose | error


@pytest.mark.parametrize("version", range(11))
def test_offset_fetch(version: int) -> None:
    topic: dict[str, Any] = {"name": "orders"} if version < 10 else {"topic_id": ORDERS}
    requested: dict[str, Any] = {"topics": [topic | {"partition_indexes": [1, 0]}]}
    came = [
        {"partition_index": 1, "committed_offset": 17, "metadata": "", "error_code": 0},
        {"partition_index": 0, "committed_offset": -1, "metadata": "", "error_code": 0},
    ]
    answer: dict[str, Any] = {"topics": [topic | {"partitions": came}]}
    group: dict[str, Any] = {"group_id": "g"}
    if version >= 8:
        member = {"member_id": "m", "member_epoch": 3} if version >= 9 else {}
        request: dict[str, Any] = {"groups": [group | member | requested]}
        response: dict[str, Any] = {"groups": [group | answer]}
    else:
        request, response = group | requested, answer
    result = hot(said("OffsetFetch", version, request, response), known())
    assert gist(result) == [("orders", 1, 17, 0), ("orders", 0, -1, 0)]
    whose = {"member": "m", "generation": 3} if version >= 9 else {}
    assert result == {"topics": ["orders"], "group": "g"} | whose
    unanswered = hot(said("OffsetFetch", version, request), known())
    assert gist(unanswered) == [("orders", 1, None, None), ("orders", 0, None, None)]


def test_offsets_of_several_groups_are_of_none() -> None:
    groups = [{"group_id": name, "topics": None} for name in ("g", "h")]
    assert hot(said("OffsetFetch", 8, {"groups": groups})) == {}
