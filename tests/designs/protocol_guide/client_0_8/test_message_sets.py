from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.designs.protocol_guide.client_0_8.message_sets import Message, read_from, write
from barnabas.specs.malformed import Malformed

messages = st.lists(
    st.builds(Message, st.none() | st.binary(max_size=8), st.none() | st.binary(max_size=30)),
    min_size=1,
    max_size=6,
)


@given(messages, st.sampled_from(("none", "gzip", "snappy", "lz4")), st.integers(0, 7))
def test_what_is_written_is_read_from_an_offset_on(
    sent: list[Message], compression: str, position: int
) -> None:
    found = read_from(write(sent, compression), position)
    assert found.messages == tuple(enumerate(sent))[position:]
    assert not found.too_small


@given(messages, st.data())
def test_a_set_that_is_cut_off_loses_its_last_messages_only(
    sent: list[Message], data: st.DataObject
) -> None:
    whole = write(sent)
    found = read_from(whole[: data.draw(st.integers(1, len(whole)))], 0)
    assert found.messages == tuple(enumerate(sent))[: len(found.messages)]
    assert found.too_small == (not found.messages)


def test_what_is_before_a_wrong_checksum_is_read() -> None:
    data = bytearray(write([Message(None, b"a"), Message(None, b"b")]))
    data[-1] ^= 1
    assert read_from(bytes(data), 0).messages == ((0, Message(None, b"a")),)
    with pytest.raises(Malformed, match="crc"):
        read_from(bytes(data), 1)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_malformed(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        read_from(data, 0)
