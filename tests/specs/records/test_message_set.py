"""Messages of magic 0 and 1, by hand."""

from __future__ import annotations

import struct
import zlib

import pytest

from barnabas.specs import records
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Record


def _message(body: bytes, offset: int = 7) -> bytes:
    return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body


@pytest.mark.parametrize("length", [-1, -2, -(2**31)])
def test_any_length_below_zero_is_null(length: int) -> None:
    body = b"\0\0" + struct.pack(">ii", length, length)
    (batch,) = records.read(_message(body))
    assert batch.crc_ok
    assert batch.records() == (Record(7, -1, None, None),)


def test_a_length_behind_the_end_of_its_message() -> None:
    first = _message(b"\0\0" + struct.pack(">ii", -1, 5) + b"abcd")
    batch, _ = records.read(first + first)
    with pytest.raises(Malformed, match=r"batches\[0\]\.value at byte 22: 5 bytes announced, 4"):
        batch.records()


def test_a_message_inside_a_wrapper_that_is_too_small() -> None:
    value = zlib.compress(struct.pack(">qi", 0, 13) + bytes(13), wbits=31)
    (batch,) = records.read(_message(b"\0\1" + struct.pack(">ii", -1, len(value)) + value))
    with pytest.raises(
        Malformed, match=r"gzip\.records\[0\]\.size at byte 8: at least 14, not 13$"
    ):
        batch.records()
