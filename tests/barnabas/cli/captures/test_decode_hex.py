"""`barnabas decode --request HEX`: one frame, decoded."""

from __future__ import annotations

import json
import struct

import pytest
from typer.testing import CliRunner

from barnabas import specs
from barnabas.cli.app import app
from barnabas.specs.frames import Direction, Frame, encode_frame
from barnabas.trouble import Trouble

METADATA = "0003 0001 00000007 0001 61 ffffffff"


def run(*arguments: str, stdin: str | None = None) -> str:
    done = CliRunner().invoke(app, ["decode", *arguments], input=stdin, catch_exceptions=False)
    assert done.exit_code == 0, done.output
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
    assert run("--request", text) == (
        "Metadata v1 request\n"
        "header:\n"
        "  request_api_key: 3\n"
        "  request_api_version: 1\n"
        "  correlation_id: 7\n"
        '  client_id: "a"\n'
        "body:\n"
        "  topics: null\n"
    )
    assert run("--request", "-", stdin=text).startswith("Metadata v1 request\n")


def frame(api: str, version: int, direction: Direction, **body: object) -> str:
    key = specs.api(api).key
    head = {"correlation_id": 1}
    if direction == "request":
        head |= {"request_api_key": key, "request_api_version": version}
    return encode_frame(Frame(direction, key, version, head, body)).hex()


def test_a_response_needs_to_know_what_it_answers() -> None:
    text = frame("Heartbeat", 4, "response", error_code=27)
    answer = run("--response", text, "--api", "heartbeat", "--api-version", "4")
    assert "  error_code: 27 (REBALANCE_IN_PROGRESS)\n" in answer


def test_records_are_summed_up() -> None:
    batch = struct.pack(">qiibIhiqqqhii", 5, 49, 0, 2, 0, 0, 0, 0, 0, -1, -1, -1, 0)
    partition = {"index": 0, "records": batch}
    topics = [{"name": "t", "partition_data": [partition]}]
    text = run("--request", frame("Produce", 7, "request", topic_data=topics))
    assert "  1 batch, 0 records\n" in text
    assert "  batch at offset 5: magic 2, none, 0 records, 61 bytes, wrong crc\n" in text
    assert "... (61 bytes)\n" in text


def test_many_batches_are_counted_and_a_cut_one_is_measured() -> None:
    batch = struct.pack(">qiibIhiqqqhii", 5, 49, 0, 2, 0, 0, 0, 0, 0, -1, -1, -1, 0)
    topics = [{"name": "t", "partition_data": [{"index": 0, "records": batch * 12 + batch[:40]}]}]
    text = run("--request", frame("Produce", 7, "request", topic_data=topics))
    assert "  12 batches, 0 records, 40 bytes of an incomplete batch\n" in text
    assert text.count("batch at offset") == 10
    assert "  and 2 more batches\n" in text


def test_a_moment_is_given_a_date() -> None:
    topics = [{"name": "t", "partitions": [{"partition_index": 0, "timestamp": 1_700_000_000_123}]}]
    text = run("--request", frame("ListOffsets", 1, "request", replica_id=-1, topics=topics))
    assert "  timestamp: 1700000000123 (2023-11-14T22:13:20.123Z)\n" in text
    topics[0]["partitions"] = [{"partition_index": 0, "timestamp": -1}]
    text = run("--request", frame("ListOffsets", 1, "request", replica_id=-1, topics=topics))
    assert "  timestamp: -1\n" in text


def test_a_name_moves_no_cursor() -> None:
    topics = [{"name": "a\x9b2Jb"}]
    assert "\x9b" not in run("--request", frame("Metadata", 1, "request", topics=topics))


def test_what_is_odd_in_the_header_is_said_too() -> None:
    body = "00 01 00 00 00"
    assert "odd" not in run("--request", "0003 0009 00000001 ffff 00" + body)
    text = run("--request", "0003 0009 00000001 ffff 8000" + body)
    assert "unusual: " in text
    assert "(header._tags at byte 12)" in text


def test_what_is_odd_stands_below() -> None:
    text = run("--request", METADATA + " 00")
    assert text.endswith(
        "unusual: 1 trailing bytes (body at byte 4); Kafka accepts this but never writes it\n"
    )


def test_for_programs() -> None:
    found = json.loads(run("--request", METADATA + "ff", "--json"))
    assert found == {
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
    found = json.loads(run("--request", text, "--json"))["inside"]["protocols[0].metadata"]
    assert found["values"] == {"topics": ["t"], "user_data": None}


def test_a_release() -> None:
    partition = {"partition_index": 1, "leader_id": 2, "leader_epoch": 3}
    body = {"topics": [{"topic_name": "t", "partitions": [partition]}]}
    codec = specs.api("EndQuorumEpoch").request.codec(0, "2.7")
    data = bytes.fromhex("0036 0000 00000001 ffff") + codec.encode(body)
    assert "replica_id: 0" in run("--request", data.hex(), "--release", "2.7.1")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--request", "xyz"), 2, "'x' is not a hex digit (digit 1)"),
        (("--request", "abc"), 2, "3 hex digits are not a whole number of bytes"),
        (("--request", ""), 2, "no hex digits"),
        (("--request", "0003 0001 00000007 0001 61"), 1, "topics at byte 0: 4 bytes expected"),
        (("--request", "0003"), 1, "the header is cut off"),
        (("--request", "00ff 0001 00000007 ffff"), 1, "header at byte 0: no API has key 255"),
        (("--request", "0003 00ff 00000007 ffff 00"), 1, "MetadataRequest has versions 0 to "),
        (
            ("--response", "00000001", "--api", "StopReplica", "--api-version", "99"),
            2,
            "StopReplica has versions 0 to 4, not 99",
        ),
        (("--response", "0000", "--api", "Fetch", "--api-version", "1"), 1, "is cut off"),
        (("--request", METADATA, "--release", "new"), 2, "'new' is no release of Kafka"),
        (("--response", "00000001"), 2, "give --api and --api-version"),
        (
            ("--response", "00000001", "--api", "Fetsh", "--api-version", "1"),
            2,
            "did you mean 'Fetch'",
        ),
        (("--request", "00", "--dialect", "nope"), 2, "no dialect is called 'nope'"),
        ((), 2, "decode needs one of FILE, --request HEX or --response HEX"),
        (("x.pcapng", "--request", "00"), 2, "decode needs one of"),
        (("x.pcapng", "--api", "Fetch"), 2, "apply to --request and --response only"),
        (("--request", "00", "--frames"), 2, "--frames applies to a capture file"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], code: int, said: str) -> None:
    found = CliRunner().invoke(app, ["decode", *arguments])
    assert isinstance(found.exception, Trouble)
    assert found.exception.code == code
    assert said in str(found.exception)
    assert "\n" not in str(found.exception)


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


def test_a_response_of_an_unknown_version_is_refused() -> None:
    given = ["decode", "--response", "00000001 0000 00000000", "--api", "ApiVersions"]
    with pytest.raises(Trouble, match="ApiVersions has versions 0 to"):
        CliRunner().invoke(app, [*given, "--api-version", "99"], catch_exceptions=False)
