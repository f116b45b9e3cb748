"""Metrics read back by Prometheus' own parser, and held against the traffic that they are of."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from barnabas.captures.summary.api_stats import ApiStats
from barnabas.proxy.control.history import History
from barnabas.proxy.control.metrics import OCTAVES, exposition, histogram
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.report import report
from barnabas.proxy.network.server import Proxy
from tests.proxy.control.desk import Desk, desk
from tests.proxy.playbook import raw, request, response
from tests.proxy.servers import SOON, read_frame

SCENARIO = (
    "version: 1\nrules:\n"
    "  - {name: slow, match: {api: Metadata, direction: request, client_id: slow}, do: {delay: 1h}}\n"
    "  - {name: aside, match: {api: Metadata, direction: request, client_id: aside},\n"
    "     do: {hold: {until: {api: Fetch}, at_most: 1h}}}\n"
    "  - {name: mixed, match: {direction: request, client_id: mixed},\n"
    "     do: {reorder: {shuffle: 3, at_most: 1h}}}\n"
    "  - {name: cut, match: {client_id: cut}, do: [{delay: 1ms}, {close: {forward: true}}]}\n"
)


def parsed(text: bytes) -> dict[str, Sample]:
    """Samples by name and labels as in the text; each stands there once."""
    found: dict[str, Sample] = {}
    for family in text_string_to_metric_families(text.decode()):
        assert family.documentation
        assert family.name.startswith("barnabas_")
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            name = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert name not in found
            found[name] = sample
    return found


def linted(text: bytes) -> None:
    """Where there is promtool, it has nothing to say."""
    if shutil.which("promtool"):
        command = ["promtool", "check", "metrics"]
        checked = subprocess.run(command, input=text, capture_output=True, check=False)
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


async def scraped(it: Desk) -> dict[str, float]:
    answer = await it.ask("GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    linted(answer.body)
    return {name: sample.value for name, sample in parsed(answer.body).items()}


async def test_all_is_there_before_there_is_traffic() -> None:
    async with desk(SCENARIO) as it:
        found = await scraped(it)
        assert found["barnabas_connections_total"] == 0
        assert found["barnabas_open_connections"] == 0
        assert found["barnabas_queued_frames{direction=request}"] == 0
        assert found["barnabas_queued_frames{direction=response}"] == 0
        assert found["barnabas_faults_total{fault=delay}"] == 0
        assert found["barnabas_rule_fired_total{rule=slow}"] == 0
        assert found["barnabas_undecodable_frames_total"] == 0
        assert "barnabas_capture_bytes_total" not in found


@pytest.mark.parametrize("observed", [False, True])
async def test_exchanges_and_their_times_are_those_that_passed(observed: bool) -> None:
    async with desk(observed=observed) as it:
        for number in range(3):
            await it.exchange(number, version=1)
        await it.exchange(3, "ListOffsets")  # which the broker answers as Metadata
        found = await scraped(it)
        assert found["barnabas_exchanges_total{api=Metadata}"] == 3
        assert found["barnabas_latency_seconds_count{api=Metadata}"] == 3
        assert found["barnabas_latency_seconds_bucket{api=Metadata,le=+Inf}"] == 3
        assert found["barnabas_latency_seconds_bucket{api=Metadata,le=68.719476736}"] == 3
        row = next(row for row in it.it.proxy.tally.rows() if row.api == "Metadata")
        assert row.max_ms is not None
        assert 0 < found["barnabas_latency_seconds_sum{api=Metadata}"] <= 3.1e-3 * row.max_ms
        seen = {k: v for k, v in found.items() if k.startswith("barnabas_observed")}
        kind = "barnabas_observed_exchanges_total{{api={},error={},version=1}}"
        expected = {kind.format("Metadata", "none"): 3, kind.format("ListOffsets", "unknown"): 1}
        assert seen == (expected if observed else {})


async def test_bytes_are_those_of_open_and_of_closed_connections() -> None:
    async with desk() as it:
        await it.exchange()
        async with it.client() as (reader, writer):
            writer.write(request("Metadata", 1))
            answer = await asyncio.wait_for(read_frame(reader), SOON)
            found = await scraped(it)
            size = len(request("Metadata", 1))
            ends = 1  # of the connection that is closed
            assert found["barnabas_received_bytes_total{direction=request}"] == 2 * size + ends
            got = found["barnabas_received_bytes_total{direction=response}"]
            assert got == pytest.approx(2 * (4 + len(answer)), abs=40)  # hosts are replaced
            assert found["barnabas_connections_total"] == 2
            assert found["barnabas_open_connections"] == 1


async def test_frames_that_rules_hold_back_are_a_gauge_and_what_they_did_a_counter() -> None:
    async with desk(SCENARIO) as it:
        async with it.client() as (_, one), it.client() as (_, two), it.client() as (_, three):
            one.write(request("Metadata", 1, client="slow") * 2)
            two.write(request("Metadata", 1, client="aside"))
            three.write(request("Metadata", 1, client="mixed"))
            rules = it.it.proxy.rules.rules
            await it.it.until(lambda: [rule.fired for rule in rules] == [2, 1, 1, 0])
            found = await scraped(it)
            size = 2 * len(request("Metadata", 1, client="slow"))
            size += len(request("Metadata", 1, client="aside"))
            size += len(request("Metadata", 1, client="mixed"))
            assert found["barnabas_queued_frames{direction=request}"] == 4
            assert found["barnabas_queued_bytes{direction=request}"] == size + 4 * 1024
            assert found["barnabas_waiting_requests"] == 0
            assert found["barnabas_faults_total{fault=delay}"] == 2
            assert found["barnabas_faults_total{fault=hold}"] == 1
            assert found["barnabas_faults_total{fault=close}"] == 0
            assert found["barnabas_rule_matched_total{rule=slow}"] == 2
            for number in (1, 2, 3):
                await it.ask("POST", f"/connections/{number}/close")
        await it.ask("PUT", "/scenario", b"version: 1\nrules: []")
        found = await scraped(it)
        assert found["barnabas_faults_total{fault=delay}"] == 2, "its rule is gone"
        assert found["barnabas_queued_frames{direction=request}"] == 0
        assert "barnabas_rule_fired_total{rule=slow}" not in found


async def test_a_rule_that_does_two_things_counts_for_both() -> None:
    async with desk(SCENARIO) as it:
        async with it.client() as (reader, writer):
            writer.write(request("Metadata", 1, client="cut"))
            assert await asyncio.wait_for(reader.read(), SOON) == b""
        found = await scraped(it)
        assert found["barnabas_faults_total{fault=delay}"] == 1
        assert found["barnabas_faults_total{fault=close}"] == 1


async def test_errors_undecodable_frames_waiting_requests_and_the_capture(tmp_path: Path) -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await read_frame(reader)
            writer.write(response("Heartbeat", 1, error_code=27))
            writer.write(raw(b"?"))  # no response is so short
            await reader.read()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    capture = tmp_path / "c.pcapng"
    async with desk("", broker, capture, observed=True) as it:
        relays = it.it.proxy.relays.values()
        async with it.client() as (reader, writer):
            writer.write(request("Heartbeat", 1, group_id="g"))
            for _ in range(2):
                await asyncio.wait_for(read_frame(reader), SOON)
            writer.write(request("Heartbeat", 2, group_id="g"))
            await it.it.until(lambda: any(x.connection.state.pairing.waiting for x in relays))
            found = await scraped(it)
            error = "REBALANCE_IN_PROGRESS"
            assert found[f"barnabas_errors_total{{api=Heartbeat,error={error}}}"] == 1
            kind = f"api=Heartbeat,error={error},version=1"
            assert found[f"barnabas_observed_exchanges_total{{{kind}}}"] == 1
            assert found["barnabas_undecodable_frames_total"] == 1
            assert found["barnabas_waiting_requests"] == 1
            assert found["barnabas_capture_bytes_total"] > 100
            assert found["barnabas_capture_lost_packets_total"] == 0
            assert found["barnabas_capture_stopped"] == 0


async def test_refused_connections_and_losses_of_followers_are_counted() -> None:
    proxy, history = Proxy(Options([("127.0.0.1", 1)])), History(most=0)
    proxy.totals.unreachable = 3
    with history.follow(lambda _: True):
        from tests.proxy.control.test_history import exchange

        history.add(exchange(1))
    found = parsed(exposition(report(proxy), history))
    assert found["barnabas_refused_connections_total"].value == 3
    assert found["barnabas_stream_lost_exchanges_total"].value == 1


@pytest.mark.parametrize("ns", [1, 65_535, 65_536, 65_537, 10**6, 2**36 - 1, 2**36, 10**12])
def test_each_latency_is_counted_below_its_bound(ns: int) -> None:
    tally = ApiStats()
    tally.note(3, ns)
    ((_, _, latencies),) = tally.latencies()
    counts = dict(histogram(dict(latencies)))
    assert list(counts)[-1] == "+Inf"
    assert len(counts) == len(OCTAVES) + 1
    for bound, count in counts.items():
        assert count == (ns < float(bound) * 1e9), bound


def test_keys_that_nobody_knows_are_not_told_apart() -> None:
    proxy, history = Proxy(Options([("127.0.0.1", 1)])), History()
    for key in (5000, 5001):
        proxy.tally.note(key, 1)
    found = parsed(exposition(report(proxy), history))
    assert found["barnabas_exchanges_total{api=unknown}"].value == 2


def test_labels_are_escaped() -> None:
    from barnabas.proxy.rules.rules import Rules
    from barnabas.proxy.scenario.file import loads

    rules = Rules(loads('version: 1\nrules: [{name: "a \\"b\\" \\\\ c", do: close}]'))
    text = exposition(report(Proxy(Options([("127.0.0.1", 1)]), rules)), History())
    found = parsed(text)
    assert [s.labels["rule"] for s in found.values() if "rule" in s.labels] == ['a "b" \\ c'] * 2
