"""Find the schema id of a key or value in the wire formats of schema registries.

- Confluent: a zero byte, 4 bytes of id (big-endian), the value. For Protobuf the message indexes are in
  between (docs.confluent.io, "Wire format"; AbstractKafkaSchemaSerDe.java).
- Older Apicurio: 8 bytes of id instead (DefaultIdHandler.java). The two are indistinguishable, so the user
  has to choose.
- Confluent in headers: `__key_schema_id` or `__value_schema_id` has a one and 16 bytes of GUID, then for
  Protobuf the indexes; the value has no prefix (SchemaId.java).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple
from uuid import UUID

from barnabas.captures.values.schema import SchemaId

Part = Literal["key", "value"]

_GUID: Final = 17
"""The end of a GUID in a header; the indexes follow it."""


class Framed(NamedTuple):
    """A schema id, and the bytes that the schema decodes: for Protobuf the indexes, then the message."""

    id: SchemaId
    payload: bytes


def framed(
    data: bytes, headers: Sequence[tuple[str, bytes | None]], part: Part, id_bytes: int = 4
) -> Framed | None:
    r"""Return the schema id of a key or value, and its payload; None without an id. Ids begin at 1.

    >>> framed(bytes.fromhex("00 00000011 02"), (), "value")
    Framed(id=17, payload=b'\x02')
    """
    for name, header in headers:
        if name == f"__{part}_schema_id" and header is not None:
            if len(header) >= _GUID and header[0] == 1:
                return Framed(UUID(bytes=header[1:_GUID]), header[_GUID:] + data)
            if len(header) > id_bytes and header[0] == 0:
                return Framed(
                    int.from_bytes(header[1 : 1 + id_bytes]), header[1 + id_bytes :] + data
                )
    if len(data) <= id_bytes or data[0]:
        return None
    number = int.from_bytes(data[1 : 1 + id_bytes])
    return Framed(number, data[1 + id_bytes :]) if 0 < number < 1 << 63 else None
