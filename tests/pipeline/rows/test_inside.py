"""Rows of what lies within bytes: who and what each is about, and records whose topic another flow names."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.embedded import inside
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.pipeline.rows import inside as module
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.inside import INSIDE, inside_row, inside_rows
from barnabas.pipeline.tables.tables import write
from barnabas.specs.embedded.topics import TOPICS
from tests.captures.kafka.context.exchanges import exchange
from tests.captures.kafka.test_embedded import JOIN, SYNC
from tests.captures.traffic import BROKER, NOW, request, response
from tests.specs.embedded.real import batches

Row = dict[str, Any]

OFFSETS = uuid.UUID(int=77)
ORDERS = uuid.UUID(int=78)


def rows(found: Exchange, context: Context | None = None) -> list[Row]:
    """As the table has them."""
    made = (inside_row(one, 1, "c", {}) for one in inside_rows(found, context or Context()))
    plain: list[Row] = batch(made, INSIDE).to_pylist()
    return plain


def fetched(topic: str) -> Exchange:
    partition = {"partition_index": 7, "error_code": 0, "high_watermark": 9}
    whole = {"topic": topic, "partitions": [partition | {"records": batches(topic)}]}
    return exchange("Fetch", 12, {"replica_id": 1}, {"responses": [whole]})


def test_members_are_told_apart() -> None:
    context = Context()
    context.learn(JOIN)
    results = [
        (row["message"], row["direction"], row["group"], row["member"]) for row in rows(JOIN)
    ]
    assert results == [
        ("ConsumerProtocolSubscription", "request", "g", None),
        ("ConsumerProtocolSubscription", "response", "g", "m"),
    ]
    synced = [(row["message"], row["path"], row["member"]) for row in rows(SYNC, context)]
    assert synced == [
        ("ConsumerProtocolAssignment", "assignments[0].assignment", "m"),
        ("ConsumerProtocolAssignment", "assignment", None),
    ]
    assert {row["kind"] for row in rows(SYNC)} == {"unread"}


def test_records_of_offsets_say_of_what_they_are() -> None:
    result = rows(fetched("__consumer_offsets"))
    assert {(row["topic"], row["partition"]) for row in result} == {("__consumer_offsets", 7)}
    records = [row for row in result if row["kind"] == "record"]
    assert len({row["path"] for row in result}) == len(result)
    assert {"OffsetCommit", "GroupMetadata", "ConsumerGroupMemberMetadata"} <= {
        row["message"] for row in records
    }
    for row in records:
        record = json.loads(row["said"])
        key, value = record["key"]["values"], record["value"]
        assert row["offset"] == record["offset"]
        assert row["group"] == key.get("group", key.get("group_id"))
        if row["message"] == "OffsetCommit":
            assert (row["about_topic"], row["about_partition"]) == (key["topic"], key["partition"])
            assert row["about_offset"] == (value and value["values"]["offset"])
            assert row["version"] == (value and value["version"])


def test_what_lies_in_a_record_is_of_its_group_and_member() -> None:
    result = rows(fetched("__consumer_offsets"))
    deeper = [row for row in result if row["depth"] == 1]
    assert {"ConsumerProtocolSubscription", "ConsumerProtocolAssignment"} <= {
        row["message"] for row in deeper
    }
    by_path = {row["path"]: row for row in result}
    for row in deeper:
        within, _, path = row["path"].partition(".value.")
        record = by_path[within]
        assert (row["group"], row["offset"]) == (record["group"], record["offset"])
        values = json.loads(record["said"])["value"]
        assert json.loads(row["said"]) == values["inside"][path]
        if path.startswith("members[0]"):
            assert row["member"] == values["values"]["members"][0]["member_id"]
    assert any(row["depth"] == 2 for row in result), "a member's user data"


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_all_internal_topics_have_rows(topic: str) -> None:
    result = rows(fetched(topic))
    kept = inside(fetched(topic), Context(), records=module.RECORDS)
    (whole,) = kept["response"].values()
    assert [json.loads(row["said"]) for row in result if not row["depth"]] == whole["records"]
    assert all(row["message"] or row["kind"] == "text" for row in result)
    if topic == "__transaction_state":
        assert all(row["transactional_id"] for row in result)
    if topic == "__share_group_state":
        assert all(row["group"] and row["about_topic"] for row in result)


def test_records_that_are_left_off_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rows(fetched("__transaction_state"))
    monkeypatch.setattr(module, "RECORDS", 2)
    *first, rest = rows(fetched("__transaction_state"))
    assert first == whole[:2]
    assert (rest["kind"], rest["topic"]) == ("left off", "__transaction_state")
    assert json.loads(rest["said"]) == {"left_off": len(whole) - 2}


def test_a_topic_that_another_connection_names(tmp_path: Path) -> None:
    """The follower that fetches by id never asks for metadata; control records of others are there once."""
    path = tmp_path / "f.pcapng"
    topics = [("__consumer_offsets", OFFSETS), ("orders", ORDERS)]
    sets = [
        {"topic_id": one, "partitions": [{"partition_index": 3, "records": batches(name)}]}
        for name, one in topics
    ]
    described = [{"name": name, "topic_id": one} for name, one in topics]
    requested = request(5, 1, 13, topics=[]), request(5, 3, 12, topics=None)
    came = response(5, 1, 13, responses=sets), response(5, 3, 12, topics=described)
    with CaptureWriter(path, limit=None, meta={}) as capture:
        for number in (0, 1):
            at = NOW + 10 * number
            flow = capture.open(number + 1, (f"10.0.0.{number}", 50000), BROKER, at, {})
            flow.arrived("request", requested[number], at)
            flow.arrived("response", came[number], at + 1)
    write(None, [path], tmp_path / "out")
    result = ds.dataset(tmp_path / "out" / "inside").to_table().to_pylist()
    assert {row["connection"] for row in result} == {1}
    knowing = Context()
    knowing.topics.update({one: name for name, one in topics})
    right = rows(exchange("Fetch", 13, {"topics": []}, {"responses": sets}), knowing)
    names = ("path", "kind", "message", "topic", "offset", "group", "said")
    assert [tuple(row[name] for name in names) for row in sorted(result, key=_path)] == [
        tuple(row[name] for name in names) for row in sorted(right, key=_path)
    ]
    assert {row["topic"] for row in result} == {"__consumer_offsets", "orders"}


def _path(row: Row) -> str:
    return str(row["path"])
