"""The details of one exchange for the page: its bodies, and the bytes of each field in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from barnabas.captures.kafka.columns import SUMMARY
from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.embedded import inside
from barnabas.captures.kafka.exchange import HEADLESS, Exchange, body_version
from barnabas.captures.kafka.json_line import decoded_records
from barnabas.captures.kafka.log_line import details
from barnabas.captures.kafka.normal_errors import is_normal
from barnabas.captures.kafka.topics import topics_of
from barnabas.captures.values.value import Values
from barnabas.page.declared import about, type_of
from barnabas.specs.codec.careful_decoder import CarefulDecoder
from barnabas.specs.dialects.keys import error_in
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import base64_text
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import codec_of
from barnabas.specs.secrets import has_secrets

SHOWN: Final = 64 << 10
"""Bytes of a body that are shown, with the fields that begin in them: the fields of 1 MiB took 30 MiB."""


class _LimitReachedError(Exception):
    pass


class _FieldRecorder(CarefulDecoder):
    """A decoder that records the bytes of each field, and raises _Enough after the bytes that are shown."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.found: list[dict[str, Any]] = []

    def take(self, size: int, path: str, what: str) -> bytes:
        if self.offset >= SHOWN:
            raise _LimitReachedError
        taken = super().take(size, path, what)
        start, end = self.offset - size, self.offset
        if self.found and self.found[-1]["path"] == path and self.found[-1]["end"] == start:
            self.found[-1].update(end=end, type=what)
        else:
            self.found.append({"path": path, "type": what, "start": start, "end": end})
        return taken


def row(number: int, exchange: Exchange, context: Context) -> dict[str, Any]:
    """Return an exchange as a row of the list."""
    return {
        "number": number,
        **exchange.row(SUMMARY),
        "details": details(exchange, context),
        "note": exchange.note,
        "normal": is_normal(exchange.api, exchange.error or ""),
        "topics": sorted(topics_of(exchange, context.topics)),
    }


def detail(
    number: int, exchange: Exchange, context: Context, reading: Values | None = None
) -> dict[str, Any]:
    """Return all values of an exchange.

    Bytes of a message that may have secrets are left out. reading: Decodes the keys and values of its
    records.
    """
    whole, embedded = exchange.row(), inside(exchange, context)
    records = decoded_records(exchange, reading or Values())
    return {
        **row(number, exchange, context),
        "sasl": exchange.sasl,
        "declared": about(exchange.key, exchange.version),
        "packets": [exchange.request_packet, exchange.response_packet],
        "inside": {
            side: {**(embedded.get(side) or {}), **records.get(side, {})} for side in DIRECTIONS
        },
        **{side: _side(exchange, side, whole[side]) for side in DIRECTIONS},
        "altered": {
            side: _side(other, side, other.row((side,))[side]) for side, other in _altered(exchange)
        },
    }


def _altered(exchange: Exchange) -> Iterator[tuple[Direction, Exchange]]:
    """Yield the sides that the proxy changed, each with an exchange that has the broker's form of it."""
    if exchange.request_left is not None:
        yield "request", replace(exchange, request_body=exchange.request_left)
    if exchange.response_came is not None:
        yield "response", replace(exchange, response_body=exchange.response_came)


def _side(exchange: Exchange, direction: Direction, value: Any) -> dict[str, Any]:
    body = exchange.body(direction)
    side: dict[str, Any] = {
        "value": value,
        "reason": exchange.reason(direction),
        "size": None if body is None else len(body),
        "hex": None,
        "fields": [],
    }
    if body is None or _secret(exchange.key, direction):
        return side
    side["hex"] = base64_text(body[:SHOWN])
    try:
        version = body_version(exchange.key, exchange.version, direction, body)
        recorder = _FieldRecorder(body)
        with suppress(_LimitReachedError):
            recorder.struct(codec_of(exchange.key, version, direction).layout, "")
        side["fields"] = [
            {
                **each,
                "declared": type_of(exchange.key, direction, each["path"]),
                "error": _error(exchange.key, each, body),
            }
            for each in recorder.found
        ]
    except (Malformed, LookupError):
        pass  # `reason` has the error
    return side


def _error(key: int, location: dict[str, Any], body: bytes) -> str:
    """Return the name of the error in a field; empty: the field has none."""
    if not location["path"].endswith("error_code"):
        return ""
    code = int.from_bytes(body[location["start"] : location["end"]], signed=True)
    return error_in(key, code) if code else ""


def _secret(key: int, direction: Direction) -> bool:
    return key in HEADLESS or has_secrets(key, direction)
