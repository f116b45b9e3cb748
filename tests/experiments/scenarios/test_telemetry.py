"""Clients whose metrics are refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

import pytest

from barnabas.harness import Harness
from barnabas.peers.apache import ApacheCluster
from tests.experiments.scenarios import expectations as expect
from tests.experiments.scenarios.java_client import ScenarioClient
from tests.experiments.scenarios.kafka import (
    JAVA,
    at_once,
    made_topic,
    numbers,
    read_log,
    receive,
    send,
    through,
)
from tests.waiting import until

pytestmark = pytest.mark.needs_apache("4.3.1")

VALUES = numbers(40)
INTERVAL: Final = 0.2
"""Seconds between two pushes that are accepted."""

ASKS_AGAIN = ("UNKNOWN_SUBSCRIPTION_ID", "UNSUPPORTED_COMPRESSION_TYPE")
WAITS = ("TELEMETRY_TOO_LARGE", "THROTTLING_QUOTA_EXCEEDED")
LAST: Final = "the plugin can't read the metrics"

RULES = expect.rules(
    {
        "all metrics are requested": "GetTelemetrySubscriptions ",
        "metrics are accepted": "PushTelemetry ",
        "the subscription has changed": "PushTelemetry UNKNOWN_SUBSCRIPTION_ID",
        "the metrics are too large": "PushTelemetry TELEMETRY_TOO_LARGE",
        "the compression is not supported": "PushTelemetry UNSUPPORTED_COMPRESSION_TYPE",
        "metrics are pushed too often": "PushTelemetry THROTTLING_QUOTA_EXCEEDED",
        LAST: "PushTelemetry INVALID_RECORD",
    }
)


def handles_refusals(proxy: Harness) -> None:
    """Check what the client sent after each refusal, and when."""
    RULES(proxy)
    sent = expect.of_api(proxy, "GetTelemetrySubscriptions", "PushTelemetry")
    assert sent[-1].error == "INVALID_RECORD"
    for refused, following in pairwise(sent):
        seconds = (following.ts - (refused.answered or 0)) / 1e9
        if refused.error in ASKS_AGAIN:
            assert following.api == "GetTelemetrySubscriptions"
        if refused.error in WAITS:
            assert seconds > 0.9 * INTERVAL


def read_while_refused(
    cluster: ApacheCluster, name: str, read: Callable[[str, str], list[bytes | None]]
) -> None:
    """Send to a reader when its telemetry has ended, for longer than some push intervals."""
    topic = made_topic(cluster.bootstrap, name)
    with through("telemetry-refused", cluster.bootstrap) as proxy:

        def send_later() -> None:
            until(lambda: proxy.rules.rule(LAST).fired, "all refusals")
            send(cluster.bootstrap, topic, VALUES, seconds=5 * INTERVAL)

        _, values = at_once(send_later, lambda: read(proxy.bootstrap, topic))
    handles_refusals(proxy)
    assert values == VALUES


def test_librdkafka_reads_on(cluster: ApacheCluster) -> None:
    def read(bootstrap: str, topic: str) -> list[bytes | None]:
        received = receive(bootstrap, topic, len(VALUES))
        assert received.errors == []
        return [*received.values]

    read_while_refused(cluster, "telemetry-refused", read)


def test_java_reads_on(cluster: ApacheCluster, java: ScenarioClient) -> None:
    def read(bootstrap: str, topic: str) -> list[bytes | None]:
        settings = {**JAVA, "bootstrap.servers": bootstrap}
        received = java.consume(topic, len(VALUES), group=topic, settings=settings)
        return [record.value for record in received]

    read_while_refused(cluster, "telemetry-refused-java", read)


def test_librdkafka_writes_on(cluster: ApacheCluster) -> None:
    topic = made_topic(cluster.bootstrap, "telemetry-refused-writer")
    with through("telemetry-refused", cluster.bootstrap) as proxy:
        sent = send(proxy.bootstrap, topic, VALUES, seconds=20 * INTERVAL)
    handles_refusals(proxy)
    assert sent.failed == {}
    assert read_log(cluster.bootstrap, topic) == {0: VALUES}
