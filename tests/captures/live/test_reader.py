"""Test that a live stream is read like a capture, and continues exactly where it restarts after a loss."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.live.reader import LiveReader, RingFile
from barnabas.captures.live.ring import Ring
from barnabas.captures.live.sink import RingSink
from barnabas.captures.live.writer import RingWriter
from barnabas.captures.writing.writer import head
from tests.captures.live.closing import Closing
from tests.captures.traffic import request, response

SAMPLES = Path(__file__).parents[3] / "captures" / "samples"
CLIENT, LISTENER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
NOW = 1_700_000_000_000_000_000


@pytest.mark.parametrize("name", ["faults", "flapping", "kip-848", "sasl", "transactions"])
def test_what_a_proxy_wrote_is_read_as_decode_reads_it(name: str) -> None:
    file = SAMPLES / f"{name}.pcapng"
    capture, notes = open_capture(file), list[dict[str, Any]]()
    reader = LiveReader(io.BytesIO(file.read_bytes()), notes.append)
    rows = [(exchange.row(), exchange.end) for exchange in reader]
    assert rows == [(exchange.row(), exchange.end) for exchange in capture.exchanges()]
    assert notes == [note.comment for note in capture.reader.notes]


class Stream:
    """A connection through a ring that is read now and then."""

    def __init__(self, size: int = 1 << 16) -> None:
        self.ring = Ring(size)
        self.writer = RingWriter(RingSink(self.ring, lambda: head({})))
        self.flow = self.writer.open(1, CLIENT, LISTENER, NOW, {"client": "10.0.0.1:50000"})
        self.notes: list[dict[str, Any]] = []

    def ask(self, number: int, frames: dict[str, int]) -> None:
        """Write a request and its response, after the state of the connection where a segment begins."""
        for way, data in (
            ("request", request(number, 3, 1, topics=None)),
            ("response", response(number, 3, 1)),
        ):
            if self.flow.behind:
                known = {each: [count, 0] for each, count in frames.items()}
                self.flow.go_on(NOW, {"frames": known, "waiting": []})
            self.flow.arrived(way, data, NOW + number)  # type: ignore[arg-type]
            frames[way] += 1

    def ask_until_some_is_lost(self, frames: dict[str, int]) -> int:
        number = 0
        while not self.writer.sink.stats.lost_packets:
            number += 1
            self.ask(number, frames)
        return number

    def take(self) -> bytes:
        """Return the bytes in the ring."""
        into = bytearray(4096)
        return bytes(into[: self.ring.take(into)])


def test_after_a_loss_it_goes_on_with_the_next_frame() -> None:
    stream, frames = Stream(4096), {"request": 0, "response": 0}
    number = stream.ask_until_some_is_lost(frames)
    head = stream.take()
    for _ in range(3):
        number += 1
        stream.ask(number, frames)
    stream.writer.note(NOW, {"barnabas": "say", "text": "over"})
    stream.ring.close()
    reader = LiveReader(io.BytesIO(head + stream.take()), stream.notes.append)
    seen = [exchange.correlation_id for exchange in reader]
    assert reader.restarts == 1
    assert stream.notes == [{"barnabas": "say", "text": "over"}]
    lost = set(range(1, number + 1)) - set(seen)
    assert seen == sorted(seen)
    assert lost == set(range(min(lost), number - 1)), "one gap, and behind it nothing is missing"


def test_a_frame_that_leaves_changed_is_shown_at_once_though_the_first_such_were_lost() -> None:
    stream, frames = Stream(4096), {"request": 0, "response": 0}
    stream.flow.upstream(("127.0.0.1", 1), ("127.0.0.1", 2))
    number = stream.ask_until_some_is_lost(frames)
    stream.flow.left("response", response(number, 3, 1), NOW, {"frame": frames["response"]})
    head = stream.take()
    stream.ask(number + 1, frames)  # lost, and another segment begins
    changed = number + 2
    comment = {"frame": frames["response"], "edits": ["addresses"]}
    known = {each: [count, 0] for each, count in frames.items()}
    stream.flow.go_on(NOW, {"frames": known, "waiting": []})
    answer = response(changed, 3, 1)
    stream.flow.arrived("request", request(changed, 3, 1, topics=None), NOW)
    stream.flow.arrived("response", answer, NOW, [(len(answer), {**comment, "left": "changed"})])
    stream.flow.left("response", answer, NOW, comment)
    stream.writer.note(NOW, {"barnabas": "say", "text": "over"})
    stream.ring.close()
    shown: list[int | str] = []
    reader = LiveReader(io.BytesIO(head + stream.take()), lambda note: shown.append(note["text"]))
    for exchange in reader:
        shown.append(exchange.correlation_id)
    assert shown[-2:] == [changed, "over"]


def test_what_came_just_before_the_end_is_read() -> None:
    ring, into = Closing(8), bytearray(8)
    ring.last = lambda: ring.append([b"abc"], 3)
    assert RingFile(ring).readinto(into) == 3


def test_who_waits_for_more_is_told_first() -> None:
    stream, idle = Stream(), list[int]()
    stream.ask(1, {"request": 0, "response": 0})
    stream.ring.close()
    file = RingFile(stream.ring, lambda: idle.append(1))
    assert [x.correlation_id for x in LiveReader(file, stream.notes.append)] == [1]
    assert idle == [], "it never had to wait"
