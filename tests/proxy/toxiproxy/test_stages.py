"""Toxics behind each other, on a clock of the test's own."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from barnabas.proxy.toxiproxy.behaviour import MS, PIECES, End, Piece
from barnabas.proxy.toxiproxy.stages import Stages, behaviour
from barnabas.proxy.toxiproxy.toxics import TYPES, Toxic

Timed = list[tuple[int, Piece]]


def toxic(type_: str, toxicity: float = 1.0, /, **attributes: Any) -> Toxic:
    given_ = {name: attributes.get(name, 0) for name in TYPES[type_]}
    return Toxic(type_, type_, "upstream", toxicity, given_)


def stages(*toxics: Toxic, now: int = 0) -> Stages:
    result = Stages()
    for each in toxics:
        result.add(each.name, behaviour(each, lambda: 0.5, now))
    return result


def until_idle(found: Stages, *, most: int = 10_000) -> Timed:
    """Return the pieces that leave, with their times in ms."""
    left: Timed = []
    while (due := found.due) is not None and len(left) < most:
        left += [(due // MS, piece) for piece in found.advance(due)]
    return left


def test_latency_counts_from_the_arrival_and_keeps_the_order() -> None:
    result = stages(toxic("latency", latency=100))
    assert result.put(b"a", 0) == result.put(b"b", 30 * MS) == result.put(End.FIN, 40 * MS) == []
    assert until_idle(result) == [(100, b"a"), (130, b"b"), (130, End.FIN)]


def test_bandwidth_is_a_line_in_pieces_of_100_ms() -> None:
    result = stages(toxic("bandwidth", rate=10))
    result.put(bytes(2500), 0)
    result.put(bytes(10), 0)
    pieces = [(when, len(piece)) for when, piece in until_idle(result) if isinstance(piece, bytes)]
    assert pieces == [(100, 1000), (200, 1000), (250, 500), (251, 10)]
    result.put(bytes(100), 1000 * MS)
    assert until_idle(result) == [(1010, bytes(100))], "an idle line saves nothing up"


def test_through_a_line_of_0_nothing_comes_until_it_changes() -> None:
    result = stages(toxic("bandwidth", rate=0))
    result.put(b"a", 0)
    assert result.due is None
    result.update("bandwidth", behaviour(toxic("bandwidth", rate=1), lambda: 0.0, 5 * MS))
    assert until_idle(result) == [(6, b"a")]


def test_a_timeout_begins_anew_with_each_piece() -> None:
    result = stages(toxic("timeout", timeout=100))
    assert result.put(b"a", 50 * MS) == []
    assert result.advance(149 * MS) == []
    assert until_idle(result) == [(150, End.CLOSE)]
    assert result.put(b"b", 200 * MS) == []


def test_a_timeout_that_has_closed_closes_no_second_time_when_it_changes() -> None:
    result = stages(toxic("timeout", timeout=100))
    result.put(b"a", 0)
    assert result.advance(100 * MS) == [End.CLOSE]
    result.update("timeout", behaviour(toxic("timeout", timeout=50), lambda: 0.0, 100 * MS))
    assert (result.due, result.advance(1000 * MS)) == (None, [])


def test_what_never_comes_sets_no_timer() -> None:
    attributes = {"latency": "latency", "timeout": "timeout", "slow_close": "delay"}
    for type_, attribute in attributes.items():
        result = stages(toxic(type_, **{attribute: 2**63 - 1}))
        result.put(b"a", 0)
        result.put(End.FIN, 0)
        assert result.due is None


def test_a_limit_goes_on_counting_when_it_changes() -> None:
    result = stages(toxic("limit_data", bytes=10))
    assert result.put(b"12345", 0) == [b"12345"]
    result.update("limit_data", behaviour(toxic("limit_data", bytes=7), lambda: 0.0, 0))
    assert result.put(b"12345", 0) == [b"12", End.CLOSE]
    assert result.put(b"12345", 0) == []


def test_a_second_end_is_late_with_the_first() -> None:
    result = stages(toxic("slow_close", delay=100))
    result.put(End.FIN, 0)
    result.put(End.CLOSE, 20 * MS)
    assert until_idle(result) == [(100, End.FIN), (100, End.CLOSE)]


def test_what_waits_leaves_when_its_toxic_goes_and_meets_the_others() -> None:
    result = stages(toxic("latency", latency=1000), toxic("slow_close", delay=70))
    result.put(b"a", 0)
    result.put(End.FIN, 0)
    assert result.remove("latency", 10 * MS) == [b"a"]
    assert until_idle(result) == [(80, End.FIN)]
    assert result.remove("latency", 0) == []


def test_a_timeout_that_goes_closes() -> None:
    result = stages(toxic("timeout", timeout=0))
    assert result.remove("timeout", 0) == [End.CLOSE]
    assert stages(toxic("timeout", 0.5, timeout=0)).remove("timeout", 0) == [], "it did not act"


def test_full_is_what_holds_more_than_its_room() -> None:
    found, late = stages(toxic("bandwidth", rate=1)), stages(toxic("latency", latency=1))
    full = []
    for piece in (bytes(64 << 10), b"a"):
        found.put(piece, 0)
        full.append(found.full)
    found.advance(1000 * MS)
    late.put(bytes(32 << 20), 0)
    assert [*full, found.full, late.full] == [False, True, False, False]


@given(
    data=st.binary(min_size=1, max_size=500),
    size=st.integers(-5, 60),
    variation=st.integers(-5, 100),
    seed=st.integers(0, 9),
)
def test_whatever_a_slicer_is_told_the_bytes_are_the_same(
    data: bytes, size: int, variation: int, seed: int
) -> None:
    slicer = toxic("slicer", 2, average_size=size, size_variation=variation)
    acts = behaviour(slicer, random.Random(seed).random, 0)
    pieces = [piece for _, piece in acts.plan(data, 0) if isinstance(piece, bytes)]
    assert b"".join(pieces) == data
    assert all(pieces)
    assert max(map(len, pieces)) <= max(size + variation, 1)


def test_many_small_pieces_are_as_full_as_many_bytes() -> None:
    result = stages(toxic("slicer", average_size=1), toxic("latency", latency=1000))
    result.put(bytes(PIECES), 0)
    assert not result.full
    result.put(b"a", 0)
    assert result.full
