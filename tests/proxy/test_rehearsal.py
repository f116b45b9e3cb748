"""Live runs with real sockets, rehearsed from their own captures."""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk, Event, Note, Opened
from barnabas.loop import run
from barnabas.proxy.faults import FAULTS, Fault
from barnabas.proxy.rehearsal import Rehearsal, Reload
from barnabas.proxy.scenario.file import loads
from barnabas.specs import api
from barnabas.specs.keys import PRODUCE
from barnabas.specs.records import Record, build
from tests.proxy.faults.examples import ABOUT_MESSAGES
from tests.proxy.faults.examples import live as live_settings
from tests.proxy.faults.given import produce
from tests.proxy.frames import heartbeat_request, request, response
from tests.proxy.servers import read_frame, running

SCENARIO = """
version: 1
seed: {seed}
rules:
- name: first
  match: {{api: {api}{direction}}}
  when: {when}
  do: {do}
- name: second
  match: {{api: Heartbeat, direction: request}}
  when: {{probability: 0.3}}
  do: {{delay: {{by: 1ms, jitter: 1ms}}}}
"""

PARTITIONS = [{"partition_index": 0, "leader_id": 1}]
ANSWERS: dict[str, dict[str, Any]] = {
    "Heartbeat": {},
    "Metadata": {"topics": [{"name": "t", "partitions": PARTITIONS}]},
    "ApiVersions": {"api_keys": [{"api_key": 12, "max_version": 4}]},
}
KNOWN = {(api(name).key, version): name for name in ANSWERS for version in (0, 1)}

