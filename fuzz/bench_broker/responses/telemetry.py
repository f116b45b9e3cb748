"""GetTelemetrySubscriptions (KIP-714): all metrics, at a short interval; pushed metrics are dropped."""

from __future__ import annotations

import uuid
from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import Cluster
from barnabas.fuzz.bench_broker.responses.request import Request

_INSTANCE_ID: Final = uuid.UUID(int=0x7E1E3E7)
_ALL: Final = [""]
"""The prefix of every metric's name."""
_INTERVAL: Final = 20
"""Milliseconds; clients that reject such an interval push at their end."""


def get_telemetry_subscriptions(cluster: Cluster, request: Request) -> dict[str, Any]:
    """Return a subscription to all metrics."""
    instance_id: uuid.UUID = request.body["client_instance_id"]
    return {
        "client_instance_id": instance_id if instance_id.int else _INSTANCE_ID,
        "subscription_id": 1,
        "accepted_compression_types": [4, 3, 1, 2],  # zstd, LZ4, gzip, snappy
        "push_interval_ms": _INTERVAL,
        "telemetry_max_bytes": 1 << 20,
        "delta_temporality": True,
        "requested_metrics": _ALL,
    }
