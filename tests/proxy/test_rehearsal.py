"""Live runs with real sockets, rehearsed from their own captures."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from pathlib import Path
from typing import Any

import pytest

from barnabas.loop import run
from captures.conversations import Conversations
from captures.reader import CaptureReader
from captures.writer import CaptureWriter
from proxy.options import Options
from proxy.rehearsal import NONE, Rehearsal
from proxy.relay import clock
from proxy.rules import Rules
from proxy.scenario import loads
from proxy.server import Proxy
from tests.proxy.faults.given import ask, produce
from tests.proxy.playbook import response
from tests.proxy.servers import read_frame

HEARTBEAT = 12

SCENARIO = """
version: 1
seed: {seed}
rules:
- name: first
  match: {{api: Heartbeat{direction}}}
  when: {when}
  do: {do}
- name: second
  match: {{api: Heartbeat, direction: request}}
  when: {{probability: 0.3}}
  do: {{delay: {{by: 1ms, jitter: 1ms}}}}
"""


async def heartbeats(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A broker that answers every Heartbeat, and every Produce but those with acks=0."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            frame = await read_frame(reader)
            key, version, correlation_id = struct.unpack_from(">hhi", frame)
            if key == HEARTBEAT:
                writer.write(response("Heartbeat", correlation_id, version=version))
    writer.close()


async def live(scenario: str, capture: Path) -> list[Any]:
    """Three clients, one after the other, ask until they are done or cut off."""
    server = await asyncio.start_server(heartbeats, "127.0.0.1", 0)
    rules = Rules(loads(scenario))
    rules.began = clock()
    done: list[Any] = []
    proxy = Proxy(
        Options([server.sockets[0].getsockname()[:2]], drain=0.05, observed=True),
        rules,
        capture=CaptureWriter(capture, limit=None, meta=rules.meta()),
        done=done.append,
    )
    await proxy.start()
    for _ in range(3):
        reader, writer = await asyncio.open_connection(*proxy.address)
        with contextlib.suppress(TimeoutError, OSError, asyncio.IncompleteReadError):
            async with asyncio.timeout(0.1):
                for number in range(12):
                    writer.write(ask(number) + produce(100 + number, acks=0) + ask(50 + number))
                    await writer.drain()
                    for _ in range(2):
                        await read_frame(reader)
        writer.close()
    await proxy.stop()
    server.close()
    return done


DO = [
    "{delay: 1ms}",
    "{throttle: {messages: 2000}}",
    "{hold: {until: {api: Produce, direction: request}, at_most: 5ms}}",
    "{hold: {messages: 2, same: any, at_most: 5ms}}",
    "{hold: {time: 3ms}}",
    "{hold: {control: true, at_most: 5ms}}",
    "{reorder: {swap: 1, at_most: 5ms}}",
    "{reorder: {swap: 1, same: client, at_most: 5ms}}",
    "{reorder: {shuffle: 3, same: any, at_most: 5ms}}",
    "{reorder: {shuffle: 2, at_most: 5ms}}",
    "{reorder: {reverse: 2, at_most: 5ms, restore: false}}",
    "drop",
    "{drop: {selective: true}}",
    "lose_reply",
    "duplicate",
    "truncate",
    "corrupt",
    "{respond: {error: 27}}",
    "{inject: {api: Heartbeat, version: 0}}",
    "close",
    "reset",
    "half_close",
    "{stall: {time: 5ms, side: both}}",
    "{blackhole: {at_most: 20ms}}",
    "{quota: 5ms}",
    "{slice: {size: 8B, every: 1ms}}",
    "{coalesce: {count: 2, at_most: 5ms}}",
    "{isolate: {lasts: 5ms}}",
]


BOTH = [(do, way) for do in DO for way in ("request", "response")]
EDITS = [
    ("{edit: {set: {throttle_time_ms: 5}}}", "response"),
    ("{edit: {set: {member_id: x}}}", "request"),
]


@pytest.mark.parametrize(("do", "direction"), [*BOTH, *EDITS])
def test_the_capture_of_a_live_run_gives_its_decisions(
    do: str, direction: str, tmp_path: Path
) -> None:
    when = "{probability: 0.4, skip: 1}"
    text = SCENARIO.format(seed=7, direction=f", direction: {direction}", when=when, do=do)
    capture = tmp_path / "live.pcapng"
    run(live(text, capture))
    reader = CaptureReader(capture)
    assert reader.meta["scenario"] == text
    rehearsed = list(Rehearsal(loads(text), reader.meta["began"]).run(reader))
    assert any("first" in found.decision[0] for found in rehearsed)
    for found in rehearsed:
        assert found.decision == found.recorded, found.frame
    again = list(Rehearsal(loads(text), reader.meta["began"]).run(CaptureReader(capture)))
    assert [found.row() for found in again] == [found.row() for found in rehearsed]


def test_another_seed_decides_otherwise_on_the_same_capture(tmp_path: Path) -> None:
    text = SCENARIO.format(seed=7, direction="", when="{probability: 0.5}", do="{delay: 1ms}")
    capture = tmp_path / "live.pcapng"
    run(live(text, capture))
    other = Rehearsal(loads(text.replace("seed: 7", "seed: 8")))
    assert any(found.decision != found.recorded for found in other.run(CaptureReader(capture)))
    none = Rehearsal(None)
    assert all(found.decision == NONE for found in none.run(CaptureReader(capture)))


@pytest.mark.parametrize("do", DO)
def test_the_capture_reads_back_as_the_exchanges_that_were_seen(do: str, tmp_path: Path) -> None:
    text = SCENARIO.format(seed=7, direction="", when="{probability: 0.2, skip: 1}", do=do)
    capture = tmp_path / "live.pcapng"
    seen = run(live(text, capture))
    read = list(Conversations().exchanges(CaptureReader(capture)))

    def rows(exchanges: list[Any]) -> list[tuple[Any, ...]]:
        return sorted(
            (x.connection, x.correlation_id, x.api, x.rules, x.response_size, x.request_size)
            for x in exchanges
            if x.latency_ms is not None
        )

    assert rows(read) == rows(seen)
