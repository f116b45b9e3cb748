"""`barnabas proxy --otlp`, a process before real clients. The collector is the test's own: `collector.py`."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from prometheus_client.parser import text_string_to_metric_families

from barnabas.addresses import parse_address
from barnabas.cli.traces.exporter import LAST
from barnabas.control_client import Client
from tests.barnabas.cli.proxy.test_draining import connect, frame, until_said
from tests.barnabas.cli.test_app import BARNABAS, started
from tests.barnabas.cli.traces.collector import Collector, Received, collecting
from tests.proxy.frames import request
from tests.proxy.toxiproxy import processes
from tests.remaining import remaining

pytestmark = pytest.mark.slow("a proxy in a process of its own for each")

PATIENCE = 60.0
SLACK = 20.0
"""Seconds that a busy machine may need beside what is promised."""

TRACES = ["4bf92f3577b34da6a3ce929d0e0e4736", "7bf92f3577b34da6a3ce929d0e0e4736"]
SPANS = ["00f067aa0ba902b7", "10f067aa0ba902b7"]
HEADERS = [f"00-{trace}-{span}-01" for trace, span in zip(TRACES, SPANS, strict=True)]
SCENARIO = """version: 1
rules:
  - name: busy
    match: {api: Produce, direction: request}
    when: {times: 1}
    do: {respond: {error: NOT_ENOUGH_REPLICAS}}
  - name: slow
    match: {api: Fetch, direction: response}
    when: {times: 1}
    do: {delay: {by: 200ms}}
"""


def proxy(bootstrap: str, url: str, *options: str) -> tuple[str, ...]:
    return ("proxy", "-b", bootstrap, "--listen", "127.0.0.1:0", "--otlp", url, *options)


def stopped(process: subprocess.Popen[str]) -> tuple[str, float]:
    """After Ctrl-C: what it said on stderr, and the seconds that it took to end."""
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = remaining(process, PATIENCE)
    assert process.returncode == 0, errors
    return errors, time.monotonic() - begun


def order(address: str, topic: str) -> None:
    """Three records in one batch, two of them in somebody's trace; and who reads them."""
    producer = Producer({"bootstrap.servers": address, "client.id": "shop", "linger.ms": 200})
    for at in range(3):
        headers = [("traceparent", HEADERS[at])] if at < 2 else []
        producer.produce(topic, b"order", headers=headers, partition=0)
    assert producer.flush(PATIENCE) == 0
    options = {"group.id": "g", "client.id": "store"}
    consumer = Consumer({"bootstrap.servers": address, **options})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        assert len(consumer.consume(3, PATIENCE)) == 3
        consumer.commit(asynchronous=False)
    finally:
        consumer.close()


def test_proxies_of_toxiproxy_s_clients_send_spans_without_a_log(bootstrap: str) -> None:
    with collecting() as collector:
        ends = ("-b", bootstrap, "--listen", "127.0.0.1:0")
        with processes.barnabas(*ends, "--log", "off", "--otlp", collector.url) as ours:
            found = json.loads(processes.ask(ours["port"], "GET", "/proxies").body)
            order(found["kafka"]["listen"], "traced")
            collector.wait(lambda: bool(collector.named("OffsetCommit traced")))


def within(inner: Received, outer: Received) -> bool:
    return outer.start <= inner.start <= inner.end <= outer.end


