"""Test captures of TLS from file to exchanges: as without TLS, or with the reason why not."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.captures.tls.connection import DAMAGED, NO_KEYS
from barnabas.captures.tls.decryption import TlsCounts
from barnabas.captures.tls.keylog import KeyLog
from tests.captures.tls.talk import Ends
from tests.captures.traffic import (
    CLIENT,
    Said,
    capture,
    exchanges,
    gist,
    segments,
    talk,
)

DATA = Path(__file__).parent / "data"
# made by `openssl s_server` and `s_client` with `-tls1_3 -ciphersuites NAME -keylogfile NAME.keys`, each of
# which got a line `K` in the middle of the talk: new keys (KeyUpdate). Python can choose neither
SAMPLES = ("TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256")


every = itertools.repeat


def read(reader: CaptureReader) -> list[Any]:
    result = Conversations().exchanges(reader)
    return sorted(result, key=lambda exchange: (exchange.connection, exchange.correlation_id))


@pytest.fixture
def expected(tmp_path: Path) -> list[Any]:
    return gist(exchanges(capture(tmp_path / "expected", segments(talk(), every(1 << 20)))))


@pytest.fixture
def wire(tmp_path: Path) -> list[Said]:
    return Ends(tmp_path / "keys").wire(talk())


@pytest.fixture
def keys(tmp_path: Path, wire: list[Said]) -> KeyLog:
    return KeyLog((tmp_path / "keys").read_bytes())


@pytest.mark.parametrize("size", [1, 7, 100, 1448, 1 << 16])
def test_the_exchanges_are_those_without_tls(
    size: int, wire: list[Said], keys: KeyLog, expected: list[Any], tmp_path: Path
) -> None:
    reader = CaptureReader(capture(tmp_path / "f", segments(wire, every(size))), keys=keys)
    assert gist(read(reader)) == expected
    assert gist(read(reader)) == expected  # it may be read again
    assert reader.tls == TlsCounts(read=1)
    assert not reader.left_out


def test_packets_and_times_are_those_of_the_record_that_ends(
    wire: list[Said], keys: KeyLog, tmp_path: Path
) -> None:
    result = segments(wire, every(50))
    path = capture(tmp_path / "f", result)
    events = [event for event in CaptureReader(path, keys=keys) if isinstance(event, Chunk)]
    first = talk()[0][1]
    assert events[0].data == first
    sent = [at for at, one in enumerate(result, 1) if one.source == CLIENT and one.payload]
    stream = b"".join(result[at - 1].payload for at in sent)
    # its record is the first of its length: a header, the content with its type, a tag
    end = stream.index(b"\x17\3\3" + (len(first) + 17).to_bytes(2)) + 5 + len(first) + 17
    reached = list(itertools.accumulate(len(result[at - 1].payload) for at in sent))
    assert events[0].packet == next(
        at for at, so_far in zip(sent, reached, strict=True) if so_far >= end
    )
    assert events[0].ts_ns % 10**9 == (events[0].packet - 1) * 10**6


@pytest.mark.parametrize("name", SAMPLES)
def test_captures_of_openssl_with_new_keys_in_the_middle(name: str, expected: list[Any]) -> None:
    reader = CaptureReader(DATA / f"{name}.pcap", keys=KeyLog((DATA / f"{name}.keys").read_bytes()))
    assert gist(read(reader)) == expected
    assert reader.tls == TlsCounts(read=1)


def test_some_are_tls_and_some_are_not(
    wire: list[Said], keys: KeyLog, expected: list[Any], tmp_path: Path
) -> None:
    other = Ends(tmp_path / "others").wire(talk())
    plain = segments(talk(), every(70))
    hidden = segments(wire, every(70), client=("10.0.0.1", 50001))
    closed = segments(other, every(70), client=("10.0.0.1", 50002), broker=("10.0.0.2", 9093))
    late = segments(wire, every(70), client=("10.0.0.1", 50003))[40:]
    together = [s for turn in itertools.zip_longest(plain, hidden, closed, late) for s in turn if s]
    reader = CaptureReader(capture(tmp_path / "f", together), keys=keys)
    result = read(reader)
    assert [x.client_address for x in result] == ["10.0.0.1:50000"] * 13 + ["10.0.0.1:50001"] * 13
    assert [one[2:] for one in gist(result)] == [one[2:] for one in expected] * 2
    assert reader.tls.read == 1
    assert dict(reader.tls.unread) == {NO_KEYS: 1}
    assert dict(reader.left_out) == {(9093, "TLS"): 1, (19092, "TLS"): 1}


def test_a_capture_that_begins_behind_the_syn(
    wire: list[Said], keys: KeyLog, expected: list[Any], tmp_path: Path
) -> None:
    """The lower port would be the server's: the ClientHello says who is the client."""
    result = segments(wire, every(70), client=("10.0.0.1", 1024), broker=("10.0.0.2", 61000))
    reader = CaptureReader(capture(tmp_path / "f", result[3:]), keys=keys)
    seen = read(reader)
    assert {x.client_address for x in seen} == {"10.0.0.1:1024"}
    assert [one[2:] for one in gist(seen)] == [one[2:] for one in expected]


def test_cut_anywhere(wire: list[Said], keys: KeyLog, expected: list[Any], tmp_path: Path) -> None:
    """A file that ends early has the exchanges that are whole in it, and those without response."""
    result = segments(wire, every(90))
    whole = {one[4]: one for one in expected}
    for end in range(0, len(result), 3):
        reader = CaptureReader(capture(tmp_path / "f", result[:end]), keys=keys)
        for one in gist(read(reader)):
            there = whole[one[4]]
            assert one[:6] == there[:6]
            assert one[6] in (there[6], None)
        assert reader.tls.read + reader.tls.unread.total() == (end > 3)
        assert reader.tls.read or end < 30


def test_lost_segments_cost_what_they_carried(tmp_path: Path, expected: list[Any]) -> None:
    """Behind a gap the exchanges that are whole are there; no other is."""
    output = talk(rounds=12)
    ends = Ends(tmp_path / "keys")
    wire = ends.wire(output)
    keys = KeyLog((tmp_path / "keys").read_bytes())
    plain = gist(exchanges(capture(tmp_path / "p", segments(output, every(70)))))
    whole = {one[4]: one for one in plain}
    result = segments(wire, every(70))
    greeting = sum(len(data) for _, data in wire[: ends.greeting]) // 70 + 10
    random = Random(7)
    for _ in range(20):
        at = random.randrange(greeting, len(result) - 20)
        count = random.choice([1, 2, 5])
        lost = result[:at] + result[at + count :]
        reader = CaptureReader(capture(tmp_path / "f", lost), keys=keys)
        seen = gist(read(reader))
        assert {one[5] for one in seen} <= {one[5] for one in plain}
        answered = [one for one in seen if one[6] is not None]
        assert all(one[6] == whole[one[4]][6] for one in answered)
        assert len(seen) >= len(plain) - 2 * count - 5
        assert not reader.tls.broken


def test_what_is_damaged_is_counted_and_not_made_up(
    wire: list[Said], keys: KeyLog, tmp_path: Path
) -> None:
    result = segments(wire, every(70))
    at = len(result) - 12
    payload = result[at].payload
    result[at] = result[at]._replace(payload=payload[:40] + bytes([payload[40] ^ 1]) + payload[41:])
    reader = CaptureReader(capture(tmp_path / "f", result), keys=keys)
    seen = read(reader)
    assert 4 <= len(seen) < 13
    assert reader.tls == TlsCounts(read=1, broken={DAMAGED: 1})  # type: ignore[arg-type]
