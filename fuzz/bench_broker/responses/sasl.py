"""SASL PLAIN, which accepts every user (KIP-43, KIP-152)."""

from __future__ import annotations

from typing import Any

from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.responses.request import Request


def sasl_handshake(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return the supported mechanisms."""
    return {"error_code": 0, "mechanisms": ["PLAIN"]}


def sasl_authenticate(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Accept the token; PLAIN has no server message (RFC 4616)."""
    return {"error_code": 0, "auth_bytes": b""}