RECORDS = build([Record(0, 1_700_000_000_000, b"k", b"v")])


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer every request but Produce, which has acks=0, and close at an unknown API, as brokers do."""
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            key, version, number = struct.unpack_from(">hhi", await read_frame(reader))
            if key == PRODUCE:
                continue
            if (key, version) not in KNOWN:
                break
            name = KNOWN[key, version]
            writer.write(response(name, number, version=version, **ANSWERS[name]))
    writer.close()


def turn(number: int) -> bytes:
    """Return the requests that a client sends at once."""
    return (
        heartbeat_request(number)
        + produce(100 + number, 0, RECORDS)
        + heartbeat_request(50 + number)
        + request("Metadata", 150 + number)
        + request("ApiVersions", 200 + number)
    )


async def live(scenario: str, capture: Path, faults: tuple[Fault, ...] = FAULTS) -> list[Exchange]:
    """Run three clients, one after the other, and return their exchanges.

    Each takes its next turn when the one before is settled, and stays until it is cut off or the broker has
    seen its end: no time decides how far it comes.
    """
    progress = asyncio.Event()
    options: dict[str, Any] = {"drain": 0.05, "observed": True, "shown": lambda _: progress.set()}
    async with running(answering, scenario, capture, faults=faults, **options) as it:
        for _ in range(3):
            reader, writer = await it.connect()
            reading = asyncio.ensure_future(reader.read())
            reading.add_done_callback(lambda _: progress.set())
            for number in range(12):
                progress.clear()
                writer.write(turn(number))
                await progress.wait()
                if reading.done() or writer.is_closing():
                    break
            else:
                writer.write_eof()
            await asyncio.gather(reading, return_exceptions=True)
            writer.close()
    return it.done


TABLE = [
    (*found.about, f"{{{fault}: {settings}}}")
    for fault, found in ABOUT_MESSAGES.items()
    for settings in live_settings(found)
]


def scenario(about: str, direction: str, do: str, probability: float, seed: int = 7) -> str:
    """Return a scenario; its first rule has this direction (both if ""), fault and probability."""
    way = direction and f", direction: {direction}"
    when = f"{{probability: {probability}, skip: 1}}"
    return SCENARIO.format(seed=seed, api=about, direction=way, when=when, do=do)


def rows(exchanges: Iterable[Exchange]) -> list[tuple[Any, ...]]:
    """Return the columns that the log and a capture have in common, of answered exchanges."""
    return sorted(
        (x.connection, x.correlation_id, x.api, x.rules, x.response_size, x.request_size)
        for x in exchanges
        if x.latency_ms is not None
    )


@pytest.mark.parametrize(
    ("about", "direction", "do"),
    [
        (about, way, do)
        for about, only, do in TABLE
        for way in ("request", "response")
        if way == (only or way)
    ],
)
def test_the_capture_of_a_live_run_gives_its_exchanges_and_decisions(
    about: str, direction: str, do: str, tmp_path: Path
) -> None:
    text = scenario(about, direction, do, 0.4)
    capture = tmp_path / "live.pcapng"
    seen = run(live(text, capture))
    assert rows(Conversations().exchanges(CaptureReader(capture))) == rows(seen)
    reader = CaptureReader(capture)
    assert reader.meta["scenario"] == text
    rehearsed = list(Rehearsal(loads(text), reader.meta["began"]).run(reader))
    done = [
        words
        for found in rehearsed
        if found.decision[0] == ("first",)
        for words in found.decision[1]
    ]
    assert any("could not be done" not in words for words in done), done
    for found in rehearsed:
        assert found.decision == found.recorded, found.frame
    again = list(Rehearsal(loads(text), reader.meta["began"]).run(CaptureReader(capture)))
    assert [found.row() for found in again] == [found.row() for found in rehearsed]


def test_a_response_to_a_request_that_a_capture_lacks_ends_no_rehearsal() -> None:
    beats = b"".join(request("Heartbeat", number) for number in (2, 3))
    events: list[Event] = [
        Opened(1, 0, "127.0.0.1:5", "127.0.0.1:9092", {}),
        Chunk(1, "arrived", "response", 1, response("Heartbeat", 1), ()),
        Chunk(1, "arrived", "request", 2, beats, ()),
    ]
    rehearsed = Rehearsal(loads(scenario("Heartbeat", "request", "close", 1))).run(events)
    assert [found.decision[0] for found in rehearsed][-1:] == [("first",)]


def test_a_process_of_its_own_says_for_which_connections_a_scenario_holds() -> None:
    rules = "version: 1\nrules: [{name: first, match: {api: Heartbeat}, do: {delay: 1ms}}]\n"

    def opened(number: int, began: int, ts: int) -> Opened:
        return Opened(number, ts, f"127.0.0.1:{number}", "127.0.0.1:9092", {"scenario": began})

    def asked(number: int, ts: int) -> Chunk:
        return Chunk(number, "arrived", "request", ts, request("Heartbeat", ts), ())

    def adopted(number: int, ts: int) -> Note:
        return Note(ts, {"barnabas": "adopted", "scenario": 3, "connections": [number]})

    events: list[Event | Reload | Note] = [
        opened(1, 1, 1), opened(2, 1, 2), Reload(3, loads(rules)), asked(1, 4), adopted(1, 5), asked(1, 6),
        asked(2, 7), opened(3, 3, 8), asked(3, 9), adopted(2, 10), asked(2, 11),
    ]  # fmt: skip
    found = {
        each.frame.correlation_id: each.decision[0] == ("first",)
        for each in Rehearsal(loads("version: 1\nrules: []\n"), 1).run(events)
    }
    assert found == {4: False, 6: True, 7: False, 9: True, 11: True}


@pytest.mark.parametrize("said", [[1], {}, "1", None, 1.5])
def test_what_no_proxy_says_of_a_scenario_ends_no_rehearsal(said: Any) -> None:
    events: list[Event | Note] = [
        Opened(1, 0, "127.0.0.1:5", "127.0.0.1:9092", {"scenario": said}),
        Note(1, {"barnabas": "adopted", "scenario": 1, "connections": [said, 7]}),
        Note(1, {"barnabas": "adopted", "scenario": said, "connections": [1]}),
        Chunk(1, "arrived", "request", 2, request("Heartbeat", 2), ()),
    ]
    rules = loads("version: 1\nrules: [{name: first, match: {api: Heartbeat}, do: {delay: 1ms}}]\n")
    assert [found.decision[0] for found in Rehearsal(rules).run(events)] == [("first",)]
