"""What hides in record sets: records of internal topics, control records, messages inside records."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from barnabas import specs
from barnabas.specs import embedded
from barnabas.specs.embedded.reveal import MAX_DEPTH
from barnabas.specs.frames import Frame
from barnabas.specs.jsonform import to_json
from tests.specs.embedded.real import SUBSCRIPTION, batches, topics

FETCH = 1


def fetched(topic: Any, data: bytes, **partition: Any) -> dict[str, Any]:
    return {"responses": [topic | {"partitions": [partition | {"records": data}]}]}


PATH = "responses[0].partitions[0].records"


def test_records_of_an_internal_topic_and_what_hides_in_them() -> None:
    body = fetched({"topic": "__consumer_offsets"}, batches("__consumer_offsets"))
    result = embedded.reveal(FETCH, "response", body, records=1000)[PATH]
    assert result["left_off"] == 0
    groups = [
        record["value"]
        for record in result["records"]
        if record.get("key", {}).get("message") == "GroupMetadataKey" and record["value"]
    ]
    members = [group["inside"]["members[0].assignment"] for group in groups if "inside" in group]
    assert ("orders", [0, 1]) in [
        part for m in members for part in topics(m, "assigned_partitions")
    ]
    assert any(
        m["inside"]["user_data"]["message"] == "AssignmentInfo" for m in members if "inside" in m
    )
    assert "unread" not in json.dumps(to_json(result))
    tombstones = [record for record in result["records"] if record.get("value", "") is None]
    assert tombstones
    assert all(set(record) == {"offset", "key", "value"} for record in tombstones)


@pytest.mark.parametrize("limit", [0, 3, 1000])
def test_the_number_of_records_is_bounded_in_all_of_a_body(limit: int) -> None:
    data = batches("__transaction_state")
    partition = {"records": data}
    body = {"topic_data": [{"name": "__transaction_state", "partition_data": [partition] * 2}]}
    result = embedded.reveal(0, "request", body, records=limit)
    every = sum(batch.count or 0 for batch in specs.records.read(data))
    shown = [len(part["records"]) for part in result.values()]
    assert sum(shown) == min(limit, 2 * every)
    assert [part["left_off"] for part in result.values()] == [every - n for n in shown]


def test_topics_by_id_and_control_records_of_any_topic() -> None:
    topic_id = uuid.UUID(int=77)
    body = fetched({"topic_id": topic_id}, batches("__share_group_state"))
    assert embedded.reveal(FETCH, "response", body) == {}
    names = {topic_id: "__share_group_state"}
    (found,) = embedded.reveal(
        FETCH, "response", body, embedded.Surroundings(topic_names=names)
    ).values()
    assert found["records"][0]["key"]["message"] == "ShareSnapshotKey"
    (found,) = embedded.reveal(
        FETCH, "response", fetched({"topic": "orders"}, batches("orders"))
    ).values()
    assert [(r["control"], r["value"]["message"]) for r in found["records"]] == [
        ("ABORT", "EndTxnMarker")
    ]


def test_the_metadata_log_has_a_known_id_and_its_secrets_are_withheld() -> None:
    body = fetched({"topic_id": uuid.UUID(int=1)}, batches("__cluster_metadata"))
    result = embedded.reveal(FETCH, "response", body, records=1000)[PATH]
    values = {r["value"]["message"]: r["value"]["values"] for r in result["records"]}
    assert values["TopicRecord"]["name"]
    scram = values["UserScramCredentialRecord"]
    assert (scram["name"], scram["iterations"]) == ("alice", 4096)
    assert {scram[field][:9] for field in ("salt", "stored_key", "server_key")} == {"<redacted"}
    assert values["ConfigRecord"]["value"] == "<redacted>"
    assert "salt1234" not in repr(result)


def test_a_snapshot_is_read_from_its_start_and_where_a_batch_begins() -> None:
    data = batches("__cluster_metadata")
    second = next(iter(specs.records.read(data))).size
    topic = {"name": "__cluster_metadata"}

    def snapshot(position: int, data: bytes = data) -> dict[str, Any]:
        partition = {"position": position, "unaligned_records": data[position:]}
        body = {"topics": [topic | {"partitions": [partition]}]}
        (found,) = embedded.reveal(59, "response", body, records=1000).values()
        return found

    assert snapshot(0)["records"][0]["control"] == "SNAPSHOT_HEADER"
    assert snapshot(second)["records"] == snapshot(0)["records"][1:]
    assert set(snapshot(second + 7)) == {"unread", "size"}
    wrong = data[: second + 17] + bytes(4) + data[second + 21 :]  # what looks like a batch is none
    assert set(snapshot(second, wrong)) == {"unread", "size"}


def test_classic_members_of_a_consumer_group() -> None:
    protocol = {"name": "range", "metadata": SUBSCRIPTION}
    classic = {"session_timeout_ms": 1, "supported_protocols": [protocol]}
    values = {"classic_member_metadata": classic}
    value = embedded.message("ConsumerGroupMemberMetadataValue").codec(0).encode(values)
    key = embedded.message("ConsumerGroupMemberMetadataKey").codec(0).encode({"group_id": "g"})
    record = specs.records.Record(0, 0, b"\0\5" + key, b"\0\0" + value)
    body = fetched({"topic": "__consumer_offsets"}, specs.records.build([record]))
    result = embedded.reveal(FETCH, "response", body)[PATH]["records"][0]["value"]
    path = "classic_member_metadata.supported_protocols[0].metadata"
    assert result["inside"][path]["values"] == {"topics": ["t"], "user_data": None}


ENVELOPE = 58


def request(key: int, version: int, body: dict[str, Any]) -> Frame:
    header = {"request_api_key": key, "request_api_version": version, "client_id": "c"}
    return Frame("request", key, version, header, body)


JOIN = request(
    11,
    5,
    {
        "group_id": "g",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": SUBSCRIPTION}],
    },
)


def envelope(frame: Frame, principal: bytes = b"", address: bytes = b"") -> dict[str, Any]:
    return {
        "request_data": specs.encode_frame(frame)[4:],
        "request_principal": principal,
        "client_host_address": address,
    }


def test_an_envelope_holds_a_request_who_sent_it_and_from_where() -> None:
    values = {"type": "User", "name": "alice", "token_authenticated": True}
    principal = embedded.message("DefaultPrincipalData").codec(0).encode(values)
    body = envelope(JOIN, b"\0\0" + principal, b"\x7f\0\0\1")
    result = embedded.reveal(ENVELOPE, "request", body)
    assert result["request_principal"]["values"] == values
    assert result["client_host_address"] == {"text": "127.0.0.1"}
    joins = result["request_data"]
    assert (joins["message"], joins["version"]) == ("JoinGroupRequest", 5)
    assert joins["header"]["client_id"] == "c"
    metadata = joins["inside"]["protocols[0].metadata"]
    assert metadata["values"]["topics"] == ["t"]


def test_a_response_in_an_envelope_takes_its_request() -> None:
    answer = {"protocol_name": "range", "members": [{"metadata": SUBSCRIPTION}]}
    response = Frame("response", 11, 5, {"correlation_id": 1}, answer)
    body = {"response_data": specs.encode_frame(response)[4:]}
    (alone,) = embedded.reveal(ENVELOPE, "response", body).values()
    assert alone["unread"] == "it can't be read without the request"
    (found,) = embedded.reveal(
        ENVELOPE, "response", body, embedded.Surroundings(request=envelope(JOIN))
    ).values()
    assert (found["message"], found["version"]) == ("JoinGroupResponse", 5)
    assert found["inside"]["members[0].metadata"]["values"]["topics"] == ["t"]


def test_secrets_inside_an_envelope_are_withheld() -> None:
    upsertion = {"name": "alice", "salt": b"pepper", "salted_password": b"hunter2"}
    requested = request(51, 0, {"upsertions": [upsertion]})
    result = embedded.reveal(ENVELOPE, "request", envelope(requested))["request_data"]
    assert result["values"]["upsertions"][0]["salted_password"] == "<redacted 7 bytes>"
    assert "pepper" not in repr(result)
    outer = envelope(request(ENVELOPE, 0, envelope(requested)))
    assert "hunter2" not in repr(embedded.reveal(ENVELOPE, "request", outer))


def test_envelopes_in_envelopes_end_somewhere() -> None:
    body = envelope(JOIN)
    for _ in range(MAX_DEPTH + 2):
        body = envelope(request(ENVELOPE, 0, body))
    result = embedded.reveal(ENVELOPE, "request", body)["request_data"]
    depth = 1
    while "inside" in result:
        result = result["inside"]["request_data"]
        depth += 1
    assert depth == MAX_DEPTH + 1
    assert result["unread"] == f"more than {MAX_DEPTH} messages inside each other"
