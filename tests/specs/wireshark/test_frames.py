"""Conversations: framing, pairing, and where Kafka is looked for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from barnabas.specs.frames import Frame, encode_frame
from tests import places
from tests.captures.traffic import Said, ip_packet, request, response, segments, talk, write_pcap
from tests.specs.wireshark.dissected import Dissected, dissected, tshark

pytestmark = pytest.mark.needs_tshark

ASKED, ANSWERED = "request_in", "response_in"


def value(found: Dissected, name: str) -> str | None:
    values = [value.partition("\0")[0] for field, value in found.fields if field == name]
    return values[0] if values else None


def titles(found: list[Dissected]) -> list[str]:
    return [one.title.removeprefix("Kafka ").partition(": ")[2] for one in found]


def captured(path: Path, said: list[Said], size: int, port: int = 9092) -> Path:
    sizes = iter(lambda: size, None)
    result = segments(said, sizes, client=("10.0.0.1", 20000), broker=("10.0.0.2", port), isn=1000)
    return write_pcap(path, map(ip_packet, result))


@pytest.mark.parametrize("size", [7, 100, 10_000])
def test_responses_are_paired_in_order_however_the_bytes_come(tmp_path: Path, size: int) -> None:
    result = dissected(captured(tmp_path / "a.pcap", talk(), size), "-2")
    lines = [(one.split()[0], value(f, "correlation_id")) for f in result for one in titles([f])]
    requests = [f for f in result if value(f, "is_request") == "1"]
    responses = [f for f in result if value(f, "is_request") == "0"]
    assert [len(lines), len(requests), len(responses)] == [23, 13, 10]
    by_number = {value(f, "correlation_id"): f for f in requests}
    assert len(by_number) == 13
    for answer in responses:
        requested = by_number.pop(value(answer, "correlation_id"))
        assert value(answer, ASKED) == str(requested.packet)
        assert value(requested, ANSWERED) == str(answer.packet)
        assert value(answer, "api_key") == value(requested, "request_api_key")
        assert value(answer, "api_version") == value(requested, "request_api_version")
        milliseconds = answer.packet - requested.packet
        assert float(value(answer, "time") or -1) == pytest.approx(milliseconds / 1000)
    assert {value(f, "produce_request.acks") for f in by_number.values()} == {"0"}
    assert all(value(f, ANSWERED) is None for f in by_number.values())
    assert not any(f.problems for f in result)


def test_the_same_correlation_id_again_is_answered_in_order(tmp_path: Path) -> None:
    lines: list[Said] = [("request", request(4, 3, 1)), ("request", request(4, 3, 1, topics=[]))]
    lines += [("response", response(4, 3, 1)), ("response", response(4, 3, 1, controller_id=7))]
    result = dissected(captured(tmp_path / "a.pcap", lines, 25), "-2")
    pairs = [(value(f, ANSWERED) or value(f, ASKED), f.packet) for f in result]
    first, second, third, fourth = pairs
    assert [first[0], second[0]] == [str(third[1]), str(fourth[1])]
    assert [third[0], fourth[0]] == [str(first[1]), str(second[1])]


def test_a_version_that_the_broker_does_not_know_is_answered_in_version_0(tmp_path: Path) -> None:
    refusal = response(1, 18, 0, error_code=35, api_keys=[{"api_key": 18, "max_version": 3}])
    lines: list[Said] = [("request", request(1, 18, 5)), ("response", refusal)]
    _, found = dissected(captured(tmp_path / "a.pcap", lines, 1000))
    assert value(found, "api_version") == "5"
    assert value(found, "api_versions_response.error_code") == "35"
    assert value(found, "api_versions_response.api_keys.max_version") == "3"
    assert not found.problems


def test_an_api_or_a_version_to_come_is_shown_as_bytes(tmp_path: Path) -> None:
    head = Frame("request", 3, 1, {"correlation_id": 2, "client_id": "c"}, {})
    newer = bytearray(encode_frame(head))
    newer[6:8] = (99).to_bytes(2)
    lines: list[Said] = [("request", bytes(newer)), ("response", response(2, 3, 1))]
    asked, answered = dissected(captured(tmp_path / "a.pcap", lines, 1000))
    assert [value(asked, "client_id"), value(answered, ASKED)] == ["c", str(asked.packet)]
    for found in (asked, answered):
        assert found.problems == ["an API or a version that is not known here"]
        assert value(found, "unread")


def test_tokens_behind_an_old_handshake_are_no_frames_of_kafka(tmp_path: Path) -> None:
    token = b"\0ann\0secret"
    framed = len(token).to_bytes(4) + token
    lines: list[Said] = [
        ("request", request(1, 17, 0, mechanism="PLAIN")),
        ("response", response(1, 17, 0)),
        ("request", framed),
        ("response", bytes(4)),
        ("request", request(2, 3, 1)),
        ("response", response(2, 3, 1)),
    ]
    result = dissected(captured(tmp_path / "a.pcap", lines, 1000), "-2")
    tokens = [value(f, "sasl_token") for f in result]
    assert tokens == [None, None, token.hex(":"), "", None, None]
    assert titles(result)[-1] == "Metadata v1 response, correlation id 2"
    assert not any(f.problems for f in result)


@pytest.mark.parametrize("size", [1000, 100])
def test_tokens_of_gssapi_come_without_a_handshake_in_0_9(tmp_path: Path, size: int) -> None:
    first, second = b"\x60\x82" + bytes(300), b"\x05\x04" + bytes(10)
    lines: list[Said] = [
        ("request", len(first).to_bytes(4) + first),
        ("response", len(second).to_bytes(4) + second),
        ("request", len(second).to_bytes(4) + second),
        ("response", bytes(4)),
        ("request", request(2, 3, 0)),
        ("response", response(2, 3, 0)),
        ("request", len(first).to_bytes(4) + first),  # nobody begins again
    ]
    result = dissected(captured(tmp_path / "a.pcap", lines, size), "-2")
    tokens = [value(f, "sasl_token") for f in result[:4]]
    assert tokens == [one.hex(":") for one in (first, second, second, b"")]
    assert titles(result)[4:6] == [
        "Metadata v0 request, correlation id 2",
        "Metadata v0 response, correlation id 2",
    ]
    assert not any(f.problems for f in result[:6])
    assert all(f.problems for f in result[6:])


def test_a_capture_that_begins_in_the_middle_of_frames(tmp_path: Path) -> None:
    output = talk()
    whole = segments(
        output, iter(lambda: 50, None), client=("10.0.0.1", 2), broker=("10.0.0.2", 9092)
    )
    path = write_pcap(tmp_path / "a.pcap", map(ip_packet, whole[8:]))
    result = dissected(path, "-2")
    known = [f for f in result if value(f, ASKED) or value(f, ANSWERED)]
    assert len(known) >= 10
    assert any("no frame begins here" in f.title for f in result)


@pytest.mark.parametrize(
    ("port", "options"),
    [
        (9092, ()),
        (19092, ("-o", "bkafka.ports:9092,19092-19094")),
        (19092, ("-d", "tcp.port==19092,bkafka")),
        (31000, ()),  # by what is said there
    ],
)
def test_where_kafka_is_looked_for(tmp_path: Path, port: int, options: tuple[str, ...]) -> None:
    result = dissected(captured(tmp_path / "a.pcap", talk(), 1000, port), *options)
    assert len(result) == 23


def test_names_to_filter_by(tmp_path: Path) -> None:
    lines: list[Said] = [
        ("request", request(1, 3, 1, topics=[{"name": "orders"}])),
        ("response", response(1, 3, 1, topics=[{"name": "orders", "error_code": 3}])),
        ("request", request(2, 12, 4, group_id="g")),
        ("response", response(2, 12, 4)),
    ]
    path = captured(tmp_path / "a.pcap", lines, 1000)

    def packets(expression: str) -> list[str]:
        return tshark(path, "-Y", expression, "-T", "fields", "-e", "frame.number").stdout.split()

    asked, answered, heartbeat, heartbeat_response = packets("bkafka")
    assert packets('bkafka.topic == "orders"') == [asked, answered]
    assert packets('bkafka.group == "g"') == [heartbeat]
    assert packets("bkafka.error == 3") == [answered]
    assert packets("bkafka.heartbeat_response") == [heartbeat_response]
    assert packets('bkafka.metadata_request.topics.name == "orders"') == [asked]
    assert packets("bkafka.metadata_response.topics.error_code == 3") == [answered]
    assert packets(f"bkafka.{ASKED} == {heartbeat}") == [heartbeat_response]
    assert packets("bkafka.malformed || bkafka.odd") == []


def test_wireshark_takes_every_filter_of_the_document(tmp_path: Path) -> None:
    text = (places.ROOT / "docs" / "howto" / "wireshark.md").read_text()
    filters = [one for one in re.findall(r"`(bkafka\.[^`]+)`", text) if "MESSAGE" not in one]
    assert len(filters) > 20
    path = captured(tmp_path / "a.pcap", talk(), 1000)
    tshark(
        path, "-Y", " || ".join(f"({one})" for one in filters)
    )  # it ends with 2 at one that is none
