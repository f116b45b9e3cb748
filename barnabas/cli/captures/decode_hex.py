"""`barnabas decode --request HEX`: one frame, decoded and explained."""

from __future__ import annotations

import itertools
import json
import re
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from rich.text import Text

from barnabas.captures.kafka.exchange import body_version
from barnabas.captures.kafka.wording import printable
from barnabas.cli.captures.decode_options import DecodeOptions
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.terminal import Terminal
from barnabas.cli.specs.show import known
from barnabas.plural import plural
from barnabas.specs import Malformed, Oddity, api, decode_frame, records
from barnabas.specs.dialect_frames import decode_frame as decode_dialect
from barnabas.specs.dialects import dialect
from barnabas.specs.embedded import Surroundings, reveal
from barnabas.specs.error_codes import error_name
from barnabas.specs.frames import Short, frame_body, request_head
from barnabas.specs.headers import header_codec
from barnabas.specs.jsonform import to_json, uuid_text
from barnabas.trouble import FINDINGS, FINE, Trouble

SHOWN: Final = 48
"""Bytes of a bytes field that are shown; the rest is counted."""

BATCHES: Final = 10
"""Batches of a records field that are shown; the rest is counted."""

_CORRELATION_ID: Final = 4
"""Bytes of the header of an ApiVersions response, in all versions."""

