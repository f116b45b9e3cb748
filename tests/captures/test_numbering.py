"""Test that packets have tshark's numbers, whatever else a pcapng file holds."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

import pytest

from tests.captures.traffic import (
    NOW,
    block,
    capture,
    exchanges,
    gist,
    ip_packet,
    kafka_seen,
    marks,
    segments,
    talk,
    tshark,
)


def section(order: str) -> bytes:
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def interface(order: str, linktype: int, exponent: int) -> bytes:
    options = struct.pack(order + "HHBxxxI", 9, 1, exponent, 0)
    return block(order, 1, struct.pack(order + "HHI", linktype, 0, 0) + options)


def ticks(ts_ns: int, exponent: int) -> int:
    return (ts_ns << (exponent & 127)) // 10**9 if exponent & 128 else ts_ns // 10 ** (9 - exponent)


def mixed(path: Path) -> Path:
    """Write two sections of either byte order, with blocks and interfaces of many kinds.

    There are three interfaces of other link types and clocks, packets in three kinds of blocks, and other
    blocks between.
    """
    whole = list(map(ip_packet, segments(talk(), itertools.repeat(100))))
    half = len(whole) // 2
    parts = []
    for order, packets in (("<", whole[:half]), (">", whole[half:])):
        kinds = [
            (101, 9, b""),
            (1, 6, bytes(12) + b"\x08\0"),
            (113, 0x80 | 30, bytes(14) + b"\x08\0"),
        ]
        parts.append(section(order))
        parts += [interface(order, linktype, exponent) for linktype, exponent, _ in kinds]
        for at, data in enumerate(packets):
            on = at % 3
            packet = kinds[on][2] + data
            when = divmod(ticks(NOW, kinds[on][1]), 1 << 32)
            sizes = len(packet), len(packet)
            if at % 7 == 3:
                parts.append(block(order, 3, struct.pack(order + "I", len(data)) + data))
            elif at % 7 == 5:
                parts.append(
                    block(order, 2, struct.pack(order + "HH4I", on, 0, *when, *sizes) + packet)
                )
            else:
                options = struct.pack(order + "HH4sI", 1, 4, b"note", 0)
                packet += bytes(-len(packet) & 3) + options
                parts.append(block(order, 6, struct.pack(order + "5I", on, *when, *sizes) + packet))
            if at % 5 == 0:
                parts.append(block(order, 0x0BAD, struct.pack(order + "I", 32473) + b"custom"))
                parts.append(block(order, 9, b"__REALTIME_TIMESTAMP=1700000000000000\n"))
                parts.append(block(order, 4, bytes(4)))  # names
                parts.append(block(order, 10, struct.pack(order + "II", 0x544C534B, 0)))  # secrets
                parts.append(block(order, 0x7777, b"nobody knows"))
    path.write_bytes(b"".join(parts))
    return path


def test_a_file_with_everything(tmp_path: Path) -> None:
    raw = capture(tmp_path / "raw", segments(talk(), itertools.repeat(100)))
    assert gist(exchanges(mixed(tmp_path / "f"))) == gist(exchanges(raw))


@pytest.mark.needs_tshark
def test_tshark_numbers_the_same(tmp_path: Path) -> None:
    path = mixed(tmp_path / "f")
    found = exchanges(path)
    assert kafka_seen(path) == marks(found)
    times = dict(
        line.split("\t") for line in tshark(path, "-e", "frame.number", "-e", "frame.time_epoch")
    )
    for exchange in found:
        if exchange.ts:  # a Simple Packet Block has no time
            when = times[str(exchange.request_packet)]
            assert abs(exchange.ts - int(when.replace(".", ""))) < 1000
