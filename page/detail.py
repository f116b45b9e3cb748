"""One exchange for the page: its bodies, and where in their bytes each field stands."""

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
from barnabas.captures.values.value import Values
from barnabas.page.declared import about, type_of
from barnabas.specs.codec.careful_decoder import CarefulDecoder
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import base64_text
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import codec_of
from barnabas.specs.secrets import has_secrets

SHOWN: Final = 64 << 10
"""Bytes of a body that are shown, with the fields that begin there: those of a MiB took 30."""


class _Enough(Exception):
    pass


class _Places(CarefulDecoder):
    """Notes where each field's bytes stand, on the way, and raises _Enough behind those that are shown."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.found: list[dict[str, Any]] = []

    def take(self, size: int, path: str, what: str) -> bytes:
        if self.offset >= SHOWN:
            raise _Enough
        taken = super().take(size, path, what)
        start, end = self.offset - size, self.offset
        if self.found and self.found[-1]["path"] == path and self.found[-1]["end"] == start:
            self.found[-1].update(end=end, type=what)
        else:
            self.found.append({"path": path, "type": what, "start": start, "end": end})
        return taken


def row(number: int, exchange: Exchange, context: Context) -> dict[str, Any]:
    """One line of the list."""
    return {
        "number": number,
        **exchange.row(SUMMARY),
        "details": details(exchange, context),
        "note": exchange.note,
    }


def detail(
    number: int, exchange: Exchange, context: Context, reading: Values | None = None
) -> dict[str, Any]:
    """All there is to show of one. Bytes of a message that may have secrets are not shown. reading: how keys
    and values of its records are."""
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
    """Sides that the proxy changed, in an exchange that has them as the broker has."""
    if exchange.request_left is not None:
        yield "request", replace(exchange, request_body=exchange.request_left)
    if exchange.response_came is not None:
        yield "response", replace(exchange, response_body=exchange.response_came)


def _side(exchange: Exchange, direction: Direction, value: Any) -> dict[str, Any]:
    body = exchange.body(direction)
    found: dict[str, Any] = {
        "value": value,
        "reason": exchange.reason(direction),
        "size": None if body is None else len(body),
        "hex": None,
        "fields": [],
    }
    if body is None or _secret(exchange.key, direction):
        return found
    found["hex"] = base64_text(body[:SHOWN])
    try:
        version = body_version(exchange.key, exchange.version, direction, body)
        places = _Places(body)
        with suppress(_Enough):
            places.struct(codec_of(exchange.key, version, direction).layout, "")
        found["fields"] = [
            {**each, "declared": type_of(exchange.key, direction, each["path"])}
            for each in places.found
        ]
    except (Malformed, LookupError):
        pass  # the reason says it
    return found


def _secret(key: int, direction: Direction) -> bool:
    return key in HEADLESS or has_secrets(key, direction)
