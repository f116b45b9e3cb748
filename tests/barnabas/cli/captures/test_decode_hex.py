"""`barnabas decode --request HEX`: one frame, decoded."""

from __future__ import annotations

import struct

import pytest

from barnabas import specs
from barnabas.specs.frames import Direction, Frame, encode_frame
from tests.barnabas.cli import command

METADATA = "0003 0001 00000007 0001 61 ffffffff"
TEXT = (
    "Metadata v1 request\nheader:\n  request_api_key: 3\n  request_api_version: 1\n"
    '  correlation_id: 7\n  client_id: "a"\nbody:\n  topics: null\n'
)
BATCH = struct.pack(">qiibIhiqqqhii", 5, 49, 0, 2, 0, 0, 0, 0, 0, -1, -1, -1, 0)


def run(*arguments: str, stdin: str = "") -> str:
    done = command.run("decode", *arguments, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    "text",
    [
        METADATA,
        METADATA.replace(" ", ""),
        "0x" + METADATA.replace(" ", ", 0x"),
        "0000000f " + METADATA,
        METADATA.upper().replace(" ", ":\n"),
    ],
)
def test_hex_in_any_dress(text: str) -> None:
    assert run("--request", text) == run("--request", "-", stdin=text) == TEXT


def frame(api: str, version: int, direction: Direction, **body: object) -> str:
    key = specs.api(api).key
    head = {"correlation_id": 1}
    if direction == "request":
        head |= {"request_api_key": key, "request_api_version": version}
    return encode_frame(Frame(direction, key, version, head, body)).hex()


def produce(records: bytes) -> str:
    topics = [{"name": "t", "partition_data": [{"index": 0, "records": records}]}]
    return frame("Produce", 7, "request", topic_data=topics)


def offsets(timestamp: int) -> str:
    topics = [{"name": "t", "partitions": [{"partition_index": 0, "timestamp": timestamp}]}]
    return frame("ListOffsets", 1, "request", replica_id=-1, topics=topics)


@pytest.mark.parametrize(
    ("hex_", "lines"),
    [
        (
            produce(BATCH),
            [
                "  1 batch, 0 records\n",
                "  batch at offset 5: magic 2, none, 0 records, 61 bytes, wrong crc\n",
                "... (61 bytes)\n",
            ],
        ),
        (
            produce(BATCH * 12 + BATCH[:40]),
            [
                "  12 batches, 0 records, 40 bytes of an incomplete batch\n",
                "  and 2 more batches\n",
            ],
        ),
        (offsets(1_700_000_000_123), ["  timestamp: 1700000000123 (2023-11-14T22:13:20.123Z)\n"]),
        (offsets(-1), ["  timestamp: -1\n"]),
        (frame("Metadata", 1, "request", topics=[{"name": "a\x9b2Jb"}]), ["a�2Jb"]),
        (
            "0003 0009 00000001 ffff 8000 00 01 00 00 00",
            ["unusual: ", "(header._tags at byte 12)"],
        ),
        ("0003 0009 00000001 ffff 00 00 01 00 00 00", ["body:\n"]),
    ],
    ids=["a batch", "12 batches", "a moment", "no moment", "a cursor", "odd tags", "tags"],
)
def test_a_request_in_lines(hex_: str, lines: list[str]) -> None:
    text = run("--request", hex_)
    assert [line for line in lines if line not in text] == []
    assert text.count("batch at offset") in (0, 1, 10), "of many batches ten are shown"
    assert ("unusual" in text) == ("unusual: " in lines)


def test_a_response_needs_to_know_what_it_answers() -> None:
    text = frame("Heartbeat", 4, "response", error_code=27)
    answer = run("--response", text, "--api", "heartbeat", "--api-version", "4")
    assert "  error_code: 27 (REBALANCE_IN_PROGRESS)\n" in answer


def test_what_is_odd_stands_below_and_in_json() -> None:
    said = "unusual: 1 trailing bytes (body at byte 4); Kafka accepts this but never writes it\n"
    assert run("--request", METADATA + " 00").endswith(said)
    assert command.run("decode", "--request", METADATA + "ff", "--json").document == {
        "api": "Metadata",
        "version": 1,
        "direction": "request",
        "header": {
            "request_api_key": 3,
            "request_api_version": 1,
            "correlation_id": 7,
            "client_id": "a",
        },
        "body": {"topics": None},
        "inside": {},
        "oddities": [{"path": "", "offset": 4, "what": "1 trailing bytes"}],
    }


def test_what_hides_inside_bytes_is_shown_below() -> None:
    subscription = bytes.fromhex("0000 00000001 000174 ffffffff")
    protocols = [{"name": "range", "metadata": subscription}]
    text = frame("JoinGroup", 5, "request", protocol_type="consumer", protocols=protocols)
    shown = run("--request", text)
    assert "inside:\n  protocols[0].metadata:\n    message: " in shown
    assert '      topics: ["t"]\n' in shown
    found = command.run("decode", "--request", text, "--json").document["inside"]
    assert found["protocols[0].metadata"]["values"] == {"topics": ["t"], "user_data": None}


def test_a_release() -> None:
    partition = {"partition_index": 1, "leader_id": 2, "leader_epoch": 3}
    body = {"topics": [{"topic_name": "t", "partitions": [partition]}]}
    codec = specs.api("EndQuorumEpoch").request.codec(0, "2.7")
    data = bytes.fromhex("0036 0000 00000001 ffff") + codec.encode(body)
    assert "replica_id: 0" in run("--request", data.hex(), "--release", "2.7.1")


@pytest.mark.parametrize("version", ["3", "4", "99"])
def test_a_version_that_the_broker_does_not_know_is_answered_in_the_first(version: str) -> None:
    """KIP-511: an ApiVersions response with error 35 is laid out as v0."""
    answer = "00000001 0023 00000001 0012 0000 0003"
    text = run("--response", answer, "--api", "ApiVersions", "--api-version", version)
    assert text == (
        "ApiVersions v0 response\nheader:\n  correlation_id: 1\nbody:\n"
        "  error_code: 35 (UNSUPPORTED_VERSION)\n  api_keys: 1\n    [0]:\n      api_key: 18\n"
        "      min_version: 0\n      max_version: 3\n"
    )
