"""Schemas in a folder: files named by their ids in the registry, read and compiled before anything passes.

`17.avsc`, `18.proto`, `19.json` (or a GUID in place of the number) are the schemas. All other .avsc and
.proto files, in folders below, too, are what these refer to: Avro by the names of types, Protobuf by paths
from the folder on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from uuid import UUID

from barnabas.captures.values.schema import Lookup, Schema, SchemaId, Unread
from barnabas.cli.schemas.compiling import MAX_TEXT, compiled
from barnabas.trouble import Trouble

MOST: Final = 1_000
"""Files of a folder."""

_KINDS: Final = {".avsc": "AVRO", ".proto": "PROTOBUF", ".json": "JSON"}


def from_folder(folder: Path) -> Lookup:
    """Who knows these. Raises Trouble for what can't be read, or is no schema."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in _KINDS and path.is_file())
    ids = {path: found for path in files if (found := _id(path)) is not None}
    files = [path for path in files if path in ids or path.suffix != ".json"]
    if len(files) > MOST:
        raise Trouble(f"--schemas {folder}: it has more than {MOST} schemas")
    texts = {path: _text(path) for path in files}
    if not ids:
        raise Trouble(f"--schemas {folder}: no schema there; name files by id, such as 17.avsc")
    schemas: dict[SchemaId, Schema] = {}
    for path, number in ids.items():
        beside = {
            each.relative_to(folder).as_posix(): texts[each]
            for each in files
            if each.suffix == path.suffix and each not in ids
        }
        try:
            schemas[number] = compiled(_KINDS[path.suffix], texts[path], beside)
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
    try:
        with path.open("rb") as file:
            data = file.read(MAX_TEXT + 1)
        if len(data) > MAX_TEXT:
            raise Trouble(f"--schemas: {path}: longer than {MAX_TEXT >> 20} MiB")
        return data.decode()
    except OSError as problem:
        raise Trouble(f"--schemas: {path}: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise Trouble(f"--schemas: {path}: not UTF-8") from None
