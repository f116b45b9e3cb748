"""Test that written blocks are read back, and that any other bytes only raise CaptureError."""

from __future__ import annotations

import io
import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.files.pcapng import (
    BLOCK_LIMIT,
    Block,
    CaptureError,
    Interface,
    Other,
    Packet,
    Secrets,
    Section,
    Statistics,
    Truncated,
    each,
)
from barnabas.captures.files.pcapng_file import read_runs
from barnabas.captures.writing.pcapng import comment_option, interface, packet, section, statistics
from tests.captures.traffic import block

HEAD = section('{"barnabas":1}', "barnabas 1") + interface(101)


def blocks(data: bytes) -> list[Block]:
    return list(each(read_runs(io.BytesIO(data))))


def foreign(order: str, *, linktype: int = 1, snaplen: int = 0, options: bytes = b"") -> bytes:
    """Make a section and an interface of another tool."""
    shb = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 2, -1)
    idb = struct.pack(order + "HHI", linktype, 0, snaplen)
    return block(order, 0x0A0D0D0A, shb) + block(order, 1, idb + options)


def enhanced(order: str, time: int, data: bytes, index: int = 0) -> bytes:
    head = struct.pack(order + "5I", index, time >> 32, time & 0xFFFFFFFF, len(data), 2000)
    return block(order, 6, head + data + b"\0" * (-len(data) % 4))


@given(
    ts=st.integers(0, 2**64 - 1),
    headers=st.binary(max_size=9),
    payload=st.binary(max_size=70),
    comments=st.lists(st.text(max_size=9), max_size=3),
)
def test_a_packet_is_read_back(
    ts: int, headers: bytes, payload: bytes, comments: list[str]
) -> None:
    options = b"".join(map(comment_option, comments))
    data = HEAD + b"".join(packet(ts, headers, memoryview(payload), options))
    found = blocks(data)[2]
    texts = tuple(text.encode("utf-8", "backslashreplace").decode() for text in comments)
    assert found == Packet(ts, 101, headers + payload, texts, len(HEAD))


def test_a_packet_may_have_other_options_than_comments() -> None:
    head = struct.pack("<5I", 0, 0, 7, 4, 4)
    flags = struct.pack("<HHIHH", 2, 4, 1, 0, 0)
    assert blocks(HEAD + block("<", 6, head + b"abcd" + flags))[2:] == [
        Packet(7, 101, b"abcd", (), len(HEAD))
    ]


def test_statistics_are_read_back() -> None:
    assert blocks(HEAD + statistics(2**40, "note") + statistics(5, "", 7))[2:] == [
        Statistics(2**40, ("note",), None, len(HEAD)),
        Statistics(5, ("",), 7, len(HEAD) + len(statistics(0, "note"))),
    ]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("options", "time", "ts_ns"),
    [
        ("", 1_000_001, 1_000_001_000),
        ("0009 0001 09000000", 5, 5),
        ("0009 0001 00000000", 5, 5_000_000_000),
        ("0009 0001 8a000000", 512, 500_000_000),
        ("0009 0001 0c000000", 7_999, 7),
        ("000e 0008 ffffffffffffffff", 2_000_000, 1_000_000_000),
    ],
)
def test_times_are_of_the_interface(order: str, options: str, time: int, ts_ns: int) -> None:
    data = bytes.fromhex(options)
    if data:
        code, length = struct.unpack(">HH", data[:4])
        data = struct.pack(order + "HH", code, length) + data[4:]
    found = blocks(foreign(order, options=data) + enhanced(order, time, b"abc"))[2]
    assert isinstance(found, Packet)
    assert (found.ts_ns, found.linktype, found.data) == (ts_ns, 1, b"abc")


@pytest.mark.parametrize("order", "<>")
def test_secrets(order: str) -> None:
    """A key log of TLS; what is of another kind is skipped."""
    tls, ssh = (struct.pack(order + "II", kind, 5) for kind in (0x544C534B, 0x5353484B))
    data = foreign(order) + block(order, 0xA, tls + b"a log\0\0\0")
    found = blocks(data + block(order, 0xA, ssh + b"other\0\0\0"))
    assert found[2:] == [Secrets(b"a log", len(foreign(order))), Other(0xA, len(data))]


