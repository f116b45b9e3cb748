"""Blocks that do not fit are lost, until half of the ring is free; then another segment begins."""

from __future__ import annotations

from barnabas.captures.live.ring import Ring
from barnabas.captures.live.sink import RingSink


def put(sink: RingSink, data: bytes) -> bool:
    """As a flow does, which introduces itself where another segment has begun."""
    assert sink.segment
    return sink.put([data], 1, len(data))


def test_what_does_not_fit_is_lost_until_half_is_free() -> None:
    ring = Ring(16)
    sink = RingSink(ring, lambda: b"H")
    assert sink.segment == 1
    assert sink.put([b"0123456", b"789"], 1, 10)
    assert not sink.put([b"abcdef"], 1, 6)
    assert not sink.put([b"a"], 1, 1), "it would fit, but the one before is missing"
    assert (sink.segment, sink.stats.lost_packets, sink.stats.lost_bytes) == (1, 2, 7)
    assert _all(ring) == b"H0123456789"
    assert not sink.put([b"x"], 1, 1), "its flow is not introduced in the new segment"
    assert sink.segment == 2
    assert put(sink, b"y")
    assert _all(ring) == b"Hy"
    assert (sink.stats.packets, sink.stats.lost_packets) == (2, 3)


def test_it_says_when_less_than_a_quarter_is_free() -> None:
    ring, low = Ring(16), list[int]()
    sink = RingSink(ring, lambda: b"", lambda: low.append(ring.free))
    put(sink, bytes(12))
    assert low == []
    put(sink, b"1")
    assert low == [4]


def _all(ring: Ring) -> bytes:
    into = bytearray(ring.size)
    return bytes(into[: ring.take(into)])
