"""Metrics for Prometheus, made on request from counts that exist anyway.

Times are in seconds, sizes in bytes. https://prometheus.io/docs/practices/naming/
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from prometheus_client import generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from barnabas.captures.kafka.exchange import STAND_INS
from barnabas.captures.summary.api_stats import PER_OCTAVE, ApiStats
from barnabas.captures.writing.block_sink import Stats
from barnabas.proxy.control.history import History
from barnabas.proxy.network.report import Report
from barnabas.specs.registry import NAMES

OCTAVES: Final = range(16, 37)
"""The bounds of the latency histogram, as powers of two in ns (65.5 µs to 68.7 s). The tally's buckets
have the same bounds, so that the counts are exact."""


def exposition(report: Report, history: History, dropped_spans: int | None = None) -> bytes:
    """Return the metrics in Prometheus' text format; `dropped_spans` is None without OTLP."""
    return generate_latest(_Collector(report, history, dropped_spans))


class _Collector:
    """The object that `generate_latest` collects the metrics from."""

    def __init__(self, report: Report, history: History, dropped_spans: int | None) -> None:
        self.report = report
        self.history = history
        self.dropped_spans = dropped_spans

    def collect(self) -> Iterator[Metric]:
        yield from _exchanges(self.report.tally, self.history)
        yield from _connections(self.report)
        yield from _rules(self.report)
        yield _gauge(
            "missing_workers",
            "Workers that do not answer; their counts are those of their last answer.",
            len(self.report.missing),
        )
        if self.report.capture is not None:
            yield from _capture(self.report.capture.stats)
        if self.dropped_spans is not None:
            yield _counter(
                "dropped_spans",
                "Spans that the collector of --otlp did not accept.",
                self.dropped_spans,
            )


def _exchanges(tally: ApiStats, history: History) -> Iterator[Metric]:
    counts: Counter[str] = Counter()
    buckets: dict[str, Counter[int]] = {}
    for key, count, latencies in tally.latencies():
        counts[_api(key)] += count
        buckets.setdefault(_api(key), Counter()).update(latencies)
    yield _counter("exchanges", "Exchanges completed, with or without a response.", counts, "api")
    errors = {(api, error): count for api, error, count in tally.errors()}
    yield _counter("errors", "Error codes in decoded responses.", errors, "api", "error")
    yield _counter(
        "observed_exchanges",
        "Exchanges shown in the log or by the control port.",
        history.kinds,
        *("api", "version", "error"),
    )
    latency = HistogramMetricFamily(
        "barnabas_latency_seconds",
        "From the request's arrival to the response's departure; the sum is exact to 1 %.",
        labels=("api",),
    )
    for api, latencies_by_bucket in buckets.items():
        if latencies_by_bucket:
            latency.add_metric((api,), histogram(latencies_by_bucket), _sum(latencies_by_bucket))
    yield latency
    yield _counter(
        "stream_lost_exchanges",
        "Exchanges lost because a reader of the stream was too slow.",
        history.lost,
    )


def histogram(buckets: dict[int, int]) -> list[tuple[str, float]]:
    """Return cumulative counts below each bound in seconds, of latencies by the tally's buckets.

    >>> dict(histogram({16 * PER_OCTAVE - 1: 2, 16 * PER_OCTAVE: 1}))["6.5536e-05"]
    2
    """
    bounds: list[tuple[str, float]] = []
    for octave in OCTAVES:
        below = sum(count for bucket, count in buckets.items() if bucket < octave * PER_OCTAVE)
        bounds.append((repr(2**octave / 1e9), below))
    return [*bounds, ("+Inf", sum(buckets.values()))]


def _sum(buckets: dict[int, int]) -> float:
    return (
        sum(count * 2 ** ((bucket + 0.5) / PER_OCTAVE) for bucket, count in buckets.items()) / 1e9
    )


def _connections(report: Report) -> Iterator[Metric]:
    totals, connections = report.totals, report.connections
    yield _counter("connections", "Connections accepted.", totals.connections)
    yield _counter(
        "refused_connections",
        "Connections closed because the broker could not be reached.",
        totals.unreachable,
    )
    yield _gauge("open_connections", "Open connections.", len(connections))
    received = Counter(dict(zip(("request", "response"), report.received, strict=True)))
    queued: Counter[str] = Counter(request=0, response=0)
    queued_bytes: Counter[str] = Counter(request=0, response=0)
    for row in connections:
        for direction in received:
            counts = row[direction]
            received[direction] += counts["received_bytes"]
            queued_bytes[direction] += counts["queued_bytes"]
            queued[direction] += counts["queued"] + counts["held"]
    yield _counter(
        "received_bytes",
        "Bytes received, as Linux counts them: a FIN is one; with TLS, encrypted.",
        received,
        "direction",
    )
    yield _counter(
        "undecodable_frames",
        "Frames that can't be decoded; forwarded unchanged.",
        totals.undecoded,
    )
    yield _counter(
        "withheld_responses",
        "Responses that closed their connection, since addresses in them can't be replaced.",
        totals.withheld,
    )
    yield _gauge("queued_frames", "Frames held back by rules.", queued, "direction")
    yield _gauge(
        "queued_bytes", "Memory of the frames held back by rules.", queued_bytes, "direction"
    )
    waiting = sum(row["waiting_requests"] for row in connections)
    yield _gauge("waiting_requests", "Requests in flight.", waiting)


def _rules(report: Report) -> Iterator[Metric]:
    yield _counter(
        "faults",
        "Messages to which a fault was applied, e.g. delay, hold, reorder, drop, close.",
        report.struck,
        "fault",
    )
    for name, text in (("matched", "matched"), ("fired", "fired on")):
        yield _counter(
            f"rule_{name}",
            f"Messages that a rule {text} since it was loaded.",
            {rule.name: getattr(rule, name) for rule in report.rules},
            "rule",
        )


def _capture(stats: Stats) -> Iterator[Metric]:
    yield _counter("capture_bytes", "Bytes of the capture file.", stats.bytes)
    yield _counter(
        "capture_lost_packets", "Packets not written to the capture.", stats.lost_packets
    )
    yield _counter(
        "capture_lost_bytes", "Bytes of payload not written to the capture.", stats.lost_bytes
    )
    yield _gauge("capture_stopped", "1 if the capture has stopped.", stats.stopped is not None)


def _metric(
    family: type[CounterMetricFamily | GaugeMetricFamily],
    name: str,
    text: str,
    counts: float | Mapping[Any, float],
    *labels: str,
) -> Metric:
    """Return a metric with one number, or one for each value of its label or labels.

    The values of several labels are a tuple.
    """
    metric = family(f"barnabas_{name}", text, labels=labels)
    for values, count in counts.items() if isinstance(counts, Mapping) else [((), counts)]:
        metric.add_metric((values,) if isinstance(values, str) else values, count)
    return metric


_counter: Final = partial(_metric, CounterMetricFamily)
_gauge: Final = partial(_metric, GaugeMetricFamily)


def _api(key: int) -> str:
    """Return the name of an API as in the tally's rows; all unknown keys share one name."""
    return STAND_INS.get(key) or NAMES.get(key, "unknown")
