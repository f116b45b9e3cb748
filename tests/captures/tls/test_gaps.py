"""Test that a gap in a connection only costs the bytes in it."""

from __future__ import annotations

import ssl
from pathlib import Path
from random import Random

import pytest

from barnabas.captures.tls.connection import (
    LOST,
    NOT_WHOLE,
    Connection,
    Missing,
)
from tests.captures.tls.talk import SUITES, Ends
from tests.captures.tls.test_connection import BOTH, NOTHING, SPOKEN, TALK, keys_in, read
from tests.captures.traffic import Said


@pytest.mark.parametrize(("version", "suite"), SUITES)
def test_any_gap_costs_only_what_it_took(
    version: ssl.TLSVersion, suite: str, tmp_path: Path
) -> None:
    lines: list[Said] = [("request", bytes([at]) * (700 + at * 13)) for at in range(60)]
    lines += [("response", bytes([at]) * (300 + at * 7)) for at in range(60)]
    ends = Ends(tmp_path / "keys", version, suite)
    wire = ends.wire(lines)
    keys = keys_in(tmp_path / "keys")
    greeting, spoken = wire[: ends.greeting], wire[ends.greeting :]
    streams = {d: b"".join(data for one, data in spoken if one == d) for d in BOTH}
    said_in = {d: b"".join(data for one, data in lines if one == d) for d in BOTH}
    random = Random(suite)
    for _ in range(25):
        result = Connection(keys)
        read(result, greeting)
        for direction in BOTH:
            stream = streams[direction]
            at = random.randrange(len(stream) - 9000)
            size = random.choice([1, 20, 500, 1448, 5000])
            got: list[bytes | Missing] = []
            got += result.feed(direction, stream[:at])
            result.lose(direction, size)
            rest = stream[at + size :]
            for place in range(0, len(rest), 1448):
                got += result.feed(direction, rest[place : place + 1448])
            whole = said_in[direction]
            gaps = [one for one in got if isinstance(one, Missing)]
            assert len(gaps) <= 1
            assert all(gap.bytes == size for gap in gaps)
            cut = got.index(gaps[0]) if gaps else len(got)
            before = b"".join(one for one in got[:cut] if isinstance(one, bytes))
            after = b"".join(one for one in got[cut:] if isinstance(one, bytes))
            assert whole.startswith(before)
            assert whole.endswith(after)
            # no more than the records that it touched, which are of 1,500 bytes
            assert len(whole) - size - 2 * 1600 <= len(before) + len(after) < len(whole)
        assert not result.trouble


@pytest.mark.parametrize(("version", "suite"), SUITES)
def test_what_looks_like_a_header_behind_a_gap_costs_nothing(
    version: ssl.TLSVersion, suite: str, tmp_path: Path
) -> None:
    """The rest of a truncated record looks like a header once in millions of bytes."""
    lines: list[Said] = [("request", bytes([at]) * 1000) for at in range(20)]
    ends = Ends(tmp_path / "keys", version, suite)
    wire = ends.wire(lines)
    result = Connection(keys_in(tmp_path / "keys"))
    read(result, wire[: ends.greeting])
    stream = b"".join(data for one, data in wire[ends.greeting :] if one == "request")
    rest = bytearray(stream[6500:])
    rest[50:55] = b"\x17\3\3\x48\0"  # 18 KiB, and there are only 14 to come
    got = list(result.feed("request", stream[:5500]))
    result.lose("request", 1000)
    for at in range(0, len(rest), 1448):
        got += result.feed("request", bytes(rest[at : at + 1448]))
    assert [one for one in got if isinstance(one, Missing)] == [Missing(1000)]
    assert sum(len(one) for one in got if isinstance(one, bytes)) == 18_000
    assert not result.trouble


def test_a_gap_in_the_handshake(tmp_path: Path) -> None:
    wire = Ends(tmp_path / "keys").wire(TALK)
    for gap in BOTH:
        result = Connection(keys_in(tmp_path / "keys"))
        if gap == "response":
            assert read(result, wire[:1]) == NOTHING
        result.lose(gap, 100)
        assert read(result, wire[1:]) == NOTHING
        assert result.trouble == NOT_WHOLE


def test_a_gap_in_what_is_encrypted_of_the_handshake_costs_nothing(tmp_path: Path) -> None:
    wire = Ends(tmp_path / "keys").wire(TALK)
    assert [direction for direction, _ in wire[:3]] == ["request", "response", "request"]
    flight = wire[1][1]
    first = 5 + int.from_bytes(flight[3:5])
    result = Connection(keys_in(tmp_path / "keys"))
    cut: list[Said] = [wire[0], ("response", flight[: first + 40])]
    assert read(result, cut) == NOTHING
    result.lose("response", len(flight) - first - 40)
    assert read(result, wire[2:]) == SPOKEN
    assert not result.trouble


def test_a_gap_behind_which_nothing_fits(tmp_path: Path) -> None:
    wire = Ends(tmp_path / "keys").wire(TALK)
    result = Connection(keys_in(tmp_path / "keys"))
    read(result, wire)
    result.lose("request", 1 << 20)
    junk = b"\x17\3\3\0\x20" + bytes(32)
    got = [one for _ in range(2000) for one in result.feed("request", junk)]
    assert got == [Missing(0)]
    assert result.trouble == LOST
