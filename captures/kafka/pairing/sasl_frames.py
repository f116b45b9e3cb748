"""Learns a client's authentication from the SASL frames that pass, in a proxy or in a capture of others."""

from __future__ import annotations

from typing import Any, Final

from barnabas.captures.kafka.exchange import SASL_TOKEN
from barnabas.captures.kafka.pairing.captured_requests import known_version
from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.captures.kafka.sasl import Sasl
from barnabas.specs.frames import Direction
from barnabas.specs.keys import SASL_AUTHENTICATE, SASL_HANDSHAKE
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api

KEYS: Final = frozenset((SASL_HANDSHAKE, SASL_AUTHENTICATE, SASL_TOKEN))
"""Of the frames that say something."""


def note_request(sasl: Sasl, pending: Pending, body: bytes) -> str:
    """A SASL request came: a handshake, or a token (`opaque`: without a header). Returns who it is."""
    if pending.opaque:
        return sasl.asks(body)
    fields = _fields(pending, "request", body)
    if pending.key == SASL_HANDSHAKE:
        sasl.handshake(fields.get("mechanism", ""))
    elif "auth_bytes" in fields:
        return sasl.asks(fields["auth_bytes"])
    return ""


def note_response(sasl: Sasl, pending: Pending, body: bytes) -> str:
    """Its response came. Returns the outcome."""
    if pending.opaque:
        return sasl.answered(body)
    fields = _fields(pending, "response", body)
    if "error_code" not in fields:
        return ""
    if pending.key == SASL_HANDSHAKE:
        sasl.agreed(fields["error_code"])
        return ""
    return sasl.answered(
        fields["auth_bytes"],
        error=fields["error_code"],
        message=fields["error_message"],
        lifetime_ms=fields.get("session_lifetime_ms", 0),
    )


def _fields(pending: Pending, direction: Direction, body: bytes) -> dict[str, Any]:
    if not known_version(pending.key, pending.version):
        return {}
    try:
        return api(pending.key).message(direction).codec(pending.version).decode(body)
    except Malformed:
        return {}
