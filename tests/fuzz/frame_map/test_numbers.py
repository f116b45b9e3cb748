"""Numbers are written as the careful reader reads them."""

from __future__ import annotations

import pytest

from barnabas.fuzz.frame_map.numbers import RANGE, VARINTS, WRITE, uvarint
from barnabas.specs.codec.careful_decoder import FIXED, CarefulDecoder
from barnabas.specs.records.record import varint


@pytest.mark.parametrize("coding", ["int8", "int16", "uint16", "int32", "uint32", "int64"])
def test_fixed_numbers_are_read_back(coding: str) -> None:
    low, high = RANGE[coding]
    for value in (low, low + 1, 0, 1, high - 1, high):
        assert FIXED[coding].unpack(WRITE[coding](value)) == (value,)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 16383, 16384, 2**31 - 1, -1, -(2**31)])
def test_varints_are_read_back_in_their_shortest_form(value: int) -> None:
    reader = CarefulDecoder(uvarint(value))
    assert reader.varint("") == value
    assert reader.oddities == []
    assert varint(WRITE["varint"](value), 0, "")[0] == value
    assert varint(WRITE["varlong"](value << 31), 0, "", bits=64)[0] == value << 31


def test_a_compact_length_is_one_more_and_null_is_nothing() -> None:
    assert WRITE["uvarint+1"](-1) == b"\0"
    assert WRITE["uvarint+1"](127) == b"\x80\x01"


@pytest.mark.parametrize("coding", VARINTS)
def test_no_number_takes_more_bytes_than_kafka_reads(coding: str) -> None:
    for value in (*RANGE[coding], 0, -1):
        assert len(WRITE[coding](value)) <= VARINTS[coding]
