"""`rewrite`: the receiver gets records with another key, value, timestamp or other headers; sizes, counts and
checksums of their batches fit again.

acks=0: as any request.
Order: kept.
In flight: as without it.
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
from barnabas.proxy.matching.field_paths import node_at, parse_path, places
from barnabas.proxy.matching.message import MOST_RECORDS, Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings, some_of
from barnabas.specs import records
from barnabas.specs.codec import Unfit
from barnabas.specs.frames import Direction
from barnabas.specs.layout import Layout, Node
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Batch, Record

_CRC: Final = (12, 12, 17)
"""Where the checksum stands, by magic."""


_CHANGES: Final = ("key", "value", "timestamp", "headers")

Header = Annotated[tuple[str, str | None], Field(strict=False)]


class Rewrite(Settings, json_schema_extra=some_of(*_CHANGES)):
    """The receiver gets records with another key, value, timestamp or other headers; their batches are made
    anew around them."""

    path: Path | None = None
    """A record set, or several (`topic_data[*].partition_data[*].records`); all of the message if absent."""
    record: Annotated[int, Field(ge=0)] | None = None
    """Which record of the set, from 0 over all its batches; all of them if absent."""
    key: str | None = None
    """Another key, in UTF-8; null: none."""
    value: str | None = None
    """Another value, in UTF-8; null: none, as a tombstone has it."""
    timestamp: Annotated[int, Field(ge=-(1 << 63), lt=1 << 63)] = -1
    """Another time, in ms since 1970; -1: none."""
    headers: tuple[Header, ...] = Field(default=(), strict=False, examples=[[["trace", "1f"]]])
    """All of its headers: name and value in UTF-8, or null."""
    base64: bool = False
    """Key, value and the values of headers stand here in base64."""
    crc: Literal["right", "wrong"] = "right"
    """Whether the checksums of these batches fit."""

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
        """All paths that it names."""
        return () if self.path is None else (self.path,)

    def applies_to(self, key: int, direction: Direction, version: int) -> bool:
        """Whether it can be done to such a message."""
        return bool(record_sets(key, direction, version))

    @property
    def changes(self) -> dict[str, Any]:
        """What is put in the place of a record's own, as a Record has it."""
        read = partial(base64.b64decode, validate=True) if self.base64 else str.encode

        def held(text: str | None) -> bytes | None:
            return None if text is None else read(text)

        found = {
            "key": held(self.key),
            "value": held(self.value),
            "timestamp": self.timestamp,
            "headers": tuple((name, held(value)) for name, value in self.headers),
        }
        return {name: found[name] for name in _CHANGES if name in self.model_fields_set}


def rewrite(config: Rewrite, message: Message, roll: Roll) -> Effects:
    """Put other keys or values into records; nothing is left to chance. Raises Unable."""
    values, where = message.values(), config.path or "records"
    count = 0
    for holder, key in _places(config.path, values, message.codec().layout):
        if holder[key]:
            holder[key], changed = _record_set(config, holder[key], where)
            count += changed
    if not count:
        raise Unable(f"{where}: no such record")
    what = " and ".join(config.changes)
    return (Become(message.encoded(values), f"rewrite {what} of {count} in {where}"),)


def _places(path: str | None, values: Any, layout: Layout) -> Iterator[tuple[Any, str | int]]:
    """Where the record sets stand."""
    if path is None:
        yield from _all(values, Node("struct", False, False, struct=layout))
        return
    node = node_at(layout, parse_path(path))
    if node is None or node.kind != "records":
        raise Unable(f"{path}: no records")
    yield from places(values, parse_path(path))


def _all(value: Any, node: Node) -> Iterator[tuple[Any, str]]:
    if isinstance(value, list) and node.element is not None:
        for item in value:
            yield from _all(item, node.element)
    elif isinstance(value, dict) and node.struct is not None:
        for slot in node.struct.slots:
            if slot.node.kind == "records" and slot.name in value:
                yield value, slot.name
            else:
                yield from _all(value.get(slot.name), slot.node)


def _record_set(config: Rewrite, data: bytes, where: str) -> tuple[bytes, int]:
    """A record set with other records, and how many of them."""
    out: list[bytes] = []
    end = before = changed = 0
    try:
        for batch in records.read(data):
            end = batch.position + batch.size
            found = list(islice(batch, MOST_RECORDS - before + 1))
            if before + len(found) > MOST_RECORDS:
                raise Unable(f"more than {MOST_RECORDS} records")
            raw, count = _batch(config, batch, found, before)
            out.append(raw)
            before += len(found)
            changed += count
    except (Malformed, Unfit) as problem:
        raise Unable(problem, f"{where}: ") from None
    return b"".join(out) + data[end:], changed


def _batch(config: Rewrite, batch: Batch, found: list[Record], before: int) -> tuple[bytes, int]:
    """A batch with other records; as it is if it has none of those, or Kafka's own."""
    wanted = range(len(found))
    if config.record is not None:
        place = config.record - before
        wanted = range(place, place + 1) if place in wanted else range(0)
    if batch.is_control or not wanted:
        return bytes(batch.data), 0
    changes = config.changes
    for place in wanted:
        found[place] = found[place]._replace(**changes)
    if "timestamp" in changes:
        if batch.timestamp_type != "CreateTime":
            raise Unable(f"the time of these records is of {batch.timestamp_type}")
        batch = replace(batch, max_timestamp=max(record.timestamp for record in found))
    raw = bytearray(records.rebuild(batch, found))
    if config.crc == "wrong":
        raw[_CRC[batch.magic]] ^= 1
    return bytes(raw), len(wanted)
