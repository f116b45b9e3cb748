"""What a stream consists of, and which frame a comment means."""

from __future__ import annotations

from barnabas.captures.conversion.spans import NOBODYS, REST, Spans
from barnabas.captures.kafka.framing.stream_framing import CapturedFrame


def spans(*frames: tuple[int, int, int]) -> Spans:
    """(ordinal, bytes, bytes skipped before it) of each."""
    found = Spans()
    for place, (ordinal, size, skipped) in enumerate(frames):
        found.add(CapturedFrame(ordinal, 0, bytes(size), place=place, skipped=skipped))
    return found


def test_frames_and_what_is_between_them() -> None:
    found = spans((0, 10, 0), (1, 20, 7), (2, 5, 7))
    assert list(found.walk()) == [(0, 14), (None, 7), (1, 24), (2, 9), (None, REST)]
    assert list(found.verdicts) == [NOBODYS] * 3
    assert list(Spans().walk()) == [(None, REST)]


def test_ordinals_that_a_gap_has_moved() -> None:
    found = spans((0, 1, 0), (1, 1, 0), (7, 1, 9), (8, 1, 9), (-5, 1, 20), (-4, 1, 20))
    assert [found.ordinal(place) for place in range(6)] == [0, 1, 7, 8, -5, -4]
    for near in (1, 2):
        assert [found.place(ordinal, near) for ordinal in (1, 7, 8)] == [1, 2, 3]
    assert found.place(-4, 4) == 5
    assert found.place(2, 1) is None
    assert found.place(10**30, 1) is None
