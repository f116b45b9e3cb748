"""Decode Protobuf messages to plain data: fields and enums by name, integers as numbers.

Timestamps and similar types are formatted like Protobuf's JSON mapping
(https://protobuf.dev/programming-guides/json). The indexes of the message type precede the message: their
count, then each, as zigzag varints; a single zero is the first message of the file (docs.confluent.io, "Wire
format").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
)
from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.message import DecodeError, Message

from barnabas.captures.values.schema import DEPTH, VALUES, Unread, name_cost

MEMORY: Final = 256 << 20
"""Bytes that a parsed message may take in the worst case: every two bytes may be a nested message."""

_FIELD: Final = 16
"""Bytes that a field takes in a parsed message at most, even if it is absent."""

_KNOWN: Final = frozenset(
    f"google.protobuf.{name}"
    for name in (
        *("Timestamp", "Duration", "FieldMask", "Struct", "Value", "ListValue"),
        *("BoolValue", "BytesValue", "DoubleValue", "FloatValue", "Int32Value", "Int64Value"),
        *("StringValue", "UInt32Value", "UInt64Value"),
    )
)


def protobuf_reader(descriptors: bytes, file: str) -> Callable[[bytes], Any]:
    """Return a decoder for messages of a file. Raises Unread if the descriptors are invalid.

    `descriptors` is a FileDescriptorSet with the file and its imports, each after its own imports, as protoc
    writes it.
    """
    pool = descriptor_pool.DescriptorPool()
    try:
        files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
        for file_descriptor in files.file:
            pool.Add(file_descriptor)
        main: FileDescriptor = pool.FindFileByName(file)
    except (DecodeError, TypeError, KeyError) as problem:
        raise Unread(f"not a valid Protobuf schema: {problem}") from None
    most = 0
    types = [
        message_type
        for file_descriptor in files.file
        for message_type in file_descriptor.message_type
    ]
    while types:
        message_type = types.pop()
        most = max(most, len(message_type.field))
        types += message_type.nested_type

    def read(data: bytes) -> Any:
        named, at = _message_type(main, data)
        if (len(data) - at) // 2 * (most + 4) * _FIELD > MEMORY:
            raise Unread(f"too large: its messages may take more than {MEMORY >> 20} MiB")
        message = message_factory.GetMessageClass(named)()
        try:
            message.ParseFromString(data[at:])
            return _Plain().message(message, 0)
        except (DecodeError, json_format.Error, RecursionError, ValueError) as problem:
            raise Unread(f"no {named.full_name}: {problem}") from None

    return read


def _message_type(file: FileDescriptor, data: bytes) -> tuple[Descriptor, int]:
    """Return the message type that the indexes name, and the offset of the message."""
    count, at = _index(data, 0)
    indexes = [0]
    if count:
        if not 0 < count <= DEPTH:
            raise Unread(f"{count} indexes of a message")
        indexes = []
        for _ in range(count):
            index, at = _index(data, at)
            indexes.append(index)
    message_type: Descriptor | None = None
    for index in indexes:
        types = (
            list(file.message_types_by_name.values())
            if message_type is None
            else message_type.nested_types
        )
        if not 0 <= index < len(types):
            raise Unread(f"message {index} of {len(types)} in the schema")
        message_type = types[index]
    assert message_type is not None  # noqa: S101
    return message_type, at


def _index(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 35, 7):
        if at >= len(data):
            break
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value >> 1 ^ -(value & 1), at
    raise Unread("a message index without numbers")


class _Plain:
    """A converter of parsed messages to plain data, with a budget of values."""

    def __init__(self) -> None:
        self._left = VALUES

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise Unread(f"more than {VALUES:,} values")

    def message(self, message: Message, depth: int) -> Any:
        """Convert a message; absent fields have defaults, unless the schema tracks their presence."""
        if depth > DEPTH:
            raise Unread(f"more than {DEPTH} values within each other")
        descriptor = message.DESCRIPTOR
        if descriptor.full_name in _KNOWN:
            self._spend(1 + message.ByteSize() // 2)
            return json_format.MessageToDict(message)
        self._spend(1 + sum(1 + name_cost(field.name) for field in descriptor.fields))
        return {
            field.name: self._field(message, field, depth)
            for field in descriptor.fields
            if not field.has_presence or message.HasField(field.name)
        }

    def _field(self, message: Message, field: Any, depth: int) -> Any:
        value = getattr(message, field.name)
        if not field.is_repeated:
            return self._value(value, field, depth)
        self._spend(len(value))
        inner = field.message_type
        if inner is not None and inner.GetOptions().map_entry:
            value_field = inner.fields_by_name["value"]
            return {_name(key): self._value(value[key], value_field, depth) for key in value}
        return [self._value(each, field, depth) for each in value]

    def _value(self, value: Any, field: Any, depth: int) -> Any:
        if field.message_type is not None:
            return self.message(value, depth + 1)
        if field.enum_type is not None:
            named = field.enum_type.values_by_number.get(value)
            if named is None:
                return value
            self._spend(name_cost(named.name))
            return named.name
        return value


def _name(key: Any) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)
