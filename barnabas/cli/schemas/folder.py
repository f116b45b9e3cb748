"""Schemas in a folder: files named by their ids in the registry, compiled before any record is decoded.

`17.avsc`, `18.proto` and `19.json` (or a GUID instead of the number) are the schemas. Other .avsc and .proto
files, in subfolders, too, are what these refer to: Avro by the names of types, Protobuf by paths relative to
the folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from uuid import UUID

from barnabas.captures.values.schema import Lookup, Schema, SchemaId, Unread
from barnabas.cli.schemas.compiler import MAX_TEXT, compiled
from barnabas.trouble import Trouble, os_errors

MOST: Final = 1_000
"""The most files of a folder."""

_KINDS: Final = {".avsc": "AVRO", ".proto": "PROTOBUF", ".json": "JSON"}


def from_folder(folder: Path) -> Lookup:
    """Return a lookup of the folder's schemas. Raises Trouble for unreadable or invalid ones."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in _KINDS and path.is_file())
    ids = {path: schema_id for path in files if (schema_id := _id(path)) is not None}
    files = [path for path in files if path in ids or path.suffix != ".json"]
    if len(files) > MOST:
        raise Trouble(f"--schemas {folder}: it has more than {MOST} schemas")
    texts = {path: _text(path) for path in files}
    if not ids:
        raise Trouble(
            f"--schemas {folder}: the folder has no schemas; name files by id, such as 17.avsc"
        )
    schemas: dict[SchemaId, Schema] = {}
    for path, number in ids.items():
        references = {
            each.relative_to(folder).as_posix(): texts[each]
            for each in files
            if each.suffix == path.suffix and each not in ids
        }
        try:
            schemas[number] = compiled(_KINDS[path.suffix], texts[path], references)
        except Unread as problem:
            raise Trouble(f"--schemas: {path}: {problem}") from None
    return lambda number: schemas.get(number, "not in the folder")


def _id(path: Path) -> SchemaId | None:
    if path.stem.isascii() and path.stem.isdecimal() and len(path.stem) < 20:
        return int(path.stem)
    try:
        return UUID(path.stem)
    except ValueError:
        return None


def _text(path: Path) -> str:
    with os_errors(f"--schemas: {path}"), path.open("rb") as file:
        data = file.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        raise Trouble(f"--schemas: {path}: longer than {MAX_TEXT >> 20} MiB")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Trouble(f"--schemas: {path}: not UTF-8") from None
