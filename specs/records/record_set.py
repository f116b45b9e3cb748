"""Record sets, the bytes of `records` in Produce and Fetch: consecutive batches.

A set may end with part of a batch, since Fetch cuts at a size (Kafka's ByteBufferLogInputStream).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from barnabas.specs.malformed import Malformed
from barnabas.specs.records import batch, message_set
from barnabas.specs.records.batch import Batch, read_batch
from barnabas.specs.records.compression import MAX_OUTPUT, codec_name
from barnabas.specs.records.record import int64

_SIZE_ENDS: Final = 12  # sizes and the magic are in one place in every magic
_MAGIC_ENDS: Final = 17
_ATTRIBUTES: Final = 22  # their lower byte, from magic 2 on
_OVERHEAD: Final = (*message_set.OVERHEAD, batch.OVERHEAD)
_SMALLEST: Final = _OVERHEAD[0] - _SIZE_ENDS
_LARGEST: Final = 2**31 - 1 - _SIZE_ENDS  # a whole batch must fit in an int32 in Kafka


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures from the headers of a record set; `size` and `trailing` are in bytes."""

    batches: int
    records: int | None
    """None if a compressed magic 0 or 1 message is among the batches: it has no count."""
    size: int
    codecs: tuple[str, ...]
    """The codecs in use without `none`, in order of appearance."""
    trailing: int
    """Bytes after the last whole batch: part of a batch, or something else."""
    last_offset: int | None
    """The last offset of the last whole batch; None without one."""


def read(
    data: bytes | memoryview, *, max_output: int = MAX_OUTPUT, control_only: bool = False
) -> Iterator[Batch]:
    """Yield the batches of a record set, in order, or only those with control records.

    Each batch decompresses to at most `max_output` bytes. Part of a batch at the end is left out (`summary`
    counts its bytes). Checksums are not verified.

    Raises:
        Malformed: A header can't be read; batches before it were yielded.

    >>> message = bytes.fromhex("00000000000000070000000f b8ba5f57 0000 ffffffff 0000000176")
    >>> [(b.base_offset, b.records()[0].value) for b in read(message + message[:20])]
    [(7, b'v')]
    """
    view = memoryview(data)
    for index, (position, size, magic) in enumerate(batch_spans(view)):
        if control_only and not (magic > 1 and view[position + _ATTRIBUTES] & batch.CONTROL):
            continue
        yield read_batch(
            view[position : position + size],
            index=index,
            position=position,
            max_output=max_output,
        )


def is_lone_batch(data: bytes | memoryview) -> bool:
    """Return whether the data is one whole batch of magic 2 without control records, as nearly all are."""
    return (
        len(data) >= _OVERHEAD[2]
        and int.from_bytes(data[8:_SIZE_ENDS]) == len(data) - _SIZE_ENDS
        and data[16] == 2
        and not data[_ATTRIBUTES] & batch.CONTROL
    )


def summary(data: bytes | memoryview) -> Summary:
    """Return figures of a record set, from its headers alone; never raises.

    >>> summary(bytes(10))
    Summary(batches=0, records=0, size=10, codecs=(), trailing=10, last_offset=None)
    """
    batches = records = last = end = 0
    codecs: list[str] = []
    counted = True
    try:
        for position, size, magic in batch_spans(data):
            batches += 1
            last, end = position, position + size
            codec = codec_name(data[position + (22 if magic > 1 else 17)])
            if codec != "none" and codec not in codecs:
                codecs.append(codec)
            if magic > 1:
                count = int.from_bytes(data[position + 57 : position + 61], "big", signed=True)
                records += max(count, 0)
            elif codec == "none":
                records += 1
            else:
                counted = False
    except Malformed:
        pass  # the rest is counted as trailing
    return Summary(
        batches,
        records if counted else None,
        len(data),
        tuple(codecs),
        len(data) - end,
        _last_offset(data, last) if batches else None,
    )


def _last_offset(data: bytes | memoryview, position: int) -> int:
    offset, delta = int.from_bytes(data[position : position + 8], "big", signed=True), 0
    if data[position + 16] > 1:
        delta = int.from_bytes(data[position + 23 : position + 27], "big", signed=True)
    return int64(offset + delta)


def batch_spans(data: bytes | memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield position, size and magic of each whole batch. Raises Malformed for bytes that are no batch."""
    position = index = 0
    while len(data) - position >= _SIZE_ENDS:
        length = int.from_bytes(data[position + 8 : position + 12], "big", signed=True)
        if not _SMALLEST <= length <= _LARGEST:
            path = f"batches[{index}].size"
            raise Malformed(path, position + 8, f"{_SMALLEST} to {_LARGEST}, not {length}")
        if len(data) - position < _MAGIC_ENDS:
            return
        size = _SIZE_ENDS + length
        magic = data[position + 16]
        if magic >= len(_OVERHEAD):
            path = f"batches[{index}].magic"
            raise Malformed(path, position + 16, f"magic 0, 1 or 2, not {magic}")
        if size > len(data) - position:
            return
        if size < _OVERHEAD[magic]:
            reason = f"at least {_OVERHEAD[magic] - _SIZE_ENDS} in magic {magic}, not {length}"
            raise Malformed(f"batches[{index}].size", position + 8, reason)
        yield position, size, magic
        position += size
        index += 1
