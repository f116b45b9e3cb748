"""`corrupt`: the receiver gets the message with one bit or byte changed, at the offset `at` or in the field
at `path`.

acks=0: what counts is what leaves: where a request came with acks=0 and asks for an answer now,
that is taken out; where it came otherwise and has acks=0 now, none comes.
Order: kept.
In flight: by the correlation id that the client sent; a response with another closes the connection.
"""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.faults.edit import Path
from barnabas.proxy.matching.field_paths import node_at, parse_path, places
from barnabas.proxy.matching.message import MOST_RECORDS, Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.specs import records
from barnabas.specs.codec.careful_decoder import FIXED
from barnabas.specs.malformed import Malformed


class Corrupt(Settings):
    """The receiver gets the message with one bit or byte changed; its size never changes."""

    what: Literal["bit", "byte"] = "bit"
    """One bit is flipped, or one byte becomes another."""
    at: Annotated[int, Field(ge=0)] | None = None
    """Which byte of the frame, from 0 behind its size. If absent, the seed decides."""
    path: Path | None = None
    """A field (`topics[0].partitions[0].records`): a bit or byte of its value. In a record set it is
    one behind the header of a batch."""
    crc: Literal["right", "wrong"] = "wrong"
    """Whether the checksum of a corrupt batch is computed anew, so that nobody notices."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.at is not None and self.path is not None:
            raise ValueError("give at or path, not both")
        if self.crc == "right" and self.path is None:
            raise ValueError("crc: right needs the path of a record set")
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """All paths that it names."""
        return () if self.path is None else (self.path,)


def corrupt(config: Corrupt, message: Message, roll: Roll) -> Effects:
    """Change one bit or byte; the seed decides which. Raises Unable."""
    if config.path is not None:
        return (_field(config, config.path, message, roll),)
    frame = bytearray(message.head + (message.body or b""))
    at = int(roll() * len(frame)) if config.at is None else config.at
    if at >= len(frame):
        raise Unable(f"byte {at}: the frame has {len(frame)}")
    frame[at] = _other(frame[at], config.what, roll)
    head = len(message.head)
    return (Become(bytes(frame[head:]), f"{config.what} corrupt at {at}", bytes(frame[:head])),)


def _field(config: Corrupt, path: str, message: Message, roll: Roll) -> Become:
    steps, values = parse_path(path), message.values()
    node = node_at(message.codec().layout, steps)
    found = list(places(values, steps))
    if node is None or not found:
        raise Unable(f"{path}: no such field in this message")
    holder, key = found[int(roll() * len(found))]
    value = holder[key]
    if node.kind == "records" and value:
        holder[key] = _record_set(config, value, roll)
    elif config.crc == "right":
        raise Unable(f"{path}: no record set")
    else:
        holder[key] = _value(config, path, node.kind, value, roll)
    return Become(message.encoded(values), f"{config.what} corrupt in {path}")


def _value(config: Corrupt, path: str, kind: str, value: Any, roll: Roll) -> Any:
    match value:
        case bool():
            return not value
        case int() if kind in FIXED:
            return FIXED[kind].unpack(_changed(FIXED[kind].pack(value), config.what, roll))[0]
        case bytes() if value:
            return _changed(value, config.what, roll)
        case str() if value and value.isascii():
            return bytes(
                byte & 0x7F for byte in _changed(value.encode(), config.what, roll)
            ).decode()
    raise Unable(f"{path}: {value!r} has no bytes to change")


def _record_set(config: Corrupt, data: bytes, roll: Roll) -> bytes:
    """A bit or byte behind the header of one batch, which keeps its checksum or gets a new one."""
    try:
        batches = list(islice(records.read(data), MOST_RECORDS + 1))
    except Malformed as problem:
        raise Unable(problem) from None
    if not batches:
        raise Unable("no complete record batch")
    if len(batches) > MOST_RECORDS:
        raise Unable(f"more than {MOST_RECORDS} batches")
    batch = batches[int(roll() * len(batches))]
    start, end = batch.position, batch.position + batch.size
    first = start + (61 if batch.magic == 2 else 17)
    at = first + int(roll() * (end - first))
    if at >= end:
        raise Unable("an empty batch")
    changed = bytearray(data)
    changed[at] = _other(changed[at], config.what, roll)
    if config.crc == "right":
        changed[start:end] = records.with_crc(bytes(changed[start:end]))
    return bytes(changed)


def _changed(data: bytes, what: str, roll: Roll) -> bytes:
    at = int(roll() * len(data))
    return data[:at] + bytes((_other(data[at], what, roll),)) + data[at + 1 :]


def _other(byte: int, what: str, roll: Roll) -> int:
    if what == "bit":
        return byte ^ 1 << int(roll() * 8)
    return (byte + 1 + int(roll() * 255)) % 256
