"""Test that Kafka conversations and their client are detected, and all others counted."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.framing import protocol_detection
from barnabas.captures.kafka.framing.protocol_detection import HELD, HELD_IN_ALL, ProtocolDetection
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.captures.tcp.headers import TcpSegment
from barnabas.specs.frames import DIRECTIONS
from tests.captures.traffic import Said, capture, exchanges, request, segments, talk

WHOLE = 1 << 20
every = itertools.repeat


def test_other_protocols_are_left_out_and_counted(tmp_path: Path) -> None:
    def plain(port: int, *said: Said) -> list[TcpSegment]:
        return segments(
            said, every(WHOLE), client=("10.0.0.9", 40000 + port), broker=("10.0.0.2", port)
        )

    hello = bytes.fromhex("16030100c8010000c40303") + bytes(200)
    http = b"GET /metrics HTTP/1.1\r\nHost: kafka\r\n\r\n"
    conversations = [
        segments(talk(), every(70)),
        plain(443, ("request", hello), ("response", hello)),
        plain(80, ("request", http), ("response", b"HTTP/1.1 200 OK\r\n\r\n")),
        plain(81, ("request", http))[4:],
        plain(22, ("response", b"SSH-2.0-OpenSSH_9.2\r\n"), ("request", b"SSH-2.0-x\r\n......")),
        plain(9092, ("request", bytes(5000))),
        plain(9093),
    ]
    together = [s for group in itertools.zip_longest(*conversations) for s in group if s]
    reader = CaptureReader(capture(tmp_path / "f", together))
    results = list(Conversations().exchanges(reader))
    assert {x.client_address for x in results} == {"10.0.0.1:50000"}
    assert len(results) == 13
    assert dict(reader.left_out) == {
        (443, "TLS"): 1,
        (80, "HTTP"): 1,
        (22, "unknown"): 1,
        (9092, "unknown"): 1,
    }


def test_who_is_the_client_is_found_from_what_is_said(tmp_path: Path) -> None:
    """Without a handshake, with a broker's port above the client's."""
    whole = segments(talk(), every(50), client=("10.0.0.1", 1024), broker=("10.0.0.2", 61000))
    result = exchanges(capture(tmp_path / "f", whole[4:]))
    assert {x.client_address for x in result} == {"10.0.0.1:1024"}
    assert sum(x.response_body is not None for x in result) >= 8


@pytest.mark.parametrize(
    ("first", "speaks"),
    [
        (request(1, 18, 3), True),
        (bytes.fromhex("00000080 60") + bytes(127), True),  # a GSSAPI token, as 0.9 sends it
        (request(1, 18, 0)[:6] + b"\1\0" + bytes(8), False),
        (request(1, 18, 0)[:6] + b"\0\x64" + request(1, 18, 0)[8:], False),
        (b"\x7f\0\0\0" + bytes(20), False),
        (b"\0\0\0\x20\0\3\0\1\0\0\0\1\x40\0" + bytes(30), False),
        (bytes.fromhex("02010000 0000 0023 6e6f6465 0a73") + b"ervice", False),  # of 33 MB
        (bytes.fromhex("00000080 60") + bytes(126), False),
    ],
)
def test_how_a_stream_begins(first: bytes, speaks: bool) -> None:
    recognition = ProtocolDetection()
    events: list[Event] = [
        Opened(7, 0, "a:1", "b:2", {}),
        Chunk(7, "arrived", "request", 0, first, ()),
    ]
    results = [event for one in events for event in recognition.feed(one)]
    list(recognition.end())
    assert bool(results) == speaks
    assert bool(recognition.left_out) != speaks


def test_of_a_conversation_that_began_before_an_unknown_number_of_bytes_is_missing() -> None:
    recognition = ProtocolDetection(renumbers=False)
    begun = Opened(7, 3, "a:1", "b:2", {}, whole=False)
    requested = Chunk(7, "arrived", "request", 4, request(1, 18, 3), ())
    results = [event for one in (begun, requested) for event in recognition.feed(one)]
    lost = [Lost(7, "arrived", way, 3, 0) for way in DIRECTIONS]
    assert results == [begun, *lost, requested]


def test_what_was_passed_on_counts_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol_detection, "HELD_IN_ALL", 100)
    recognition = ProtocolDetection()
    list(recognition.feed(Opened(0, 0, "a:1", "b:2", {})))
    list(recognition.feed(Chunk(0, "arrived", "request", 0, request(1, 18, 3)[:9], ())))
    for number in range(1, 20):
        list(recognition.feed(Opened(number, 0, "a:1", "b:2", {})))
        result = recognition.feed(Chunk(number, "arrived", "request", 0, request(1, 18, 3), ()))
        assert len(list(result)) == 2
    assert not recognition.left_out


@pytest.mark.parametrize("ends", [True, False])
def test_a_conversation_without_a_whole_frame_is_none(ends: bool) -> None:
    recognition = ProtocolDetection()
    first = request(1, 18, 3)
    events: list[Event] = [
        Opened(1, 0, "a:1", "b:2", {}),
        Chunk(1, "arrived", "request", 0, first[:15], ()),
        Chunk(1, "arrived", "response", 0, bytes(20), ()),
        Chunk(1, "arrived", "request", 0, first[15:-1], ()),
    ]
    assert [event for one in events for event in recognition.feed(one)] == []
    if ends:
        assert list(recognition.feed(Closed(1, 0, False))) == []
        list(recognition.end())
        assert dict(recognition.left_out) == {(2, "unknown"): 1}
        return
    last = Chunk(1, "arrived", "request", 0, first[-1:], ())
    assert list(recognition.feed(last)) == [*events, last]


def test_a_first_request_that_is_too_large_to_wait_for_passes() -> None:
    recognition = ProtocolDetection()
    size = HELD + 100
    begun = size.to_bytes(4) + request(1, 0, 3)[4:]
    pieces = [begun, bytes(HELD - len(begun)), b"x"]
    events: list[Event] = [Chunk(1, "arrived", "request", 0, piece, ()) for piece in pieces]
    list(recognition.feed(Opened(1, 0, "a:1", "b:2", {})))
    results = [len(list(recognition.feed(event))) for event in events]
    assert results == [0, 0, 4]


def test_what_nobody_can_decide_is_held_in_bounded_memory() -> None:
    recognition = ProtocolDetection()
    count = HELD_IN_ALL // HELD + 5
    for number in range(count):
        events: tuple[Event, ...] = (
            Opened(number, 0, "a:1", "b:2", {}, whole=False),
            Chunk(number, "arrived", "request", 0, b"\xff" * (HELD - 1), ()),
        )
        for event in events:
            assert list(recognition.feed(event)) == []
    assert 4 <= recognition.left_out[2, "unknown"] <= 6
    assert list(recognition.feed(Closed(count - 1, 0, False))) == []
    list(recognition.end())
    assert recognition.left_out[2, "unknown"] == count
