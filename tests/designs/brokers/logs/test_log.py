"""A partition's log: offsets of what is appended, and where they stand."""

from __future__ import annotations

import gzip
import hashlib
import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.designs.brokers.logs import log
from barnabas.designs.brokers.logs.log import Log, TooLarge, stamped
from barnabas.designs.protocol_guide.client_0_8 import Message
from barnabas.designs.protocol_guide.client_0_8.message_sets import read_from, write
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Record, build

SETS = st.lists(
    st.tuples(
        st.sampled_from(["none", "gzip", "snappy"]),
        st.lists(st.binary(max_size=20), min_size=1, max_size=5),
    ),
    max_size=6,
)


@given(SETS, st.data())
def test_a_fetch_from_any_offset_gets_what_was_appended_from_there_on(
    sets: list[tuple[str, list[bytes]]], data: st.DataObject
) -> None:
    log, file = Log(), b""
    for codec, values in sets:
        whole, _ = stamped(write([Message(b"k", value) for value in values], codec), log.end)
        assert log.add(whole) == len(whole)
        file += whole
    values = [value for _, some in sets for value in some]
    assert (log.end, log.size) == (len(values), len(file))
    offset = data.draw(st.integers(0, len(values)))
    position, size = log.place(offset, len(file))
    found = read_from(file[position : position + size], offset).messages
    assert found == tuple((at, Message(b"k", values[at])) for at in range(offset, len(values)))


@pytest.mark.parametrize("torn", [1, 11, 12, 26])
def test_what_a_file_has_half_of_is_not_in_the_log(torn: int) -> None:
    whole, _ = stamped(write([Message(None, b"v")] * 3), 0)
    log = Log()
    assert log.add(whole[: 54 + torn]) == 54
    assert log.end == 2
    assert log.torn(whole[54 : 54 + torn])
    assert not log.torn(whole[54:])  # whole, and not taken: it is damaged


@pytest.mark.parametrize("offset", [0, 2, 1 << 40])
def test_a_file_with_another_offset_than_the_next_one_ends_before_that(offset: int) -> None:
    whole, _ = stamped(write([Message(None, b"v")]), 0)
    log = Log()
    assert log.add(whole + stamped(write([Message(None, b"w")]), offset)[0]) == len(whole)
    assert log.end == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x00" * 5, "cut off"),
        (write([Message(None, b"v")])[:-1], "cut off"),
        (write([Message(None, b"v")])[:-1] + b"w", "crc"),
        (build([Record(0, 0, None, b"v")], magic=1), "magic 0, not 1"),
        (build([Record(0, 0, None, b"v")], magic=2), "magic 0, not 2"),
    ],
)
def test_what_is_no_message_set_of_0_8_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(Malformed, match=said):
        stamped(data, 0)


def test_a_message_that_is_larger_when_it_is_compressed_anew_has_that_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fetch of the largest message would not get it whole, and no other behind it."""
    tokens = [b"abc" + hashlib.sha256(bytes([at])).digest() for at in range(256)]
    turns = random.Random(1)
    value = b"".join(turns.choice(tokens) for _ in range(2000))
    small = wrapped(write([Message(None, value)]))
    size = len(stamped(small, 0)[0])
    assert len(small) < size
    monkeypatch.setattr(log, "MESSAGE_LIMIT", size - 1)
    with pytest.raises(TooLarge, match="as it is compressed here"):
        stamped(small, 0)


def wrapped(inner: bytes) -> bytes:
    """Messages in one of gzip, as small as it can be."""
    data = gzip.compress(inner, 9)
    body = struct.pack(">bbii", 0, 1, -1, len(data)) + data
    return struct.pack(">qiI", 0, len(body) + 4, zlib.crc32(body)) + body


def test_what_is_compressed_holds_a_bounded_number_of_bytes() -> None:
    bomb = write([Message(None, bytes(1000))] * 3, "gzip")
    whole, output = stamped(bomb * 2, 0, 10_000)
    assert output == 6 * 1026
    assert len(read_from(whole, 0).messages) == 6
    with pytest.raises(Malformed):
        stamped(bomb * 2, 0, output - 1)
