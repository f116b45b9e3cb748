"""Metrics read back by Prometheus' own parser, and held against the traffic that they are of."""

from __future__ import annotations

import asyncio
import contextlib
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
from tests.proxy.control.test_history import exchange
from tests.proxy.frames import raw, request, response
from tests.proxy.servers import SOON, read_frame

SCENARIO = (
    "version: 1\nrules:\n"
    "  - {name: slow, match: {api: Metadata, direction: request, client_id: slow}, do: {delay: 1h}}\n"
    "  - {name: aside, match: {api: Metadata, direction: request, client_id: aside},\n"
    "     do: {hold: {until: {api: Fetch}, at_most: 1h}}}\n"
    "  - {name: mixed, match: {direction: request, client_id: mixed},\n"
    "     do: {reorder: {shuffle: 3, at_most: 1h}}}\n"
    "  - {name: both, match: {api: Heartbeat}, do: [{delay: 1ms}, {close: {forward: true}}]}\n"
)


def parsed(text: bytes) -> dict[str, Sample]:
    """Return samples by name and labels as in the text, where each occurs once."""
    results: dict[str, Sample] = {}
    for family in text_string_to_metric_families(text.decode()):
        assert family.documentation
        assert family.name.startswith("barnabas_")
        for sample in family.samples:
            labels = ",".join(f"{name}={value}" for name, value in sorted(sample.labels.items()))
            name = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert name not in results
            results[name] = sample
    return results


async def scraped(it: Desk) -> dict[str, float]:
    answer = await it.ask("GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")

    return {name: sample.value for name, sample in parsed(answer.body).items()}


async def shows(it: Desk, expected: dict[str, float | None]) -> None:
    """Assert the values of samples; None: there is no such sample."""
    result = await scraped(it)
    assert {name: result.get(f"barnabas_{name}") for name in expected} == expected


@pytest.mark.parametrize("observed", [False, True])
async def test_exchanges_and_their_times_are_those_that_passed(observed: bool) -> None:
    async with desk(observed=observed) as it:
        for number in range(3):
            await it.exchange(number, version=1)
        await it.exchange(3, "ListOffsets")  # which the broker answers as Metadata
        latency = "latency_seconds_{}{{api=Metadata{}}}"
        await shows(it, {
            "exchanges_total{api=Metadata}": 3, latency.format("count", ""): 3,
            latency.format("bucket", ",le=+Inf"): 3, latency.format("bucket", ",le=68.719476736"): 3,
        })  # fmt: skip
        row = next(row for row in it.it.proxy.tally.rows() if row.api == "Metadata")
        assert row.max_ms is not None
        result = await scraped(it)
        assert 0 < result[f"barnabas_{latency.format('sum', '')}"] <= 3.1e-3 * row.max_ms
        seen = {k: v for k, v in result.items() if k.startswith("barnabas_observed")}
        kind = "barnabas_observed_exchanges_total{{api={},error={},version=1}}"
        expected = {kind.format("Metadata", "none"): 3, kind.format("ListOffsets", "unknown"): 1}
        assert seen == (expected if observed else {})


async def test_bytes_are_those_of_open_and_of_closed_connections() -> None:
    async with desk() as it:
        await it.exchange()
        async with it.client() as (reader, writer):
            writer.write(request("Metadata", 1))
            answer = await asyncio.wait_for(read_frame(reader), SOON)
            requested = (
                2 * len(request("Metadata", 1)) + 1
            )  # the end of the connection that is closed
            await shows(it, {
                "connections_total": 2, "open_connections": 1,
                "received_bytes_total{direction=request}": requested,
            })  # fmt: skip
            got = (await scraped(it))["barnabas_received_bytes_total{direction=response}"]
            assert got == pytest.approx(2 * (4 + len(answer)), abs=40)  # hosts are replaced


async def test_frames_that_rules_hold_back_are_a_gauge_and_what_they_did_a_counter() -> None:
    async with desk(SCENARIO) as it:
        async with it.client() as (_, one), it.client() as (_, two), it.client() as (_, three):
            frames = [request("Metadata", 1, client=name) for name in ("slow", "aside", "mixed")]
            frames[0] *= 2
            for writer, data in zip((one, two, three), frames, strict=True):
                writer.write(data)
            rules = it.it.proxy.rules.rules
            await it.it.until(lambda: [rule.fired for rule in rules] == [2, 1, 1, 0])
            await shows(it, {
                "queued_frames{direction=request}": 4, "waiting_requests": 0,
                "queued_bytes{direction=request}": sum(map(len, frames)) + 4 * 1024,
                "faults_total{fault=delay}": 2, "faults_total{fault=hold}": 1, "faults_total{fault=close}": 0,
                "rule_matched_total{rule=slow}": 2,
            })  # fmt: skip
            for number in (1, 2, 3):
                await it.ask("POST", f"/connections/{number}/close")
        await it.ask("PUT", "/scenario", b"version: 1\nrules: []")
        await shows(it, {  # its rule is gone
            "faults_total{fault=delay}": 2, "queued_frames{direction=request}": 0,
            "rule_fired_total{rule=slow}": None,
        })  # fmt: skip


async def test_errors_undecodable_frames_waiting_requests_and_the_capture(tmp_path: Path) -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await read_frame(reader)
            writer.write(response("Heartbeat", 1, error_code=27))
            writer.write(raw(b"?"))  # no response is so short
            await reader.read()
        writer.close()

    async with desk("", broker, tmp_path / "c.pcapng", observed=True) as it:
        relays = it.it.proxy.relays.values()
        async with it.client() as (reader, writer):
            writer.write(request("Heartbeat", 1, group_id="g"))
            for _ in range(2):
                await asyncio.wait_for(read_frame(reader), SOON)
            writer.write(request("Heartbeat", 2, group_id="g"))
            await it.it.until(lambda: any(x.connection.state.pairing.waiting for x in relays))
            kind = "api=Heartbeat,error=REBALANCE_IN_PROGRESS"
            await shows(it, {
                f"errors_total{{{kind}}}": 1, f"observed_exchanges_total{{{kind},version=1}}": 1,
                "undecodable_frames_total": 1, "waiting_requests": 1,
                "capture_lost_packets_total": 0, "capture_stopped": 0,
            })  # fmt: skip
            assert (await scraped(it))["barnabas_capture_bytes_total"] > 100


async def test_refused_connections_and_losses_of_followers_are_counted() -> None:
    proxy, history = Proxy(Options([("127.0.0.1", 1)])), History(most=0)
    proxy.totals.unreachable = 3
    with history.follow(lambda _: True):
        history.add(exchange(1))
    result = parsed(exposition(report(proxy), history))
    assert result["barnabas_refused_connections_total"].value == 3
    assert result["barnabas_stream_lost_exchanges_total"].value == 1


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
