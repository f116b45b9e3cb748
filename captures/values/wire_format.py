"""The wire formats of schema registries: which bytes of a record name the schema of its key or value.

- Confluent's: a zero byte, 4 bytes of id (big-endian), the value. For Protobuf the indexes of the message
  stand in between (docs.confluent.io, "Wire format"; AbstractKafkaSchemaSerDe.java).
- Apicurio's of old: the same with 8 bytes of id (DefaultIdHandler.java). Nothing tells the two apart, so
  somebody has to say which it is.
- Confluent's in headers: `__key_schema_id` or `__value_schema_id` is a one and 16 bytes of GUID, then for
  Protobuf the indexes; the value stands alone (SchemaId.java).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple
from uuid import UUID

from barnabas.captures.values.schema import SchemaId

Part = Literal["key", "value"]

_GUID: Final = 17
"""Where a GUID in a header ends: the indexes stand behind it."""


class Framed(NamedTuple):
    """A schema's id, and what is read by it: for Protobuf the indexes, then the message."""

    id: SchemaId
    payload: bytes


def framed(
    data: bytes, headers: Sequence[tuple[str, bytes | None]], part: Part, id_bytes: int = 4
) -> Framed | None:
    """The id that a key or a value has; None: none. Ids begin at 1.

    >>> framed(bytes.fromhex("00 00000011 02"), (), "value")
    Framed(id=17, payload=b'\\x02')
    """
    for name, told in headers:
        if name == f"__{part}_schema_id" and told is not None:
            if len(told) >= _GUID and told[0] == 1:
                return Framed(UUID(bytes=told[1:_GUID]), told[_GUID:] + data)
            if len(told) > id_bytes and told[0] == 0:
                return Framed(int.from_bytes(told[1 : 1 + id_bytes]), told[1 + id_bytes :] + data)
    if len(data) <= id_bytes or data[0]:
        return None
    number = int.from_bytes(data[1 : 1 + id_bytes])
    return Framed(number, data[1 + id_bytes :]) if 0 < number < 1 << 63 else None
