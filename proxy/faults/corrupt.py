"""`corrupt`: the receiver gets the message with one bit or byte changed.

The change is at the offset `at` or in the field at `path`.

acks=0: the changed request counts. If it expects a response only now, the proxy removes the response; if it
has acks=0 only now, the broker sends none.
Order: kept.
In flight: by the correlation id that the client sent; a response with another id closes the connection.
"""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from barnabas.proxy.effects import Become, Effects
from barnabas.proxy.faults.edit import Path
from barnabas.proxy.matching.field_paths import locate
from barnabas.proxy.matching.message import MOST_RECORDS, Message, Unable
from barnabas.proxy.matching.seeded_random import Roll
from barnabas.proxy.matching.settings import Settings
from barnabas.specs import records
from barnabas.specs.codec.careful_decoder import FIXED
from barnabas.specs.malformed import Malformed


class Corrupt(Settings):
    """The receiver gets the message with one bit or byte changed; its size stays the same."""

    what: Literal["bit", "byte"] = "bit"
    """Flip one bit, or change one byte."""
    at: Annotated[int, Field(ge=0)] | None = None
    """The index of the byte in the frame, from 0 after its size. If absent, the seed chooses."""
    path: Path | None = None
    """A field (`topics[0].partitions[0].records`) whose value gets a changed bit or byte. In a record set
    the change is after the header of a batch."""
    crc: Literal["right", "wrong"] = "wrong"
    """Whether the corrupt batch keeps its checksum (`wrong`) or gets a new one (`right`), so that the change
    goes unnoticed."""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if self.at is not None and self.path is not None:
            raise ValueError("give at or path, not both")
        if self.crc == "right" and self.path is None:
            raise ValueError("crc: right needs the path of a record set")
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of the fields that the settings name."""
        return () if self.path is None else (self.path,)


def corrupt(config: Corrupt, message: Message, roll: Roll) -> Effects:
    """Change one bit or byte, which the seed chooses.

    Raises:
        Unable: The message has no such byte or field.
    """
    if config.path is not None:
        return (_corrupt_field(config, config.path, message, roll),)
    frame = bytearray(message.head + (message.body or b""))
    at = int(roll() * len(frame)) if config.at is None else config.at
    if at >= len(frame):
        raise Unable(f"byte {at}: the frame has {len(frame)}")
    frame[at] = _corrupt_byte(frame[at], config.what, roll)
    head = len(message.head)
    return (Become(bytes(frame[head:]), f"{config.what} corrupt at {at}", bytes(frame[:head])),)


def _corrupt_field(config: Corrupt, path: str, message: Message, roll: Roll) -> Become:
    values = message.values()
    node, field_places = locate(values, message.codec().layout, path, message.topics)
    holder, key = field_places[int(roll() * len(field_places))]
    value = holder[key]
    if node.kind == "records" and value:
        holder[key] = _corrupt_record_set(config, value, roll)
    elif config.crc == "right":
        raise Unable(f"{path}: not a record set")
    else:
        holder[key] = _corrupt_value(config, path, node.kind, value, roll)
    return Become(message.encoded(values), f"{config.what} corrupt in {path}")


def _corrupt_value(config: Corrupt, path: str, kind: str, value: Any, roll: Roll) -> Any:
    match value:
        case bool():
            return not value
        case int() if kind in FIXED:
            return FIXED[kind].unpack(_corrupt_bytes(FIXED[kind].pack(value), config.what, roll))[0]
        case bytes() if value:
            return _corrupt_bytes(value, config.what, roll)
        case str() if value and value.isascii():
            return bytes(
                byte & 0x7F for byte in _corrupt_bytes(value.encode(), config.what, roll)
            ).decode()
    raise Unable(f"{path}: {value!r} has no bytes to change")


def _corrupt_record_set(config: Corrupt, data: bytes, roll: Roll) -> bytes:
    """Change a bit or byte after the header of one batch; the batch keeps its checksum or gets a new one."""
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
    changed[at] = _corrupt_byte(changed[at], config.what, roll)
    if config.crc == "right":
        changed[start:end] = records.with_crc(bytes(changed[start:end]))
    return bytes(changed)


def _corrupt_bytes(data: bytes, unit: str, roll: Roll) -> bytes:
    at = int(roll() * len(data))
    return data[:at] + bytes((_corrupt_byte(data[at], unit, roll),)) + data[at + 1 :]


def _corrupt_byte(byte: int, unit: str, roll: Roll) -> int:
    if unit == "bit":
        return byte ^ 1 << int(roll() * 8)
    return (byte + 1 + int(roll() * 255)) % 256
