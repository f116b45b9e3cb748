"""Wrong answers to the checks of SASL."""

from __future__ import annotations

from typing import Final

from tests.conform.recordings import Wrong, closed, stays_open, with_fields

HANDSHAKE: Final = "SaslHandshake"
AUTHENTICATE: Final = "SaslAuthenticate"
ACCEPTED: Final = {"error_code": "NONE"}

WRONG: Final[dict[str, Wrong]] = {
    "sasl/handshake-without-sasl": with_fields(HANDSHAKE, 0, ACCEPTED),
    "sasl/authenticate-without-sasl": with_fields(AUTHENTICATE, 0, ACCEPTED),
    "sasl/required": stays_open(),
    "sasl/authenticate-first": stays_open(),
    "sasl/request-after-handshake": with_fields("FindCoordinator", 0, ACCEPTED),
    "sasl/versions-before-login": Wrong("ApiVersions", 0, closed),
    "sasl/versions-after-login": with_fields("ApiVersions", 1, {"api_keys[0].max_version": 1}),
    "sasl/mechanism-unknown": with_fields(HANDSHAKE, 1, {"mechanisms": []}),
    "sasl/mechanisms-listed": with_fields(HANDSHAKE, 1, {"mechanisms": []}),
    "sasl/login": Wrong("Metadata", 0, closed),
    "sasl/password-wrong": stays_open(),
    "sasl/user-unknown": with_fields(AUTHENTICATE, 2, {"error_message": "no such user"}),
    "sasl/plain-empty": with_fields(AUTHENTICATE, 1, ACCEPTED),
    "sasl/plain-unreadable": with_fields(AUTHENTICATE, 1, ACCEPTED),
    "sasl/plain-other-identity": with_fields(AUTHENTICATE, 1, ACCEPTED),
    "sasl/handshake-v0": Wrong("Metadata", 0, closed),
    "sasl/scram-256": with_fields(AUTHENTICATE, 2, {"auth_bytes": b"v=d3Jvbmc="}),
    "sasl/scram-512": with_fields(AUTHENTICATE, -1, ACCEPTED),
    "sasl/scram-deleted": with_fields(AUTHENTICATE, -1, ACCEPTED),
    "sasl/session-expired": stays_open(),
    "sasl/session-renewed": Wrong("Metadata", 0, closed),
    "sasl/session-other-user": with_fields(AUTHENTICATE, -1, ACCEPTED),
    "sasl/session-unlimited": with_fields(HANDSHAKE, 2, ACCEPTED),
}
