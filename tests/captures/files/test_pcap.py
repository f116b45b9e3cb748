"""Test classic pcap: every byte order and resolution; broken files end with a CaptureError or normally."""

from __future__ import annotations

import io
import struct

import pytest

from barnabas.captures.files.pcap import read_runs
from barnabas.captures.files.pcapng import BLOCK_LIMIT, Block, CaptureError, Packet, each

HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
ONE = struct.pack("<IIII", 5, 7, 3, 9) + b"abc"


def blocks(data: bytes) -> list[Block]:
    return list(each(read_runs(io.BytesIO(data))))


def test_records_with_longer_headers() -> None:
    head = struct.pack(">IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 65535, 1)
    record = struct.pack(">IIIIIHBx", 5, 7, 3, 3, 1, 0, 0) + b"abc"
    assert blocks(head + record * 2)[1] == Packet(5_000_007_000, 1, b"abc", (), 51)


def test_a_link_type_may_have_the_length_of_a_checksum_above_it() -> None:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 0xF400_0001)
    assert blocks(head + ONE) == [Packet(5_000_007_000, 1, b"abc", (), 24)]


def test_packets_longer_than_a_piece() -> None:
    long = struct.pack("<IIII", 5, 7, 3 << 20, 9) + bytes(3 << 20)
    found = blocks(HEAD + ONE + long + ONE)
    assert [len(block.data) for block in found if isinstance(block, Packet)] == [3, 3 << 20, 3]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not a pcap file"),
        (HEAD[:4] + bytes(20), "pcap version 0, not 2"),
        (HEAD + struct.pack("<IIII", 5, 7, BLOCK_LIMIT + 1, 9), "a packet of 67108865 bytes"),
    ],
)
def test_what_is_broken_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(CaptureError) as caught:
        blocks(data)
    assert reason in caught.value.reason
