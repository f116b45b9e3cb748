"""`skew`: the receiver reads other timestamps: every one is `by` later or (`-1h`) earlier.

acks=0: as any request.
Order: kept.
In flight: as without it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, WithJsonSchema

from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.matching.message import MOST_RECORDS, Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import TIMES, parse_duration
from barnabas.specs import records
from barnabas.specs.codec import Unfit
from barnabas.specs.layout import Layout, Node
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch

_TIMESTAMPS: Final = struct.Struct(">qq")  # base and max, 27 bytes into a batch of magic 2


def _signed(text: Any) -> int:
    if isinstance(text, str) and text.startswith("-"):
        return -parse_duration(text[1:])
    return parse_duration(text)


class Skew(Settings):
    """The receiver reads later or earlier timestamps: those of records, and those that responses tell
    (ListOffsets, Produce, DescribeProducers and so on). -1 stays, and checksums fit."""

    by: Annotated[
        int,
        BeforeValidator(_signed),
        WithJsonSchema(
            {
                "type": "string",
                "pattern": r"^-?[0-9]+(\.[0-9]+)? ?(ns|us|µs|ms|s|m|h)$",
                "examples": ["-1h"],
            }
        ),
    ]
    """How much later, or (`-1h`) earlier; whole milliseconds."""

    only_kafka: ClassVar = True

    @property
    def no_op(self) -> str:
        """The setting that makes it do nothing; "" if it does something."""
        return "" if self.by // TIMES["ms"] else "by in whole ms"


def skew(config: Skew, message: Message, roll: Roll) -> Effects:
    """Shift timestamps; nothing is left to chance. Raises Unable where there are none."""
    ms = config.by // TIMES["ms"]
    values = message.values()
    shifted = sum(_struct(values, message.codec().layout, ms))
    if not shifted:
        raise Unable("no timestamps")
    return (Become(message.encoded(values), f"{shifted} timestamps {ms:+} ms"),)


def _struct(values: dict[str, Any], layout: Layout, ms: int) -> Iterator[int]:
    for slot in layout.slots:
        value = values.get(slot.name)
        if slot.node.kind == "int64" and _is_time(slot.name) and value is not None and value > 0:
            values[slot.name] = value + ms
            yield 1
        elif slot.node.kind == "records" and value:
            values[slot.name] = _records(value, ms)
            yield 1
        else:
            yield from _inner(value, slot.node, ms)


def _inner(value: Any, node: Node, ms: int) -> Iterator[int]:
    if isinstance(value, list) and node.element is not None:
        for item in value:
            yield from _inner(item, node.element, ms)
    elif isinstance(value, dict) and node.struct is not None:
        yield from _struct(value, node.struct, ms)


def _is_time(name: str) -> bool:
    return "timestamp" in name or name.endswith("_time_ms")


def _records(data: bytes, ms: int) -> bytes:
    """A record set whose batches are that much later; what is no complete record batch stays."""
    out: list[bytes] = []
    end = 0
    try:
        for batch in records.read(data):
            if len(out) >= MOST_RECORDS:
                raise Unable(f"more than {MOST_RECORDS} batches")
            end = batch.position + batch.size
            out.append(_batch(data[batch.position : end], batch, ms))
    except (Malformed, Unfit) as problem:
        raise Unable(problem, "records: ") from None
    return b"".join(out) + data[end:]


def _batch(raw: bytes, batch: Batch, ms: int) -> bytes:
    if batch.magic == 2:
        base, highest = _TIMESTAMPS.unpack_from(raw, 27)
        times = _TIMESTAMPS.pack(base + ms if base > 0 else base, highest + ms)
        return records.with_crc(raw[:27] + times + raw[43:])
    if batch.magic == 1:
        found = list(islice(batch, MOST_RECORDS + 1))
        if len(found) > MOST_RECORDS:
            raise Unable(f"more than {MOST_RECORDS} records in one message")
        shifted = [record._replace(timestamp=record.timestamp + ms) for record in found]
        return records.rebuild(replace(batch, max_timestamp=batch.max_timestamp + ms), shifted)
    return raw
