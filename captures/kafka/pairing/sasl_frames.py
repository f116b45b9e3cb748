"""Read a client's authentication from the SASL messages of a connection, in a proxy or a capture."""

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
"""The APIs of SASL messages, and of raw tokens."""


def note_request(sasl: Sasl, pending: Pending, body: bytes) -> str:
    """Note a SASL request (a handshake or a token), and return mechanism and user."""
    if pending.opaque:
        return sasl.note_token(body)
    fields = _fields(pending, "request", body)
    if pending.key == SASL_HANDSHAKE:
        sasl.note_handshake(fields.get("mechanism", ""))
    elif "auth_bytes" in fields:
        return sasl.note_token(fields["auth_bytes"])
    return ""


def note_response(sasl: Sasl, pending: Pending, body: bytes) -> str:
    """Note the response to a SASL request, and return a description of the outcome."""
    if pending.opaque:
        return sasl.note_outcome(body)
    fields = _fields(pending, "response", body)
    if "error_code" not in fields:
        return ""
    if pending.key == SASL_HANDSHAKE:
        sasl.note_handshake_response(fields["error_code"])
        return ""
    return sasl.note_outcome(
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
