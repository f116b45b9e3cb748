"""What a client says it is: the name and version of its library, in ApiVersions."""

from __future__ import annotations

from barnabas.captures.kafka.context.reading import fields
from barnabas.captures.kafka.exchange import Exchange
from barnabas.specs.keys import API_VERSIONS


def software_of(exchange: Exchange) -> str | None:
    """Name and version, if this is an ApiVersions request that says them (v3 and later, KIP-511)."""
    if exchange.key != API_VERSIONS:
        return None
    found = fields(exchange, "request", "client_software_name", "client_software_version")
    return " ".join(filter(None, (found or {}).values())) or None
