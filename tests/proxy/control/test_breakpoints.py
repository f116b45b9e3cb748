"""What is asked of breakpoints over HTTP, each thing done to a proxy with real traffic."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.capture import open_capture
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Event, Note
from barnabas.captures.writing.masking import Masking
from barnabas.loop import run
from barnabas.proxy.rehearsal import Rehearsal
from barnabas.proxy.scenario.file import loads
from barnabas.proxy.scenario.yaml_lines import MAX_BYTES
from barnabas.specs import api
from tests.proxy.control.desk import Desk, desk
from tests.proxy.faults.given import produce
from tests.proxy.frames import request
from tests.proxy.servers import SOON, read_frame
from tests.proxy.test_rehearsal import RECORDS

LOOK = (
    "version: 1\nrules: [{{name: look, match: {{api: Metadata, direction: {}}}, do: breakpoint}}]\n"
)

Client = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def halted(
    direction: str = "request", count: int = 1, capture: Path | None = None, **options: Any
) -> AsyncIterator[tuple[Desk, Client]]:
    """Connect a client whose Metadata requests, or their responses, wait."""
    async with (
        desk(LOOK.format(direction), capture=capture, **options) as it,
        it.client() as (reader, writer),
    ):
        for number in range(count):
            writer.write(request("Metadata", number))
        await it.it.until(lambda: it.it.proxy.rules.rules[0].fired == count)
        yield it, (reader, writer)


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, Any]]:
    """Read the next response: its correlation id and body."""
    frame = await asyncio.wait_for(read_frame(reader), SOON)
    return int.from_bytes(frame[:4]), api("Metadata").response.codec(1).decode(frame[4:])


async def test_what_waits_is_listed_the_oldest_first_and_shown_with_its_body() -> None:
    async with halted(count=2) as (it, _):
        first, second = await it.get("/breakpoints")
        assert [first["id"], second["id"]] == ["1.1", "1.2"]
        assert 0 <= first["waited_ms"] < 1000 * SOON
        assert 0 < first["left_ms"] <= 300_000
        assert first["waited_ms"] + first["left_ms"] == pytest.approx(300_000)
        assert "body" not in first
        known = ("rule", "client_id", "direction", "api", "version", "correlation_id", "size")
        size = len(request("Metadata", 0))
        assert [first[name] for name in known] == [
            *("look", "me", "request", "Metadata", 1, 0, size)
        ]
        assert first["client_timeout"] is None
        result = await it.get("/breakpoints/1.2")
        assert result["body"] == {"topics": []}
        assert (result["hex"], result["masked"], result["problem"]) == ("00000000", False, "")
        await it.ask("POST", "/connections/1/close")


async def test_the_connection_is_reset() -> None:
    async with halted() as (it, (reader, _)):
        assert (await it.ask("POST", "/breakpoints/1.1", b"reset")).json["what"] == ["reset"]
        with pytest.raises((ConnectionResetError, asyncio.IncompleteReadError)):
            await answer(reader)
        assert await it.get("/breakpoints") == []


async def test_it_goes_with_its_client_and_with_its_rule() -> None:
    async with halted() as (it, (_, writer)):
        writer.close()
        await it.it.until(lambda: not it.it.proxy.relays)
        assert await it.get("/breakpoints") == []
    async with halted(count=3) as (it, (reader, _)):
        assert (await it.ask("POST", "/breakpoints/1.2")).status == 200, "not yet in turn"
        assert (await it.ask("DELETE", "/scenario/rules/look")).status == 200
        assert [(await answer(reader))[0] for _ in range(3)] == [0, 1, 2]
        assert await it.get("/breakpoints") == []


async def test_what_waits_nowhere_is_not_found() -> None:
    async with halted() as (it, (reader, _)):
        for path in ("", "1", "1.2", "2.1", "01.1", "1.1.1", "%C2%B2", "9" * 5000, "%00", "1.1/x"):
            for method in ("GET", "POST"):
                result = await it.ask(method, f"/breakpoints/{path}", b"drop" * (method == "POST"))
                assert result.status in (404, 307), result
        await it.ask("POST", "/breakpoints/1.1")
        assert (await answer(reader))[0] == 0
        result = await it.ask("POST", "/breakpoints/1.1", b"drop")
        output = "no message 1.1 is waiting (any more): GET /v1/breakpoints lists them"
        assert (result.status, result.error) == (404, output)


@pytest.mark.parametrize(("body", "status", "problem"), [
    (b"delay", 422, "'delay' is not a decision: give one of edit"),
    (b"{edit: {set: {topics: 7}}}", 422, "no message .* can hold it: topics: a list is expected"),
    (b"{edit: {set: {controller_id: 7}}}", 422, "edit: no field 'controller_id'"),
    (b'{"edit": {"set": {"topics": ["\\ud800"]}}}', 422, "not valid UTF-8"),
    (b'{"replace": {"body": {"topics": [NaN]}}}', 422, "nan is not a number"),
    (b"{replace: {hex: zz}}", 422, "two hexadecimal digits"),
    (b"{respond: {error: NO_SUCH_ERROR}}", 422, "NO_SUCH_ERROR"),
    (b"{respond: {set: {throttle_time_ms: 7}}}", 409, "throttle_time_ms"),
    (b"[[[]]]", 422, "is not a decision"),
    (b"[drop, reset]", 422, "reset does nothing after drop"),
    (b"[drop, {breakpoint: 1s}]", 422, "'breakpoint' is not a decision"),
    (b"!!python/object:os.system x", 422, "tag"),
    (b"{a: 1, a: 2}", 422, "twice"),
    (b"[" * 200_000, 422, "nested"),
    (b"\xff", 400, "not UTF-8"),
    (b" " * (MAX_BYTES + 1), 413, "longer than 1 MiB"),
    (b"{edit: {set: {topics: 2020-01-01}}}", 422, "topics"),
    (b"{edit: {set: {topics: " + b"9" * 90 + b"}}}", 422, "not a valid number"),
])  # fmt: skip
async def test_what_can_not_be_done_is_said_in_one_line_and_it_waits_on(
    body: bytes, status: int, problem: str
) -> None:
    async with halted() as (it, (reader, _)):
        result = await it.ask("POST", "/breakpoints/1.1", body)
        assert (result.status, "\n" in result.error) == (status, False), result
        assert [one["id"] for one in await it.get("/breakpoints")] == ["1.1"]
        await it.ask("POST", "/breakpoints/1.1")
        assert (await answer(reader))[0] == 0
        assert re.search(problem, result.error), result.error


async def test_what_is_hidden_is_not_shown() -> None:
    look = "version: 1\nrules: [{name: look, match: {direction: request}, do: breakpoint}]"
    frame = produce(1, 1, RECORDS)
    for masking, hidden in ((Masking(), False), (Masking.of_payload(), True)):
        async with desk(look, masking=masking) as it, it.client() as (_, writer):
            writer.write(frame)
            await it.it.until(lambda: it.it.proxy.rules.rules[0].fired)
            result = await it.get("/breakpoints/1.1")
            assert result["masked"] is hidden
            assert frame.endswith(bytes.fromhex(result["hex"])) is not hidden
            assert result["body"]["topic_data"][0]["name"] == "t"
            assert result["types"]["topic_data[].partition_data[].records"] == "records"
            (record,) = result["records"]["topic_data[0].partition_data[0].records"]
            assert (record["value"] == "v") is not hidden
            assert result["client_timeout"]["field"] == "timeout_ms"
            assert result["client_timeout"]["left_ms"] <= 10


async def test_a_body_that_is_long_or_no_body_is_said_to_be_so() -> None:
    look = "version: 1\nrules: [{name: look, match: {direction: request}, do: breakpoint}]"
    async with desk(look) as it, it.client() as (_, writer):
        writer.write(produce(1, 1, b"x" * (1 << 20)))
        writer.write(b"\0\0\0\x0e\0\3\0\1\0\0\0\1\xff\xff\0\0\0\x09")
        await it.it.until(lambda: it.it.proxy.rules.rules[0].fired == 2)
        long, wrong = [await it.get(f"/breakpoints/1.{number}") for number in (1, 2)]
        assert (long["body"], long["hex"]) == (None, None)
        assert long["problem"] == "it has 1,048,603 bytes, more than are shown"
        assert (wrong["body"], wrong["hex"]) == (None, "00000009")
        assert "topics" in wrong["problem"]
        output = await it.ask("POST", "/breakpoints/1.2", b"{edit: {set: {topics: []}}}")
        assert output.status == 409
        assert (await it.ask("POST", "/breakpoints/1.1", b"drop")).status == 200


def test_the_capture_tells_it_and_a_rehearsal_does_the_same_again(tmp_path: Path) -> None:
    capture = tmp_path / "c.pcapng"

    async def main() -> None:
        async with halted(count=4, capture=capture, observed=True) as (it, (reader, _)):
            bodies = {
                "1.2": b"{respond: {body: {controller_id: 3}}}",
                "1.3": b"{drop: {selective: true}}",
                "1.1": b"{edit: {set: {topics: [{name: a}]}}}",
                "1.4": b"",
            }
            for number, body in bodies.items():
                assert (await it.ask("POST", f"/breakpoints/{number}", body)).status == 200
            assert [(await answer(reader))[0] for _ in range(3)] == [0, 1, 3]
            seen.extend((x.correlation_id, x.note, x.rules) for x in it.it.done)

    seen: list[tuple[int, str, tuple[str, ...]]] = []
    run(main())
    result = open_capture(capture)
    reported = [(x.correlation_id, x.note, x.rules) for x in result.exchanges()]
    assert sorted(reported) == sorted(seen)
    assert sorted(reported) == [
        (0, "", ("look",)),
        (1, "answered by the proxy", ("look",)),
        (2, "request dropped by a rule", ("look",)),
        (3, "", ("look",)),
    ]
    rehearsed = Rehearsal(loads(LOOK.format("request")))
    events = list(rehearsed.run(_with_notes(CaptureReader(capture))))
    assert [one.decision for one in events] == [one.recorded for one in events]
    rule = rehearsed.rules.rule("look")
    assert (rule.fired, rule.released, rule.expired) == (4, 4, 0)


def _with_notes(reader: CaptureReader) -> list[Event | Note]:
    """All that is in a capture, in order."""
    results: list[Event | Note] = []
    for event in reader:
        results += reader.notes[sum(isinstance(one, Note) for one in results) :]
        results.append(event)
    return results
