"""`skew`: the receiver reads other timestamps: each is `by` later or (`-1h`) earlier.

acks=0: as for any request.
Order: kept.
In flight: unchanged.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, WithJsonSchema

from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.matching.field_paths import fields_in
from barnabas.proxy.matching.message import MOST_RECORDS, Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.proxy.matching.units import TIMES, parse_duration
from barnabas.specs import records
from barnabas.specs.codec import Unfit
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch

_TIMESTAMPS: Final = struct.Struct(">qq")  # base and max, 27 bytes into a batch of magic 2


def _signed(text: Any) -> int:
    if isinstance(text, str) and text.startswith("-"):
        return -parse_duration(text[1:])
    return parse_duration(text)


class Skew(Settings):
    """The receiver reads later or earlier timestamps in records and in responses.

    Such responses are ListOffsets, Produce, DescribeProducers and others. -1 stays unchanged, and checksums
    are updated.
    """

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
    """The shift to later or (`-1h`) earlier timestamps; whole milliseconds."""

    only_kafka: ClassVar = True

    @property
    def no_op(self) -> str:
        """Return the setting that makes the fault do nothing; "" if it does something."""
        return "" if self.by // TIMES["ms"] else "by in whole ms"


def skew(config: Skew, message: Message, roll: Roll) -> Effects:
    """Shift timestamps; no random draw.

    Raises:
        Unable: The message has no timestamps, or a record set cannot be read.
    """
    ms = config.by // TIMES["ms"]
    values = message.values()
    shifted = 0
    for _, holder, key, node in fields_in(values, message.codec().layout):
        value = holder[key]
        if node.kind == "int64" and _is_time(str(key)) and value is not None and value > 0:
            holder[key] = value + ms
        elif node.kind == "records" and value:
            holder[key] = _records(value, ms)
        else:
            continue
        shifted += 1
    if not shifted:
        raise Unable("no timestamps")
    return (Become(message.encoded(values), f"{shifted} timestamps {ms:+} ms"),)


def _is_time(name: str) -> bool:
    return "timestamp" in name or name.endswith("_time_ms")


def _records(data: bytes, ms: int) -> bytes:
    """Return a record set with shifted batches; an incomplete batch at its end stays unchanged."""
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
        batch_records = list(islice(batch, MOST_RECORDS + 1))
        if len(batch_records) > MOST_RECORDS:
            raise Unable(f"more than {MOST_RECORDS} records in one message")
        shifted = [record._replace(timestamp=record.timestamp + ms) for record in batch_records]
        return records.rebuild(replace(batch, max_timestamp=batch.max_timestamp + ms), shifted)
    return raw
