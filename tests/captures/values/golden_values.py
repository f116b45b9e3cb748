"""Provide values of confluent-kafka 2.16.1's serializers, and a registry's responses about their schemas.

The serializers used confluent-kafka's mock of a registry, since no package has a registry that runs. The mock
stores Protobuf as the client sends it, in base64; the responses have its text instead, as a registry returns
it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple
from uuid import UUID

from barnabas.captures.values.schema import Schema, SchemaId
from barnabas.cli.schemas.compiler import compiled

_READ: Final = json.loads((Path(__file__).parent / "golden.json").read_text())
ANSWERS: Final[dict[str, dict[str, Any]]] = _READ["answers"]
"""By path."""


class Golden(NamedTuple):
    data: bytes
    headers: tuple[tuple[str, bytes | None], ...]


VALUES: Final = {
    one["name"]: Golden(
        bytes.fromhex(one["value"]),
        tuple((name, bytes.fromhex(value)) for name, value in one["headers"]),
    )
    for one in _READ["values"]
}

_ORDER: Final = {"order_id": 17, "state": "PAID", "total": {"currency": "EUR", "cents": -1250}}
AVRO: Final = _ORDER | {
    "lines": [{"sku": "a", "count": 2}, {"sku": "b", "count": 1}],
    "labels": {"k": "v"},
    "price": "-12.50",
    "note": None,
    "ratio": 0.5,
    "ok": True,
}
PROTOBUF: Final = _ORDER | {
    "lines": [{"sku": "a", "count": 2}],
    "labels": {"k": "v"},
    "at": "2023-11-14T22:13:20Z",
}
READ: Final[dict[str, tuple[str, Any]]] = {
    "avro": ("avro", AVRO),
    "json schema": ("json schema", {"order_id": 17}),
    "protobuf": ("protobuf", PROTOBUF),
    "protobuf, a message within another": ("protobuf", {"sku": "a", "count": 2}),
    "avro, guid in a header": ("avro", AVRO),
    "protobuf, guid in a header": ("protobuf", PROTOBUF),
}
"""What they are, and say."""


def path_of(number: SchemaId) -> str:
    return f"/schemas/guids/{number}" if isinstance(number, UUID) else f"/schemas/ids/{number}"


@cache
def schema(number: SchemaId) -> Schema | str:
    found = ANSWERS.get(path_of(number))
    if found is None:
        return "not one of these"
    references = {
        one["name"]: ANSWERS[f"/subjects/{one['subject']}/versions/{one['version']}"]["schema"]
        for one in found.get("references", ())
    }
    return compiled(found.get("schemaType", "AVRO"), found["schema"], references)


lookup: Final[Callable[[SchemaId], Schema | str]] = schema
