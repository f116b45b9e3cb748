"""Test frames of a stream: any slicing, comments at their frames, gaps and nonsense counted."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.framing.frame_resync import FrameResync
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame, Framing
from tests.captures.traffic import request


def stream(*frames: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)


@given(st.lists(st.binary(max_size=40), max_size=6), st.data())
def test_any_slicing_gives_the_same_frames(frames: list[bytes], data: st.DataObject) -> None:
    whole = stream(*frames)
    framing = Framing()
    found: list[CapturedFrame] = []
    at = 0
    while at < len(whole):
        step = data.draw(st.integers(1, 30))
        found += framing.feed(whole[at : at + step], ts=at)
        at += step
    assert [frame.data for frame in found] == frames
    assert [frame.ordinal for frame in found] == list(range(len(frames)))
    assert (framing.broken, framing.skipped, framing.rest) == ("", 0, 0)


class Compared(dict[str, int]):
    """A comment that counts how often it is compared to another, or looked into."""

    looked = 0

    def __eq__(self, other: object) -> bool:
        Compared.looked += 1
        return super().__eq__(other)

    __hash__ = None

    def get(self, key: str, default: Any = None) -> Any:
        Compared.looked += 1
        return super().get(key, default)


@pytest.mark.parametrize("frame", [0, 10**9], ids=["this one", "one that never comes"])
def test_many_comments_cost_as_much_as_they_are(
    frame: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Compared, "looked", 0)
    framing, count = Framing(), 1_000
    for _ in range(count):  # frames that are whole
        list(framing.feed(stream(b"x"), 1, (Compared(frame=10**9),)))
    framing = Framing()
    whole = stream(b"x" * count)
    found: list[CapturedFrame] = []
    for at in range(len(whole)):  # one that comes in tiny pieces
        found += framing.feed(whole[at : at + 1], 1, (Compared(frame=frame, number=at),))
    (one,) = found
    assert len(one.comments) == (len(whole) if frame == 0 else 0)
    assert Compared.looked < 4 * count


def test_nonsense_and_gaps_are_counted_and_nothing_is_made_up() -> None:
    framing = Framing()
    assert [f.data for f in framing.feed(stream(b"good") + b"\xff\xff\xff\xfe1234", 0)] == [b"good"]
    assert list(framing.feed(b"more", 0)) == []
    assert (framing.broken, framing.skipped) == ("a frame of -2 bytes", 12)

    framing = Framing()
    assert list(framing.feed(stream(b"half")[:6], 0)) == []
    framing.lose(100)
    assert list(framing.feed(stream(b"next"), 0)) == []
    assert (framing.broken, framing.skipped) == ("100 bytes are missing", 14)


def test_behind_a_gap_it_goes_on_with_the_next_frame_that_holds() -> None:
    framing = Framing(search=FrameResync())
    first, second = request(1, 18, 0), request(2, 18, 0)
    assert len(list(framing.feed(first + b"begun", 1))) == 1
    framing.lose(40)
    assert list(framing.feed(b"rest of it" + second[:6], 2, (), 20)) == []
    (frame,) = framing.feed(second[6:] + first[:3], 3, (), 21)
    assert (frame.data, frame.ts, frame.packet, frame.after_gap) == (second[4:], 3, 21, True)
    (frame,) = framing.feed(first[3:], 4)
    assert (frame.after_gap, frame.data) == (False, first[4:])
    assert (framing.skipped, framing.rest) == (5 + 10, 0)


def test_nonsense_costs_no_more_than_itself() -> None:
    framing = Framing(search=FrameResync())
    ask = request(1, 18, 0)
    found = list(framing.feed((ask + b"\xff" * 7) * 2000, 1))
    assert [frame.data for frame in found] == [ask[4:]] * 2000
    assert framing.skipped + framing.rest == 7 * 2000
    assert all(frame.ordinal < -1 for frame in found[1:])


def test_a_comment_at_its_end_says_a_frame_its_number() -> None:
    framing = Framing(search=FrameResync())
    framing.lose(100)
    ask = request(1, 18, 0)
    found = list(framing.feed(ask * 3, 1, ({"frame": 7, "left": "later"},)))
    assert [frame.ordinal for frame in found] == [5, 6, 7]
    assert found[2].comments == ({"frame": 7, "left": "later"},)
    assert [frame.ordinal for frame in framing.feed(ask, 2)] == [8]
