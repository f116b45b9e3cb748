"""`barnabas decode --request HEX`: one frame, decoded and explained."""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from rich.text import Text

from barnabas.spec import console
from barnabas.trouble import FINDINGS, FINE, Trouble
from specs import Malformed, Oddity, api, decode_frame, records
from specs.drafts import decode_frame as decode_draft
from specs.drafts import draft as draft_of
from specs.error_codes import error_name
from specs.frames import Direction, frame_body
from specs.jsonform import to_json, uuid_text

SHOWN: Final = 48
"""Bytes of a bytes field that are shown; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asked for. `api` and `version`: what a response answers."""

    text: str
    direction: Direction
    api: str | None = None
    version: int | None = None
    release: str | None = None
    draft: str | None = None
    as_json: bool = False


def decode_hex(asked: Asked) -> int:
    """Decode a frame given in hex (`-`: from stdin); returns the exit code."""
    data = from_hex(sys.stdin.read() if asked.text == "-" else asked.text)
    try:
        name, version, header, body, oddities = (
            _of_draft(asked, data) if asked.draft else _of_kafka(asked, data)
        )
    except Malformed as problem:
        raise Trouble(f"no frame of that kind: {problem}", FINDINGS) from None
    except (LookupError, ValueError) as problem:
        raise Trouble(str(problem)) from None
    if asked.as_json:
        found = {
            "api": name,
            "version": version,
            "direction": asked.direction,
            "header": to_json(header),
            "body": to_json(body),
            "oddities": [oddity._asdict() for oddity in oddities],
        }
        print(json.dumps(found, ensure_ascii=False))
        return FINE
    out = console()
    out.print(Text(f"{name} v{version} {asked.direction}", "bold"))
    for line in (*_lines("header", header, 0), *_lines("body", body, 0)):
        out.print(line)
    for oddity in oddities:
        where = f"{oddity.path or 'body'} at byte {oddity.offset}"
        out.print(
            Text(f"odd: {oddity.what} ({where}); Kafka accepts this and never writes it", "yellow")
        )
    return FINE


Decoded = tuple[str, int, dict[str, Any], dict[str, Any], list[Oddity]]


def _of_kafka(asked: Asked, data: bytes) -> Decoded:
    key = version = None
    if asked.direction == "response":
        if asked.api is None or asked.version is None:
            raise Trouble("a response does not say what it answers: give --api and --api-version")
        key, version = api(asked.api).key, asked.version
    frame = decode_frame(data, asked.direction, key=key, version=version, release=asked.release)
    found = api(frame.key)
    body = frame_body(data, frame)
    codec = found.message(asked.direction).codec(frame.version, asked.release)
    return found.name, frame.version, frame.header, frame.body, codec.inspect(body)[1]


def _of_draft(asked: Asked, data: bytes) -> Decoded:
    if asked.direction == "response" and asked.api is None:
        raise Trouble("a response does not say what it answers: give --api")
    assert asked.draft is not None  # noqa: S101
    draft = draft_of(asked.draft)
    frame = decode_draft(draft, data, asked.direction, api=asked.api)
    return frame.api, draft.api(frame.api).version, frame.header, frame.body, []


def from_hex(text: str) -> bytes:
    """The bytes of a frame without its size, from hex with spaces, colons, 0x or line breaks.

    Raises Trouble for what is no hex. A size in front is one if it fits what follows.

    >>> from_hex("0x00 00 00 02: ab cd").hex(), from_hex("abcd").hex()
    ('abcd', 'abcd')
    """
    digits = re.sub(r"0[xX]|[\s:,_-]", "", text)
    wrong = re.search(r"[^0-9a-fA-F]", digits)
    if wrong:
        raise Trouble(f"{wrong.group()!r} is no hex digit (digit {wrong.start() + 1} of them)")
    if not digits:
        raise Trouble("no hex digits: give the bytes of a frame")
    if len(digits) % 2:
        raise Trouble(f"{len(digits)} hex digits make no whole number of bytes")
    data = bytes.fromhex(digits)
    if len(data) >= 4 and int.from_bytes(data[:4]) == len(data) - 4:
        return data[4:]
    return data


def _lines(name: str, value: Any, depth: int) -> Iterator[Text]:
    """A value as indented lines, a field each."""
    line = Text("  " * depth)
    line.append(f"{name}:", "cyan")
    match value:
        case dict() if value:
            yield line
            for inner, item in value.items():
                yield from _lines(str(inner), item, depth + 1)
        case list() if value and isinstance(value[0], dict | list):
            yield line.append(f" {len(value)}", "dim")
            for i, item in enumerate(value):
                yield from _lines(f"[{i}]", item, depth + 1)
        case bytes():
            yield line.append(f" {_bytes(value)}")
            if name in ("records", "record_set"):
                for summary in _records(value):
                    yield Text("  " * (depth + 1)).append(summary, "dim")
        case _:
            yield line.append(f" {_scalar(name, value)}")


def _scalar(name: str, value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case uuid.UUID():
            return uuid_text(value)
        case int() if name.endswith("error_code"):
            return f"{value} ({error_name(value)})"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(_scalar('', item) for item in value)}]"
    return str(value)


def _bytes(value: bytes) -> str:
    if len(value) <= SHOWN:
        return f"{value.hex(' ')} ({len(value)} bytes)" if value else "(0 bytes)"
    return f"{value[:SHOWN].hex(' ')} ... ({len(value)} bytes)"


def _records(value: bytes) -> Iterator[str]:
    try:
        for batch in records.read(value):
            count = "?" if batch.count is None else batch.count
            checked = "" if batch.crc_ok else ", wrong crc"
            yield (
                f"batch at offset {batch.base_offset}: magic {batch.magic}, {batch.compression}, "
                f"{count} records, {batch.size} bytes{checked}"
            )
    except Malformed as problem:
        yield f"records: {problem}"
