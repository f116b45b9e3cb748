"""Test frames without an end in captures, checks, conversions and the live log."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import partial, partial_of
from barnabas.captures.tcp.events import Chunk, Closed, Event, Opened
from barnabas.specs.frames import Direction
from tests.captures.conversion.given import converted, rows
from tests.captures.traffic import produce, request, response
from tests.places import ROOT

CASE = ROOT / "tests/captures/foreign/frames_cut_off.pcap"
MS = 1_000_000
CUT = "request cut off: 300 of 612 bytes, then "


def arrived(direction: Direction, ms: int, data: bytes, packet: int = 0) -> Event:
    return Chunk(1, "arrived", direction, ms * MS, data, (), packet)


def read(*events: Event, careful: bool = False) -> tuple[list[Exchange], Conversations]:
    conversations = Conversations(strays=True, on_frame=(lambda *_: None) if careful else None)
    opened = Opened(1, 0, "10.0.0.1:5", "10.0.0.2:9092", {})
    return list(conversations.exchanges([opened, *events])), conversations


def test_a_capture_of_others() -> None:
    capture = open_capture(CASE)
    found = [(exchange.connection, exchange.api, exchange.note) for exchange in capture.exchanges()]
    assert [one for one in found if one[2]] == [
        (1, "Produce", CUT + "the client closed (reset)"),
        (2, "Produce", CUT + "the client closed"),
        (4, "Metadata", "response cut off: 20 of 33 bytes, then the broker closed (reset)"),
        (3, "Produce", CUT + "the capture ends"),
    ]
    assert len(found) == 8
    assert capture.conversations.skipped == 0
    assert dict(capture.reader.left_out) == {(1080, "unknown"): 1, (3000, "unknown"): 1}


def test_a_copy_says_the_same_and_shows_no_more_than_headers(tmp_path: Path) -> None:
    copy = converted(CASE, tmp_path / "copy.pcapng")
    assert rows(copy) == rows(CASE)
    assert b"\0\1t\0\0\0\1" in CASE.read_bytes()
    assert b"\0\1t\0\0\0\1" not in copy.read_bytes()
    again = converted(copy, tmp_path / "again.pcapng")
    assert again.read_bytes() == copy.read_bytes()


@pytest.mark.parametrize("careful", [True, False])
@pytest.mark.parametrize("step", [7, 1000])
def test_when_and_where_its_last_byte_was_seen(step: int, careful: bool) -> None:
    whole, begun = produce(1, b"whole"), produce(2, b"x" * 300)[:200]
    data = whole + begun
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    pieces.insert(0, produce(0, b"of which the others' kind is known"))
    chunks = [arrived("request", at, each, at) for at, each in enumerate(pieces, 1)]
    found, conversations = read(*chunks, Closed(1, 999 * MS, False), careful=careful)
    *whole_ones, last = found
    assert {whole_one.note for whole_one in whole_ones} == {"no response: connection closed"}
    assert (last.correlation_id, last.ordinal) == (2, 2)
    assert last.ts == len(chunks) * MS
    assert last.request_packet == len(chunks)
    assert partial_of(last.note) == "request"
    assert conversations.skipped == 0


@pytest.mark.parametrize(
    ("asked", "came", "notes"),
    [
        (struct.pack(">iB", 1, 0x60), b"\0\0\0\x09", ["response cut off: 4 of 13 bytes, then x"]),
        (struct.pack(">iB", 1, 0x60), b"\0\0\0\x09ab", ["response cut off: 6 of 13 bytes, then x"]),
        (struct.pack(">iB", 1, 0x60) + b"\0\0\0\x09ab", b"", ["no response: x"]),
        (request(0), response(0)[:7], ["no response: x"]),
        (request(0), response(0)[:8], [f"response cut off: 8 of {len(response(0))} bytes, then x"]),
        (request(1) + struct.pack(">ihhih", 50, 999, 0, 2, 0), b"", ["no response: x"]),
    ],
    ids=[
        "token",
        "begun token",
        "asked by a token",
        "no correlation id",
        "correlation id",
        "request of no API",
    ],
)
def test_which_frame_it_is(asked: bytes, came: bytes, notes: list[str]) -> None:
    found, _ = read(arrived("request", 1, asked), arrived("response", 2, came))
    assert [one.note.replace("the capture ends", "x") for one in found] == notes


def test_a_response_belongs_to_the_request_that_it_answers() -> None:
    found, conversations = read(
        arrived("request", 1, request(1) + request(2)),
        arrived("response", 2, response(1)),
        arrived("response", 3, response(2)[:9]),
        Closed(1, 4 * MS, True, "response"),
    )
    size = len(response(2))
    note = partial("response", 9, size, "the broker closed (reset)")
    assert [(one.correlation_id, one.note) for one in found] == [(1, ""), (2, note)]
    assert conversations.skipped == 0
