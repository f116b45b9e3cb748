"""GetTelemetrySubscriptions (KIP-714): all metrics, soon; what is pushed then is only taken."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.fuzz.answering.answers.ask import Ask
from barnabas.fuzz.answering.cluster import Cluster

_INSTANCE_ID: Final = uuid.UUID(int=0x7E1E3E7)
_ALL: Final = [""]
"""A prefix of every name."""
_INTERVAL: Final = 20
"""Milliseconds; clients that take no such interval push when they end."""


def get_telemetry_subscriptions(cluster: Cluster, ask: Ask) -> dict[str, Any]:
    """The client's own id, or one for who has none yet."""
    own: uuid.UUID = ask.body["client_instance_id"]
    return {
        "client_instance_id": own if own.int else _INSTANCE_ID,
        "subscription_id": 1,
        "accepted_compression_types": [4, 3, 1, 2],  # zstd, LZ4, gzip, snappy
        "push_interval_ms": _INTERVAL,
        "telemetry_max_bytes": 1 << 20,
        "delta_temporality": True,
        "requested_metrics": _ALL,
    }