def test_sections_and_interfaces_of_any_byte_order() -> None:
    one = foreign(">") + block(">", 1, struct.pack(">HHI", 113, 0, 0))
    two = foreign("<", linktype=101, snaplen=2)
    simple = block("<", 3, struct.pack("<I", 9) + b"ab\0\0")
    data = one + enhanced(">", 1, b"x", 1) + two + simple + block("<", 0xBAD, b"")
    kinds = [type(found) for found in blocks(data)]
    assert kinds == [Section, Interface, Interface, Packet, Section, Interface, Packet, Other]
    packets = [found for found in blocks(data) if isinstance(found, Packet)]
    assert [(found.linktype, found.data) for found in packets] == [(113, b"x"), (101, b"ab")]


@given(st.data())
def test_a_file_that_was_cut_off_keeps_what_came_before(data: st.DataObject) -> None:
    whole = HEAD + b"".join(packet(1, b"head", b"payload", comment_option("c")) * 3)
    size = (len(whole) - len(HEAD)) // 3
    cut = data.draw(st.integers(len(HEAD), len(whole) - 1))
    found = blocks(whole[:cut])
    count, rest = divmod(cut - len(HEAD), size)
    expected = [Packet(1, 101, b"headpayload", ("c",), len(HEAD) + n * size) for n in range(count)]
    assert found[2:] == [*expected, *([Truncated(cut - rest)] if rest else [])]


def test_a_pipe_that_was_cut_off() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    assert list(each(read_runs(Pipe(HEAD[:-4]))))[-1] == Truncated(len(HEAD) - len(interface(101)))


@pytest.mark.parametrize(
    ("data", "offset", "reason"),
    [
        (b"", 0, "the file is empty"),
        (b"GET / HTTP/1.1\r\n", 0, "not a pcapng file"),
        (HEAD[:8] + b"abcd" + HEAD[12:], 8, "byte-order magic 61626364"),
        (HEAD + struct.pack("<III", 6, 13, 0), len(HEAD) + 4, "block length 13"),
        (HEAD + struct.pack("<III", 6, 8, 0), len(HEAD) + 4, "block length 8"),
        (HEAD + struct.pack("<III", 6, BLOCK_LIMIT + 4, 0), len(HEAD) + 4, "block length 6"),
        (HEAD[:-4] + b"\1\0\0\0", len(HEAD) - 4, "block length 32, repeated as 1"),
        (HEAD + enhanced("<", 0, b"", 1), len(HEAD) + 8, "interface 1 is not described"),
        # interfaces end with their section
        (
            foreign("<") + foreign("<")[:28] + enhanced("<", 0, b""),
            84,
            "interface 0 is not described",
        ),
        (HEAD + block("<", 6, b"abcd"), len(HEAD) + 8, "a block body of 4 bytes is too short"),
        (block("<", 0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 2, 0, -1)), 12, "version 2"),
        (foreign("<", options=struct.pack("<HH", 9, 2) + b"abcd"), 36, "an option of 2 bytes"),
        (foreign("<", options=struct.pack("<HH", 1, 5) + b"abcd"), 48, "extends past the block"),
        (HEAD + block("<", 6, struct.pack("<5I", 0, 0, 0, 5, 5) + b"abcd"), len(HEAD) + 20, "5"),
        (HEAD + block("<", 0xA, struct.pack("<IIxxxx", 0x544C534B, 5)), len(HEAD) + 12, "5 bytes"),
    ],
)
def test_what_is_broken_is_named(data: bytes, offset: int, reason: str) -> None:
    with pytest.raises(CaptureError) as caught:
        blocks(data)
    assert reason in caught.value.reason
    assert caught.value.offset == offset


def test_a_length_that_lies_allocates_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(HEAD + struct.pack("<III", 6, BLOCK_LIMIT, 0))
    with (tmp_path / "f").open("rb") as file:
        tracemalloc.start()
        assert list(each(read_runs(file)))[-1] == Truncated(len(HEAD))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 1 << 20
