"""SASL: mechanism, user and outcome where they are known; tokens by their sizes only."""

from __future__ import annotations

from barnabas.captures.kafka.wording import Body, Names, arrow, listed
from barnabas.plural import plural


def sasl_handshake(request: Body, response: Body, names: Names) -> str:
    """SaslHandshake: the mechanism; if it is refused, those on offer."""
    offered = response.get("mechanisms") if response.get("error_code") else None
    return arrow(request.get("mechanism", ""), listed(offered or (), "mechanism"))


def sasl_authenticate(request: Body, response: Body, names: Names) -> str:
    """SaslAuthenticate of which nothing else is known: sizes."""
    sent, came = (body.get("auth_bytes") for body in (request, response))
    return arrow(
        "" if sent is None else plural(len(sent), "byte"),
        "" if came is None else plural(len(came), "byte"),
    )
