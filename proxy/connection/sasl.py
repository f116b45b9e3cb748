"""Learns a client's authentication from the SASL frames that pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from barnabas.captures.kafka.pairing.in_flight import Pending
from barnabas.captures.kafka.wording import arrow
from barnabas.proxy.matching.kinds import known
from barnabas.specs import api
from barnabas.specs.frames import Direction
from barnabas.specs.keys import SASL_HANDSHAKE
from barnabas.specs.malformed import Malformed

if TYPE_CHECKING:
    from barnabas.captures.kafka.sasl import Sasl


def note_request(sasl: Sasl, pending: Pending, body: bytes) -> None:
    """A SASL request came: a handshake, or a token (`opaque`: without a header)."""
    if pending.opaque:
        pending.sasl = sasl.asks(body)
        return
    fields = _fields(pending, "request", body)
    if pending.key == SASL_HANDSHAKE:
        sasl.handshake(fields.get("mechanism", ""))
    elif "auth_bytes" in fields:
        pending.sasl = sasl.asks(fields["auth_bytes"])


def note_response(sasl: Sasl, pending: Pending, body: bytes) -> str:
    """Its response came. Returns the outcome, for the capture."""
    if pending.opaque:
        found = sasl.answered(body)
    else:
        fields = _fields(pending, "response", body)
        if "error_code" not in fields:
            return ""
        if pending.key == SASL_HANDSHAKE:
            sasl.agreed(fields["error_code"])
            return ""
        found = sasl.answered(
            fields["auth_bytes"],
            error=fields["error_code"],
            message=fields["error_message"],
            lifetime_ms=fields.get("session_lifetime_ms", 0),
        )
    pending.sasl = arrow(pending.sasl, found)
    return found


def _fields(pending: Pending, direction: Direction, body: bytes) -> dict[str, Any]:
    if not known(pending.key, pending.version):
        return {}
    try:
        return api(pending.key).message(direction).codec(pending.version).decode(body)
    except Malformed:
        return {}
