"""SASL by PLAIN: whoever comes is let in (KIP-43, KIP-152)."""

from __future__ import annotations

from typing import Any

from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.cluster import Cluster


def sasl_handshake(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """The mechanisms that there are."""
    return {"error_code": 0, "mechanisms": ["PLAIN"]}


def sasl_authenticate(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """PLAIN's server says nothing (RFC 4616)."""
    return {"error_code": 0, "auth_bytes": b""}
