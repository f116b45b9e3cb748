"""Test that gathering bytes gives fewer chunks and the same exchanges."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.host_port import Endpoint
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.bytes_needed import NO_NEEDS, BytesNeeded, Needs, swapped
from barnabas.captures.tcp.events import Event, Opened
from barnabas.captures.tcp.headers import TcpSegment
from tests.captures.traffic import CLIENT, capture, gist, segments, talk


def unheard(events: Iterable[Event]) -> Iterator[Event]:
    """Return events whose reader can't set the bytes that it needs."""
    for event in events:
        yield event._replace(needs=NO_NEEDS) if isinstance(event, Opened) else event


@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=20),
    late=st.integers(0, 3),
    missing=st.sets(st.integers(3, 200), max_size=2),
    swapped=st.booleans(),
    seed=st.integers(0, 2**32),
)
def test_the_same_exchanges(
    tmp_path: Path, sizes: list[int], late: int, missing: set[int], swapped: bool, seed: int
) -> None:
    random = Random(seed)
    whole = segments(talk(), itertools.cycle(sizes))
    if swapped:
        whole = turned_round(whole)
    moved = sorted(range(len(whole)), key=lambda at: at + random.choice([0, 0, 0, late]))
    path = capture(tmp_path / "f", [whole[at] for at in moved if at not in missing])
    heard, each = Conversations(), Conversations()
    found = list(heard.exchanges(CaptureReader(path)))
    expected = list(each.exchanges(unheard(CaptureReader(path))))
    assert gist(found) == gist(expected)
    assert [places(one) for one in found] == [places(one) for one in expected]
    assert (heard.skipped, heard.losses, heard.undecoded) == (
        each.skipped,
        each.losses,
        each.undecoded,
    )


def places(exchange: Exchange) -> tuple[Any, ...]:
    """Return the times and packet numbers of an exchange."""
    return exchange.ts, exchange.latency_ms, exchange.request_packet, exchange.response_packet


def turned_round(whole: list[TcpSegment]) -> list[TcpSegment]:
    """Without a handshake, and the client has the lower port: it seems to be the server."""

    def end(one: Endpoint) -> Endpoint:
        return (one[0], 80) if one == CLIENT else one

    return [one._replace(source=end(one.source), target=end(one.target)) for one in whole[3:]]


def test_needs_are_swapped_with_the_ends() -> None:
    needs: Needs = {"request": BytesNeeded(), "response": BytesNeeded()}
    swapped(needs)["request"].bytes = 5
    assert (needs["request"].bytes, needs["response"].bytes) == (0, 5)
