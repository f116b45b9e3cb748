"""The captures of the bench: both kinds hold the same exchanges, whole, and every tool reads them."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from barnabas.captures.files.file_format import CaptureFile
from barnabas.captures.files.pcapng import Packet
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.headers import TcpSegment
from barnabas.captures.tcp.packets import Packets
from barnabas.captures.writing.flow_headers import SEGMENT
from bench import readers
from bench.load import MIB
from bench.readers import WAYS
from bench.reading import TSHARK, read_once
from bench.reading import WAYS as COMMANDS
from bench.recordings import KINDS, MSS, Recording, as_proxy, as_tcpdump
from bench.talk import small

SIZE = 1
"""What the connections say once: a few MiB."""


@pytest.fixture(scope="module", params=KINDS)
def recording(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Recording:
    name, make = KINDS[request.param]
    return make(tmp_path_factory.mktemp("recording") / name, SIZE)


def test_what_is_small_is_read_and_can_be_decoded(tmp_path: Path) -> None:
    recording = as_proxy(tmp_path / "small.pcapng", SIZE, small)
    found = exchanges(recording)
    assert len(found) == recording.exchanges
    assert max(one.request_size for one in found) < 2000
    assert not {one.undecodable or one.error or one.note for one in found} - {""}


def exchanges(recording: Recording) -> list[Exchange]:
    conversations = Conversations(strays=True)
    found = list(conversations.exchanges(CaptureReader(recording.path)))
    assert (conversations.losses, conversations.undecoded, conversations.skipped) == (0, 0, 0)
    return found


def segments(path: Path) -> list[TcpSegment]:
    with CaptureFile(path) as file:
        found = [
            Packets().tcp_segment(block.linktype, block.data)
            for block in file.blocks()
            if isinstance(block, Packet)
        ]
    assert None not in found
    return [segment for segment in found if segment]


def test_what_was_written_is_read_and_can_be_decoded(recording: Recording) -> None:
    found = exchanges(recording)
    assert len(found) == recording.exchanges
    assert not {one.undecodable or one.error or one.note for one in found} - {""}
    assert all(one.response for one in found)


def test_both_kinds_hold_the_same_exchanges(tmp_path: Path) -> None:
    ours, others = (
        Counter(
            (one.client_address, one.api, one.correlation_id, one.request_body, one.response_body)
            for one in exchanges(make(tmp_path / name, 4 * MIB))
        )
        for name, make in KINDS.values()
    )
    assert ours == others
    assert set(ours.values()) == {1}  # correlation ids go on when all is said again


def test_connections_are_interleaved(recording: Recording) -> None:
    sources = [segment.source for segment in segments(recording.path) if segment.payload]
    turns = sum(one != next_ for one, next_ in itertools.pairwise(sources))
    assert turns > 3 * len(set(sources))


def test_every_second_segment_is_acknowledged_where_tcpdump_listens(tmp_path: Path) -> None:
    found = segments(as_tcpdump(tmp_path / "a.pcap", SIZE).path)
    full = sum(len(segment.payload) == MSS for segment in found)
    assert max(len(segment.payload) for segment in found) == MSS
    assert full / 2 * 0.9 < sum(not segment.payload for segment in found) < full / 2 * 1.1


def test_the_proxys_packets_are_as_long_as_they_get(tmp_path: Path) -> None:
    found = segments(as_proxy(tmp_path / "a.pcapng", SIZE).path)
    assert max(len(segment.payload) for segment in found) == SEGMENT


def test_a_recording_of_nothing_opens_and_closes_connections(tmp_path: Path) -> None:
    for name, make in KINDS.values():
        made = make(tmp_path / name, 0)
        assert (made.exchanges, made.payload) == (0, 0)
        assert len(segments(made.path)) >= 6


@pytest.mark.parametrize("name", WAYS)
def test_every_way_reads_all_of_it(name: str, recording: Recording) -> None:
    if name == "dpkt":
        pytest.importorskip("dpkt")
    (counts,) = [way.counts for way in COMMANDS if way.command[-1] == name]
    assert WAYS[name](recording.path) == getattr(recording, counts)


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = as_tcpdump(tmp_path / "a.pcap", SIZE).path
    with CaptureFile(path) as file:
        starts = [block.file_offset for block in file.blocks() if isinstance(block, Packet)]
    data = path.read_bytes()
    path.write_bytes(data[: starts[100]] + data[starts[104] :])
    with pytest.raises(SystemExit, match="losses"):
        readers.exchanges(path)


@pytest.mark.needs_tshark
def test_tshark_finds_every_frame(recording: Recording) -> None:
    (way,) = [way for way in COMMANDS if way.name == TSHARK]
    cost, remark = read_once(way, recording)
    assert not remark
    assert cost.peak_mib > 20