LAST_MOMENT: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, the last one that datetime can format."""


def decode_hex(options: DecodeOptions) -> int:
    """Decode a frame in hex (`-`: from stdin); return the exit code. Raises Trouble."""
    data = from_hex(sys.stdin.read() if options.hex.text == "-" else options.hex.text)
    try:
        name, version, header, body, oddities = (
            _of_dialect(options, data) if options.dialect else _of_kafka(options, data)
        )
    except Malformed as problem:
        raise Trouble(f"undecodable: {problem}", FINDINGS) from None
    except (LookupError, ValueError) as problem:
        raise Trouble(str(problem)) from None
    hidden = {}
    if options.dialect is None:
        around = Surroundings(release=options.hex.release)
        hidden = reveal(api(name).key, options.hex.direction, body, around)
    if options.as_json:
        document = {
            "api": name,
            "version": version,
            "direction": options.hex.direction,
            "header": to_json(header),
            "body": to_json(body),
            "inside": to_json(hidden),
            "oddities": [oddity._asdict() for oddity in oddities],
        }
        print(json_text(document))
        return FINE
    out = Terminal()
    out.print(Text(f"{name} v{version} {options.hex.direction}", "bold"))
    parts = (("header", header), ("body", body), ("inside", hidden))
    for part, value in parts if hidden else parts[:2]:
        for line in _lines(part, value, 0):
            out.print(line)
    for oddity in oddities:
        location = f"{oddity.path or 'body'} at byte {oddity.offset}"
        remark = f"unusual: {oddity.what} ({location}); Kafka accepts this but never writes it"
        out.print(Text(printable(remark), "yellow"))
    return FINE


Decoded = tuple[str, int, dict[str, Any], dict[str, Any], list[Oddity]]


def _of_kafka(options: DecodeOptions, data: bytes) -> Decoded:
    key = version = None
    if options.hex.direction == "request":
        _check_head(data)
    else:
        if options.hex.api is None or options.hex.api_version is None:
            raise Trouble(
                "a response does not name its API and version: give --api and --api-version"
            )
        key = known(options.hex.api, None, options.hex.release).key
        version = body_version(key, options.hex.api_version, "response", data[_CORRELATION_ID:])
        known(options.hex.api, version, options.hex.release)
    frame = decode_frame(
        data, options.hex.direction, key=key, version=version, release=options.hex.release
    )
    declaration = api(frame.key)
    body = frame_body(data, frame)
    codec = declaration.message(options.hex.direction).codec(frame.version, options.hex.release)
    header = header_codec(options.hex.direction, frame.key, frame.version)
    oddities = [
        oddity._replace(path=f"header.{oddity.path}")
        for oddity in header.inspect(data[: len(data) - len(body)])[1]
    ]
    oddities += codec.inspect(body)[1]
    return declaration.name, frame.version, frame.header, frame.body, oddities


def _check_head(data: bytes) -> None:
    """Raise Malformed for a request of an unknown API or version."""
    try:
        head = request_head(data, 0, len(data))
        api(head.key).request.layout(head.version)
    except Short:
        raise Malformed("header", len(data), "the header is cut off") from None
    except LookupError as problem:
        raise Malformed("header", 0, str(problem)) from None


def _of_dialect(options: DecodeOptions, data: bytes) -> Decoded:
    if options.hex.direction == "response" and options.hex.api is None:
        raise Trouble("a response does not name its API: give --api")
    assert options.dialect is not None  # noqa: S101
    spoken = dialect(options.dialect)
    frame = decode_dialect(spoken, data, options.hex.direction, api=options.hex.api)
    return frame.api, spoken.api(frame.api).version, frame.header, frame.body, []


def from_hex(text: str) -> bytes:
    """Parse a frame in hex with spaces, colons, 0x or line breaks. Raises Trouble.

    Leading four bytes are dropped if they are the size of the remaining bytes.

    >>> from_hex("0x00 00 00 02: ab cd").hex(), from_hex("abcd").hex()
    ('abcd', 'abcd')
    """
    digits = re.sub(r"0[xX]|[\s:,_-]", "", text)
    wrong = re.search(r"[^0-9a-fA-F]", digits)
    if wrong:
        raise Trouble(f"{wrong.group()!r} is not a hex digit (digit {wrong.start() + 1})")
    if not digits:
        raise Trouble("no hex digits: give the bytes of a frame")
    if len(digits) % 2:
        raise Trouble(f"{len(digits)} hex digits are not a whole number of bytes")
    data = bytes.fromhex(digits)
    if len(data) >= 4 and int.from_bytes(data[:4]) == len(data) - 4:
        return data[4:]
    return data


def _lines(name: str, value: Any, depth: int) -> Iterator[Text]:
    """Yield a value as indented lines, one for each field."""
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
            if name == "records":
                for batch in _batches(value):
                    yield Text("  " * (depth + 1)).append(batch, "dim")
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
        case int() if name.endswith(("timestamp", "timestamp_ms")) and 0 < value <= LAST_MOMENT:
            return f"{value} ({_moment(value)})"
        case str():
            return printable(json.dumps(value, ensure_ascii=False))
        case bytes():
            return _bytes(value)
        case list():
            return f"[{', '.join(_scalar('', item) for item in value)}]"
    return str(value)


def _bytes(value: bytes) -> str:
    if len(value) <= SHOWN:
        return f"{value.hex(' ')} ({plural(len(value), 'byte')})" if value else "(0 bytes)"
    return f"{value[:SHOWN].hex(' ')} ... ({len(value)} bytes)"


def _moment(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


def _batches(value: bytes) -> Iterator[str]:
    """Yield a line on a record set, and one on each of its first batches."""
    total = records.summary(value)
    count = (
        "an unknown number of records" if total.records is None else plural(total.records, "record")
    )
    rest = f", {plural(total.trailing, 'byte')} of an incomplete batch" if total.trailing else ""
    yield f"{plural(total.batches, 'batch', 'batches')}, {count}{rest}"
    try:
        for batch in itertools.islice(records.read(value), BATCHES):
            count = "? records" if batch.count is None else plural(batch.count, "record")
            checked = "" if batch.crc_ok else ", wrong crc"
            yield (
                f"batch at offset {batch.base_offset}: magic {batch.magic}, {batch.compression}, "
                f"{count}, {plural(batch.size, 'byte')}{checked}"
            )
    except Malformed as problem:
        yield f"not a record set: {problem}"
    if total.batches > BATCHES:
        yield f"and {plural(total.batches - BATCHES, 'more batch', 'more batches')}"
