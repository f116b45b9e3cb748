"""Numbers are written as the careful reader reads them."""

from __future__ import annotations

import pytest

from barnabas.fuzz.frame_map.numbers import RANGE, VARINTS, WRITE, uvarint
from barnabas.specs.codec.careful_decoder import CarefulDecoder
from barnabas.specs.records.record import varint


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 16383, 16384, 2**31 - 1, -1, -(2**31)])
def test_varints_are_read_back_in_their_shortest_form(value: int) -> None:
    reader = CarefulDecoder(uvarint(value))
    assert reader.varint("") == value
    assert reader.oddities == []
    assert varint(WRITE["varint"](value), 0, "")[0] == value
    assert varint(WRITE["varlong"](value << 31), 0, "", bits=64)[0] == value << 31


@pytest.mark.parametrize("coding", VARINTS)
def test_no_number_takes_more_bytes_than_kafka_reads(coding: str) -> None:
    for value in (*RANGE[coding], 0, -1):
        assert len(WRITE[coding](value)) <= VARINTS[coding]
