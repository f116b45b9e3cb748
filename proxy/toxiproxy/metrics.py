"""Toxiproxy's metrics: https://github.com/Shopify/toxiproxy/blob/v2.12.0/METRICS.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, Metric

from barnabas.proxy.toxiproxy.store import Store
from barnabas.proxy.toxiproxy.toxics import STREAMS

_LABELS: Final = ("direction", "proxy", "listener", "upstream")


def exposition(store: Store) -> bytes:
    """Return the metrics in Prometheus' text format."""
    return generate_latest(_Collector(store))


class _Collector:
    """The object that `generate_latest` collects the metrics from."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def collect(self) -> Iterator[Metric]:
        for verb in ("received", "sent"):
            metric = CounterMetricFamily(
                f"toxiproxy_proxy_{verb}_bytes", f"Bytes {verb} by a proxy.", labels=_LABELS
            )
            for proxy in self.store.proxies.values():
                counts = proxy.received if verb == "received" else proxy.sent
                for stream in STREAMS:
                    labels = (stream, proxy.name, proxy.listen, proxy.upstream)
                    metric.add_metric(labels, counts[stream])
            yield metric
