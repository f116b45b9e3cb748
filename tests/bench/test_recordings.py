"""The captures of the bench: both kinds hold the same exchanges, whole, and every tool reads them."""

from __future__ import annotations

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
from bench.load import MIB
from bench.readers import WAYS
from bench.reading import TSHARK, read_once
from bench.reading import WAYS as COMMANDS
from bench.recordings import KINDS, Recording

SIZE = 1
"""What the connections say once: a few MiB."""


@pytest.fixture(scope="module", params=KINDS)
def recording(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Recording:
    name, make = KINDS[request.param]
    return make(tmp_path_factory.mktemp("recording") / name, SIZE)


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


@pytest.mark.parametrize("name", WAYS)
def test_every_way_reads_all_of_it(name: str, recording: Recording) -> None:
    if name == "dpkt":
        pytest.importorskip("dpkt")
    (counts,) = [way.counts for way in COMMANDS if way.command[-1] == name]
    assert WAYS[name](recording.path) == getattr(recording, counts)


@pytest.mark.needs_tshark
def test_tshark_finds_every_frame(recording: Recording) -> None:
    (way,) = [way for way in COMMANDS if way.name == TSHARK]
    cost, remark = read_once(way, recording)
    assert not remark
    assert cost.peak_mib > 20
