"""`rewrite`: the receiver gets records with another key, value, timestamp or other headers.

Sizes, counts and checksums of their batches are updated.

acks=0: as for any request.
Order: kept.
In flight: unchanged.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import Field, model_validator

from barnabas.captures.writing.masking import record_sets
from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.faults.edit import Path
from barnabas.proxy.matching.field_paths import fields_in, locate
from barnabas.proxy.matching.message import MOST_RECORDS, Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, some_of
from barnabas.specs import records
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import Direction
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, Record

_CRC: Final = (12, 12, 17)
"""The offset of the checksum in a batch, by magic."""


_CHANGES: Final = ("key", "value", "timestamp", "headers")

Header = Annotated[tuple[str, str | None], Field(strict=False)]


class Rewrite(Settings, json_schema_extra=some_of(*_CHANGES)):
    """The receiver gets records with another key, value, timestamp or other headers.

    The batches around the records are written again.
    """

    path: Path | None = None
    """A record set, or several (`topic_data[*].partition_data[*].records`). If absent, all of the message."""
    record: Annotated[int, Field(ge=0)] | None = None
    """The index of the record in its set, from 0 over all batches. If absent, all records."""
    key: str | None = None
    """Another key, in UTF-8; null: none."""
    value: str | None = None
    """Another value, in UTF-8; null: none, as in a tombstone."""
    timestamp: Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] = -1
    """Another timestamp, in ms since 1970; -1: none."""
    headers: tuple[Header, ...] = Field(default=(), strict=False, examples=[[["trace", "1f"]]])
    """All headers: name and value in UTF-8, or null."""
    base64: bool = False
    """Whether key, value and the values of headers are given in base64."""
    crc: Literal["right", "wrong"] = "right"
    """Whether the checksums of these batches are right."""

    only_kafka: ClassVar = True

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not self.model_fields_set.intersection(_CHANGES):
            raise ValueError(f"give {', '.join(_CHANGES[:-1])} or {_CHANGES[-1]}")
        try:
            self.changes  # noqa: B018 - whether they can be read
        except (binascii.Error, ValueError):
            raise ValueError("key, value and headers: not in base64") from None
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the fields that the settings name."""
        return () if self.path is None else (self.path,)

    def applies_to(self, key: int, direction: Direction, version: int) -> bool:
        """Return whether such a message has record sets."""
        return bool(record_sets(key, direction, version))

    @property
    def changes(self) -> dict[str, Any]:
        """Return the new values of a record's fields, as in `Record`."""
        read = partial(base64.b64decode, validate=True) if self.base64 else str.encode

        def held(text: str | None) -> bytes | None:
            return None if text is None else read(text)

        fields = {
            "key": held(self.key),
            "value": held(self.value),
            "timestamp": self.timestamp,
            "headers": tuple((name, held(value)) for name, value in self.headers),
        }
        return {name: fields[name] for name in _CHANGES if name in self.model_fields_set}


def rewrite(config: Rewrite, message: Message, roll: Roll) -> Effects:
    """Change keys, values, timestamps or headers of records; no random draw.

    Raises:
        Unable: The message has no such record, or a record set cannot be read.
    """
    values, path = message.values(), config.path or "records"
    count = 0
    for holder, key in _places(config.path, values, message):
        if holder[key]:
            holder[key], changed = _record_set(config, holder[key], path)
            count += changed
    if not count:
        raise Unable(f"{path}: no such record")
    changes = " and ".join(config.changes)
    return (Become(message.encoded(values), f"rewrite {changes} of {count} in {path}"),)


def _places(path: str | None, values: Any, message: Message) -> Iterator[tuple[Any, str | int]]:
    """Yield the holder and the key of each record set in the decoded values of a message."""
    layout = message.codec().layout
    if path is None:
        fields = fields_in(values, layout)
        yield from ((each.holder, each.key) for each in fields if each.node.kind == "records")
        return
    node, field_places = locate(values, layout, path, message.topics)
    if node.kind != "records":
        raise Unable(f"{path}: no records")
    yield from field_places


def _record_set(config: Rewrite, data: bytes, path: str) -> tuple[bytes, int]:
    """Return a record set with changed records, and the number of changed records."""
    out: list[bytes] = []
    end = before = changed = 0
    try:
        for batch in records.read(data):
            end = batch.position + batch.size
            batch_records = list(islice(batch, MOST_RECORDS - before + 1))
            if before + len(batch_records) > MOST_RECORDS:
                raise Unable(f"more than {MOST_RECORDS} records")
            raw, count = _batch(config, batch, batch_records, before)
            out.append(raw)
            before += len(batch_records)
            changed += count
    except (Malformed, Unfit) as problem:
        raise Unable(problem, f"{path}: ") from None
    return b"".join(out) + data[end:], changed


def _batch(
    config: Rewrite, batch: Batch, batch_records: list[Record], before: int
) -> tuple[bytes, int]:
    """Return a batch with changed records, and their number; control batches stay unchanged."""
    indexes = range(len(batch_records))
    if config.record is not None:
        index = config.record - before
        indexes = range(index, index + 1) if index in indexes else range(0)
    if batch.is_control or not indexes:
        return bytes(batch.data), 0
    changes = config.changes
    for index in indexes:
        batch_records[index] = batch_records[index]._replace(**changes)
    if "timestamp" in changes:
        if batch.timestamp_type != "CreateTime":
            raise Unable(f"the time of these records is of {batch.timestamp_type}")
        batch = replace(batch, max_timestamp=max(record.timestamp for record in batch_records))
    raw = bytearray(records.rebuild(batch, batch_records))
    if config.crc == "wrong":
        raw[_CRC[batch.magic]] ^= 1
    return bytes(raw), len(indexes)
