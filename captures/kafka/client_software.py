"""Read the name and version of a client's library from its ApiVersions request."""

from __future__ import annotations

from barnabas.captures.kafka.context.body_fields import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import API_VERSIONS


def software_of(exchange: Exchange) -> str | None:
    """Return the name and version of the client's software.

    None unless this is an ApiVersions v3+ request that has them (KIP-511).
    """
    if exchange.key != API_VERSIONS:
        return None
    software = fields(exchange, "request", "client_software_name", "client_software_version")
    return " ".join(filter(None, (software or {}).values())) or None