@pytest.mark.parametrize("options", [("--log", "json"), ("--log", "off"), ("--workers", "2")])
def test_an_order_is_followed_from_its_producer_to_its_reader(
    bootstrap: str, tmp_path: Path, options: tuple[str, ...]
) -> None:
    topic = f"orders-{'-'.join(options).strip('-')}"
    scenario, capture = tmp_path / "s.yaml", tmp_path / "run.pcapng"
    scenario.write_text(SCENARIO)
    files = ("--scenario", str(scenario), "--capture", str(capture))
    with collecting() as collector:
        since = time.time_ns()
        with started(*proxy(bootstrap, collector.url, *files, *options)) as (process, ready):
            order(ready["listen"], topic)
            # on a busy machine the reader may be behind, and is given little time in the end
            collector.wait(lambda: bool(collector.named(f"OffsetCommit {topic}")))
            errors, _ = stopped(process)
        until = time.time_ns()
        assert "dropped" not in errors
        live = list(collector.spans)
        assert collector.paths == {"/v1/traces"}
        _follows(collector, topic)
        assert all(since < span.start <= span.end < until for span in live)
        again = subprocess.run(
            [*BARNABAS, "decode", str(capture), "--otlp", collector.url],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "dropped" not in again.stderr
        decoded = collector.spans[len(live) :]
    assert _gist(decoded) == _gist(live), "the capture tells what passed"
    assert {span.resource["service.name"] for span in live} == {"barnabas"}


def _follows(collector: Collector, topic: str) -> None:
    failed, sent = collector.named(f"Produce {topic}")
    assert (failed.failed, failed.message) == (True, "NOT_ENOUGH_REPLICAS")
    assert failed.attributes["error.type"] == "NOT_ENOUGH_REPLICAS"
    assert failed.attributes["kafka.rules"] == ["busy"]
    assert not sent.failed
    for span in (failed, sent):
        assert (span.trace_id, span.parent_id) == (TRACES[0], SPANS[0])
        assert span.links == [(TRACES[1], SPANS[1])]
        assert span.attributes["messaging.client.id"] == "shop"
        assert span.attributes["messaging.destination.name"] == topic
    (broker,) = [
        span for span in collector.named("Produce in the broker") if span.parent_id == sent.span_id
    ]
    assert broker.trace_id == TRACES[0]
    assert within(broker, sent)
    read = [span for span in collector.named(f"Fetch {topic}") if span.links]
    assert read[0].links == list(zip(TRACES, SPANS, strict=True))
    assert read[0].attributes["messaging.client.id"] == "store"
    assert read[0].start > sent.start - 10**9
    slow = [span for span in collector.spans if span.attributes.get("kafka.rules") == ["slow"]]
    assert [span.end - span.start >= 200_000_000 for span in slow] == [True]
    (inner,) = [span for span in collector.spans if span.parent_id == slow[0].span_id]
    assert slow[0].end - inner.end >= 190_000_000, "the broker was not slow"
    groups = {span.attributes.get("messaging.consumer.group.name") for span in collector.spans}
    assert groups == {None, "g"}


def _gist(spans: list[Received]) -> list[tuple[Any, ...]]:
    return sorted((*span[:9], str(sorted(span.attributes.items()))) for span in spans)


def ask(client: socket.socket, count: int) -> None:
    for number in range(count):
        client.sendall(request("ApiVersions", number, version=3))
        assert int.from_bytes(frame(client)[:4]) == number


def printed(process: subprocess.Popen[str], count: int) -> None:
    """Read so many lines of its log: of these exchanges the spans are made."""
    assert process.stdout is not None
    for _ in range(count):
        assert process.stdout.readline()


def test_a_collector_that_refuses_is_said_at_once_and_counted_in_the_end(bootstrap: str) -> None:
    with (
        collecting(500) as collector,
        started(*proxy(bootstrap, collector.url, "--log", "json")) as (process, ready),
    ):
        with connect(ready["listen"]) as client:
            ask(client, 1)
            until_said(process, f"otlp: {collector.url}/v1/traces does not accept spans")
            collector.status = 200
            ask(client, 2)
        collector.wait(lambda: len(collector.spans) == 4)
        errors, _ = stopped(process)
    assert "2 of 6 spans dropped: " in errors
    assert "Traceback" not in errors


def test_what_the_collector_did_not_take_is_a_metric(bootstrap: str) -> None:
    def dropped(control: Client) -> float:
        families = text_string_to_metric_families(control.text("GET", "/metrics"))
        (found,) = [one for one in families if one.name == "barnabas_dropped_spans"]
        return found.samples[0].value

    options = ("--log", "json", "--control", "127.0.0.1:0")
    with (
        collecting(500) as collector,
        started(*proxy(bootstrap, collector.url, *options)) as (process, ready),
    ):
        control = Client(parse_address(ready["control"]), ready["token"])
        assert dropped(control) == 0
        with connect(ready["listen"]) as client:
            ask(client, 3)
            until_said(process, f"otlp: {collector.url}/v1/traces does not accept spans")
            until = time.monotonic() + PATIENCE
            while dropped(control) != 6:
                assert time.monotonic() < until
            collector.status = 200
            ask(client, 1)
            collector.wait(lambda: len(collector.spans) == 2)
            assert dropped(control) == 6
        stopped(process)


def test_a_collector_that_hangs_holds_up_neither_traffic_nor_the_end(bootstrap: str) -> None:
    with (
        collecting(hangs=True) as collector,
        started(*proxy(bootstrap, collector.url, "--log", "json")) as (process, ready),
    ):
        with connect(ready["listen"]) as client:
            ask(client, 1)
            assert collector.asked.wait(PATIENCE)
            ask(client, 10)
        printed(process, 11)
        errors, seconds = stopped(process)
    assert "22 of 22 spans dropped: " in errors
    assert seconds < 1 + LAST + SLACK
