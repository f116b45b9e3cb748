"""Describe SASL exchanges: mechanism, user and outcome if they are known; of tokens only the sizes."""

from __future__ import annotations

from barnabas.captures.kafka.wording import Body, Names, arrow, listed
from barnabas.plural import plural


def sasl_handshake(request: Body, response: Body, names: Names) -> str:
    """Describe a SaslHandshake: the mechanism; if it is refused, the supported ones."""
    offered = response.get("mechanisms") if response.get("error_code") else None
    return arrow(request.get("mechanism", ""), listed(offered or (), "mechanism"))


def sasl_authenticate(request: Body, response: Body, names: Names) -> str:
    """Describe a SaslAuthenticate of an unknown user: the sizes of the tokens."""
    sent, returned = (body.get("auth_bytes") for body in (request, response))
    return arrow(
        "" if sent is None else plural(len(sent), "byte"),
        "" if returned is None else plural(len(returned), "byte"),
    )
