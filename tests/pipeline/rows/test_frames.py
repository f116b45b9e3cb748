"""The frames of a capture: the pure reader's, whatever the number of readers, paired as exchanges are."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY
from barnabas.captures.kafka.frames import frames
from barnabas.captures.reader import CaptureReader
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.frames import FRAMES, NO_REQUEST, frame_row, frame_rows
from tests import places
from tests.captures.traffic import BROKER, CLIENT, NOW, Said, produce, request, response
from tests.pipeline.samples import SAMPLES
from tests.pipeline.stages import in_memory

Row = dict[str, Any]


def order(row: Row) -> Any:
    return row["connection"], row["flow"], row["direction"], row["place"]


def typed(rows: list[Row]) -> list[Row]:
    result: list[Row] = batch(rows, FRAMES).to_pylist()
    return sorted(result, key=order)


def pure(path: Path) -> list[Row]:
    return typed(list(frame_rows(CaptureReader(path), "c")))


def shared(path: Path, readers: int) -> list[Row]:
    """What the stages of the pipeline come to."""
    result = in_memory([path], readers, frames=True)
    numbers = result.facts.connections
    return typed(
        [
            frame_row(one.details, numbers[one.section, one.connection_key], "c")
            for one in result.said
            if one.kind == "frame"
        ]
    )


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_frames_of_a_sample_are_the_pure_readers_whatever_the_readers(path: Path) -> None:
    right = pure(path)
    assert right
    assert len({order(row) for row in right}) == len(right)
    for readers in (1, 3):
        assert shared(path, readers) == right


@pytest.mark.parametrize("name", ["rebalance.pcap.gz", "transactions.pcapng", "faults.pcapng"])
def test_they_are_those_that_decode_shows(name: str) -> None:
    """Which takes captures apart by itself."""
    path = places.SAMPLES / name
    names = ("connection", "flow", "direction", "ordinal", "size", "packet", "correlation_id")
    shown = [
        (*(getattr(one, name) for name in names), one.ts) for one in frames(CaptureReader(path))
    ]
    results = [(*(row[name] for name in names), row["ts_ns"]) for row in pure(path)]
    assert sorted(results) == sorted(shown)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_what_has_a_partner_is_an_exchange_of_both(path: Path) -> None:
    exchanges = [
        one
        for one in Conversations(on_frame=lambda *_: None).exchanges(CaptureReader(path))
        if one.key != STRAY and one.response_size is not None
    ]
    paired = [row for row in pure(path) if row["paired"]]
    places = {
        "request": [(one.connection, one.request_place, one.response_packet) for one in exchanges],
        "response": [
            (one.connection, one.response_place, one.request_packet)
            for one in exchanges
            if one.response_place >= 0  # else the proxy made it
        ],
    }
    for direction, right in places.items():
        results = [
            (row["connection"], row["place"], row["partner_packet"])
            for row in paired
            if row["direction"] == direction
        ]
        assert sorted(results) == sorted(right)


def test_what_has_none_says_why(tmp_path: Path) -> None:
    path = tmp_path / "f.pcapng"
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flow = capture.open(1, CLIENT, BROKER, NOW, {})
        lines: list[Said] = [
            ("request", request(1, 18, 0)),
            ("response", response(1, 18, 0)),
            ("response", response(99, 18, 0)),
            ("request", produce(2, b"x", acks=0)),
            ("request", request(3, 18, 0)),
            ("request", struct.pack(">ihhih", 10, 999, 0, 4, -1)),
        ]
        for at, (direction, data) in enumerate(lines):
            flow.arrived(direction, data, NOW + at)
    rows = {(row["direction"], row["correlation_id"]): row for row in pure(path)}
    assert {key: row["paired"] for key, row in rows.items()} == {
        ("request", 1): True,
        ("response", 1): True,
        ("response", 99): False,
        ("request", 2): None,
        ("request", 3): False,
        ("request", 4): False,
    }
    assert rows["response", 99]["undecodable"] == NO_REQUEST
    assert rows["response", 99]["api"] is None
    assert rows["request", 4]["api"] == "key 999"
    assert "999" in rows["request", 4]["undecodable"]
    assert rows["request", 3]["undecodable"] == ""
    assert rows["request", 1]["partner_packet"] == rows["response", 1]["packet"]


def test_frames_are_not_kept_longer_than_they_wait(tmp_path: Path) -> None:
    """A row comes with the exchange, not with the end of the connection."""
    path = tmp_path / "f.pcapng"
    with CaptureWriter(path, limit=None, meta={}) as capture:
        flow = capture.open(1, CLIENT, BROKER, NOW, {})
        for number in range(3):
            flow.arrived("request", request(number, 18, 0), NOW + 2 * number)
            flow.arrived("response", response(number, 18, 0), NOW + 2 * number + 1)
    events = list(CaptureReader(path))
    so_far = [len(list(frame_rows(events[:count], ""))) for count in range(len(events) + 1)]
    assert max(so_far) == 6
    given = iter(events)
    rows = frame_rows(given, "")
    next(rows)
    assert next(given, None) is not None, "the first row comes before the last event"
