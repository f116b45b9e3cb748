"""Captures of others, the whole way: whatever the network and the sniffer did, the same exchanges."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.captures.files.pcapng import CaptureError
from barnabas.captures.kafka.notes import partial_of
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.headers import ACK, PSH, SYN, TcpSegment
from tests.captures.traffic import (
    BROKER,
    CLIENT,
    carriers,
    exchanges,
    gist,
    ip_packet,
    segments,
    talk,
    write_pcap,
)

QUICK = settings(max_examples=60)
WHOLE = 1 << 20
ROUNDS = 6


def every(size: int) -> Iterator[int]:
    return itertools.repeat(size)


def capture(path: Path, found: list[TcpSegment]) -> Path:
    return write_pcap(path, map(ip_packet, found))


@pytest.fixture
def expected(tmp_path: Path) -> list[Any]:
    found = exchanges(capture(tmp_path / "expected", segments(talk(), every(WHOLE))))
    assert [x.correlation_id for x in found] == list(range(1, 14))
    assert {x.note for x in found} == {"", "no response (acks=0)"}
    assert all(x.request is not None for x in found)
    assert found[1].request_packet == 6
    assert found[1].response_packet == 7
    return gist(found)


def answered(intact: list[bool]) -> list[tuple[int, bool]]:
    """(correlation id, whether its response is there) of the exchanges whose frames are intact."""
    there: dict[int, bool] = {}
    for (direction, data), whole in zip(talk(rounds=ROUNDS), intact, strict=True):
        number = int.from_bytes(data[8:12] if direction == "request" else data[4:8])
        if direction == "request" and whole:
            there[number] = False
        elif number in there and whole:
            there[number] = True
    return sorted(there.items())


def seen(path: Path) -> list[tuple[int, bool]]:
    """Those whose request is whole, and whether its response is."""
    whole = (x for x in exchanges(path) if partial_of(x.note) != "request")
    return [(x.correlation_id, x.response_body is not None) for x in whole]


@QUICK
@given(
    sizes=st.lists(st.integers(1, 200), min_size=1, max_size=20),
    isn=st.integers(0, 2**32 - 1) | st.integers(2**32 - 500, 2**32 - 1),
    late=st.integers(0, 30),
    seed=st.integers(0, 2**32),
)
def test_any_segmentation_order_repetition_and_overlap(
    tmp_path: Path, expected: list[Any], sizes: list[int], isn: int, late: int, seed: int
) -> None:
    random = Random(seed)
    whole = segments(talk(), itertools.cycle(sizes), isn=isn)
    sent = {CLIENT: b"", BROKER: b""}
    begun = {CLIENT: whole[0].seq + 1, BROKER: whole[1].seq + 1}
    found: list[TcpSegment] = []
    for segment in whole:
        found.append(segment)
        sent[segment.source] += segment.payload
        if segment.flags & SYN:
            continue
        if random.random() < 0.2:  # it is sent again, in other pieces
            stream = sent[segment.source]
            at = random.randint(0, len(stream))
            piece = stream[at : random.randint(at, len(stream))]
            seq = (begun[segment.source] + at) % 2**32
            found.append(segment._replace(seq=seq, payload=piece, flags=ACK | PSH))
        if random.random() < 0.2:
            found.append(random.choice(found))
        if random.random() < 0.1:  # a keep-alive, with a byte that means nothing
            seq = (begun[segment.source] + len(sent[segment.source]) - 1) % 2**32
            found.append(segment._replace(seq=seq, payload=b"", flags=ACK))
    moved = sorted(range(3, len(found)), key=lambda at: at + random.randint(0, late))
    packets = found[:3] + [found[at] for at in moved]
    assert gist(exchanges(capture(tmp_path / "f", packets))) == expected


@QUICK
@given(
    begin=st.integers(0, 120), end=st.integers(0, 120), size=st.sampled_from([13, 50, 100, WHOLE])
)
def test_cutting_loses_only_what_was_cut(tmp_path: Path, begin: int, end: int, size: int) -> None:
    said = talk(rounds=ROUNDS)
    whole = segments(said, every(size))
    begin, end = sorted((begin % (len(whole) + 1), end % (len(whole) + 1)))
    found = seen(capture(tmp_path / "f", whole[begin:end]))
    within = set(range(begin, end))
    assert found == answered([places <= within for places in carriers(said, whole)])


@QUICK
@given(
    missing=st.sets(st.integers(3, 120), min_size=1, max_size=6),
    size=st.sampled_from([30, 50, 400]),
)
def test_missing_packets_cost_what_they_carried(
    tmp_path: Path, missing: set[int], size: int
) -> None:
    said = talk(rounds=ROUNDS)
    whole = segments(said, every(size))
    path = capture(tmp_path / "f", [s for at, s in enumerate(whole) if at not in missing])
    assert seen(path) == answered([not places & missing for places in carriers(said, whole)])


def test_each_packet_twice(tmp_path: Path, expected: list[Any]) -> None:
    twice = [segment for segment in segments(talk(), every(60)) for _ in range(2)]
    assert gist(exchanges(capture(tmp_path / "f", twice))) == expected


@pytest.mark.parametrize("skew", [0, 7, -7])
def test_several_captures_of_the_same(tmp_path: Path, expected: list[Any], skew: int) -> None:
    """Neither has all, and their clocks differ by as many packets."""
    whole = list(map(ip_packet, segments(talk(), every(60))))
    lead = [b""] * 10
    one = [data if at % 3 else b"" for at, data in enumerate(whole)]
    two = [data if at % 3 != 1 else b"" for at, data in enumerate(whole)]
    first = write_pcap(tmp_path / "one", [*lead, *one])
    second = write_pcap(tmp_path / "two", [*lead[: 10 + skew], *[b""] * skew, *two])
    assert gist(exchanges(first, second)) == expected


@pytest.mark.parametrize("snap", [54, 70, 100, 200])
def test_a_snap_length_loses_only_what_it_cut(tmp_path: Path, snap: int) -> None:
    said = talk(rounds=ROUNDS)
    whole = segments(said, every(150))
    path = write_pcap(tmp_path / "f", [ip_packet(segment)[:snap] for segment in whole])
    reader = CaptureReader(path)
    list(reader)
    cut = {at for at, segment in enumerate(whole) if len(ip_packet(segment)) > snap}
    assert reader.packets.cut == len(cut)
    whole_frames = [
        all(len(ip_packet(whole[at])) <= snap for at in places) for places in carriers(said, whole)
    ]
    everything = dict(answered([True for _ in said]))
    assert everything.items() >= set(seen(path))
    assert set(answered(whole_frames)) <= set(seen(path))


@QUICK
@given(data=st.data())
def test_any_bytes_give_events_or_one_error(tmp_path: Path, data: st.DataObject) -> None:
    path = capture(tmp_path / "f", segments(talk(rounds=1), every(80)))
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(whole) - 1))
        piece = data.draw(st.binary(max_size=6))
        whole[at : at + data.draw(st.integers(0, 6))] = piece
    path.write_bytes(data.draw(st.sampled_from([bytes(whole), data.draw(st.binary(max_size=200))])))
    try:
        found = exchanges(path)
    except CaptureError:
        return
    assert all(x.row() for x in found)
