"""Partial batches, laziness, and bytes that were tampered with."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.specs import records
from barnabas.specs.malformed import Malformed
from tests.golden.frames import record_sets

SETS = record_sets()
SMALL = sorted((data for data in SETS.values() if 0 < len(data) < 1500), key=len)
MIB = 1 << 20
Item = TypeVar("Item")


def test_a_partial_batch_ends_the_set_and_is_counted() -> None:
    one = SETS["magic2-none-CreateTime-plain"]
    for cut in range(len(one)):
        data = one + one[:cut]
        (batch,) = records.read(data)
        assert batch.size == len(one)
        assert records.summary(data).trailing == cut


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_a_summary_has_the_last_offset(magic: int, codec: str) -> None:
    made = [records.Record(offset, 5 if magic else -1, None, b"v") for offset in (700, 705)]
    data = records.build(made, magic=magic, compression=codec)
    assert records.summary(data).last_offset == 705


def test_headers_are_read_without_looking_at_the_records() -> None:
    data = bytearray(SETS["magic2-gzip-CreateTime-plain"])
    data[61:] = bytes(len(data) - 61)
    (batch,) = records.read(bytes(data))
    assert (batch.compression, batch.crc_ok) == ("gzip", False)
    assert records.summary(bytes(data)).codecs == ("gzip",)
    with pytest.raises(Malformed, match="gzip"):
        batch.records()


def test_iterating_is_lazy() -> None:
    data = bytearray(SETS["magic2-none-CreateTime-many"])
    data[-1] ^= 0xFF
    (batch,) = records.read(bytes(data))
    assert next(iter(batch)).offset == batch.base_offset


@st.composite
def _mutated(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(SMALL)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(("set", "insert", "remove", "int32", "cut"))):
            case "set":
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=1))
            case "insert":
                data[at:at] = draw(st.binary(max_size=6))
            case "remove":
                del data[at : at + draw(st.integers(1, 6))]
            case "int32":
                data[at : at + 4] = struct.pack(">i", draw(st.integers(-(2**31), 2**31 - 1)))
            case "cut":
                del data[at:]
    return bytes(data)


def _until_malformed(items: Iterable[Item]) -> tuple[list[Item], Malformed | None]:
    read = []
    try:
        for item in items:
            read.append(item)  # noqa: PERF402 - what was read before the error counts
    except Malformed as e:
        return read, e
    return read, None


def _read_all(data: bytes) -> None:
    """Read everything there is, one batch after the other, as far as it goes."""
    summary = records.summary(data)
    assert summary.size == len(data)
    assert 0 <= summary.trailing <= len(data)
    batches, error = _until_malformed(records.read(data, max_output=MIB))
    assert summary.batches == len(batches)
    if error:
        assert error.path.removeprefix(f"batches[{len(batches)}].") in ("size", "magic")
    for batch in batches:
        assert batch.crc_ok in (True, False)
        read, error = _until_malformed(batch)
        for record in read:
            assert -(2**63) <= record.offset < 2**63
            assert -(2**63) <= record.timestamp < 2**63
        if error:
            assert error.path.startswith(f"batches[{batch.index}].")
            assert 0 <= error.offset <= max(len(data), MIB)


@given(_mutated())
def test_mutated_sets_are_read_or_malformed(data: bytes) -> None:
    _read_all(data)


@given(_mutated(), st.sampled_from((0, 1)), st.integers(-1, 10))
def test_mutated_sets_in_a_wrapper(inner: bytes, magic: int, offset: int) -> None:
    value = zlib.compress(inner, wbits=31)
    body = bytes((magic, 1)) + bytes(8 * magic) + struct.pack(">ii", -1, len(value)) + value
    message = struct.pack(">I", zlib.crc32(body)) + body
    _read_all(struct.pack(">qi", offset, len(message)) + message)


@given(
    data=st.binary(max_size=80), control=st.booleans(), cut=st.integers(0, 3), twice=st.booleans()
)
def test_of_a_lone_batch_no_control_records_are_read(
    data: bytes, control: bool, cut: int, twice: bool
) -> None:
    made = records.build([records.Record(0, 1, None, data)], is_control=control)
    found = made * (1 + twice)
    found = found[: len(found) - cut]
    assert records.is_lone_batch(found) == (not (control or cut or twice))
    for each in (found, data):
        if records.is_lone_batch(each):
            assert list(records.read(each, control_only=True)) == []
            assert len(list(records.read(each))) == 1


@pytest.mark.parametrize(
    ("size", "magic", "error"),
    [
        (-1, 2, "size at byte 8: 14 to 2147483635, not -1"),
        (14, 3, "magic at byte 16: magic 0, 1 or 2, not 3"),
    ],
)
def test_a_header_as_far_as_its_magic(size: int, magic: int, error: str) -> None:
    with pytest.raises(Malformed) as raised:
        list(records.read(struct.pack(">qiib", 0, size, 0, magic)))
    assert str(raised.value) == f"batches[0].{error}"


def test_an_empty_set() -> None:
    assert list(records.read(b"")) == []
    assert records.summary(b"") == records.Summary(0, 0, 0, (), 0, None)
