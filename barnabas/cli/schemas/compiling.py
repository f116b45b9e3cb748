"""Makes a reader of the text of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from barnabas.captures.values.avro import avro_reader
from barnabas.captures.values.json_value import read_json
from barnabas.captures.values.schema import Schema, Unread
from barnabas.cli.schemas.protoc import descriptors

MAX_TEXT: Final = 1 << 20
"""Bytes of a schema's text, and of all that it refers to."""

MAIN: Final = "barnabas_main.proto"
"""The path of a Protobuf schema itself, which no import has."""


def compiled(kind: str, text: str, references: Mapping[str, str]) -> Schema:
    """kind: AVRO, PROTOBUF or JSON, as registries name them. references: the texts of schemas that it refers
    to, by the names by which it does. Raises Unread."""
    if len(text) + sum(map(len, references.values())) > MAX_TEXT:
        raise Unread(f"its text is longer than {MAX_TEXT >> 20} MiB")
    match kind:
        case "AVRO":
            known = [_avro(each) for each in references.values()]
            return Schema("avro", avro_reader(_avro(text), known))
        case "JSON":
            return Schema("json", read_json)
        case "PROTOBUF":
            try:
                from barnabas.captures.values.protobuf import protobuf_reader
            except ImportError:
                raise Unread("Protobuf needs packages: pip install 'barnabas[schemas]'") from None
            files = {**references, MAIN: text}
            return Schema("protobuf", protobuf_reader(descriptors(files, MAIN), MAIN))
    raise Unread(f"of a kind that is not known: {kind[:50]!r}")


def _avro(text: str) -> object:
    """The JSON of an Avro schema; a lone name may stand without its quotes."""
    try:
        return read_json(text.encode())
    except Unread:
        return text.strip()
