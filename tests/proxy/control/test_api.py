"""What can be asked of the control port, each thing done to a proxy with real traffic."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import quote

import pytest

from barnabas.loop import run
from barnabas.proxy.scenario.yaml_lines import MAX_BYTES
from tests.proxy.control.desk import Desk, desk
from tests.proxy.frames import request
from tests.proxy.servers import SOON, read_frame

SLOW = "{name: slow, match: {api: Metadata, direction: request}, do: {delay: 1h}}"


def scenario(*rules: str) -> str:
    return f"version: 1\nseed: 5\nrules: [{', '.join(rules)}]\n"


async def test_status_says_what_the_proxy_is_and_counts(tmp_path: Path) -> None:
    capture = tmp_path / "c.pcapng"
    async with desk(scenario(SLOW), capture=capture) as it:
        async with it.client() as (_, writer):
            writer.write(request("ApiVersions", 1))
            found = await it.get("/status")
            assert found["connections"] == {"open": 1, "accepted": 1, "refused": 0}
        host, port = it.it.proxy.address
        assert found["listen"] == f"{host}:{port}"
        assert found["bootstrap"] == [f"127.0.0.1:{it.it.proxy.options.bootstrap[0][1]}"]
        assert (found["draining"], found["rules"]) == (False, 1)
        assert (found["capture"]["path"], found["capture"]["lost_packets"]) == (str(capture), 0)
        none = {"seen": 0, "followers": 0, "lost_to_followers": 0}
        assert found["exchanges"] == {"observed": False, **none}


# connections


async def test_connections_are_listed_while_they_are_open() -> None:
    async with desk(scenario(SLOW)) as it:
        async with it.client() as (reader, writer):
            writer.write(request("Metadata", 1) + request("Metadata", 2))
            await it.it.until(lambda: it.it.proxy.rules.rules[0].fired == 2)
            (found,) = await it.get("/connections")
            assert (found["connection"], found["client_id"], found["broker"]) == (1, "me", None)
            size = len(request("Metadata", 1))
            assert found["request"] == {
                "received_bytes": 2 * size, "frames": 2, "queued": 2, "held": 0,
                "queued_bytes": 2 * (size + 1024), "lost": False,
            }  # fmt: skip
            assert found["response"]["frames"] == 0
            assert found["waiting_requests"] == 0
            closed = await it.ask("POST", "/connections/1/close")
            assert closed.json["request"]["queued"] == 2, "as it was before its end"
            assert await asyncio.wait_for(reader.read(), SOON) == b""
            await it.it.until(lambda: not it.it.proxy.relays)
            assert (await it.ask("POST", "/connections/1/close")).status == 404
        assert await it.get("/connections") == []


async def test_a_paused_connection_goes_on_frame_by_frame_and_then_freely() -> None:
    async with desk() as it, it.client() as (reader, writer):
        assert (await it.ask("POST", "/connections/1/pause")).json["paused"] is True
        writer.write(request("Metadata", 1) + request("Metadata", 2) + request("Metadata", 3))
        for number in (1, 2):
            await it.ask("POST", "/connections/1/step?direction=request")
            await it.it.until(lambda: it.it.proxy.relays)
            await frames(it, "request", number)
        assert (await it.connection())["waiting_requests"] == 2
        await it.ask("POST", "/connections/1/step?direction=response")
        assert (await asyncio.wait_for(read_frame(reader), SOON))[:4] == b"\0\0\0\1"
        await frames(it, "response", 1)
        assert (await it.connection())["waiting_requests"] == 1
        assert (await it.ask("POST", "/connections/1/resume")).json["paused"] is False
        for number in (2, 3):
            assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == number


async def frames(it: Desk, direction: str, count: int) -> None:
    """Wait for so many frames, and see that there are no more."""
    async with asyncio.timeout(SOON):
        while (await it.connection())[direction]["frames"] < count:
            await asyncio.sleep(0.005)
    for _ in range(5):
        assert (await it.connection())[direction]["frames"] == count


# exchanges


async def test_the_last_exchanges_that_pass_oldest_first() -> None:
    async with desk(observed=True) as it:
        for number, client in enumerate("abcab"):
            await it.exchange(number, client=client)

        async def ids(query: str) -> list[int]:
            return [x["correlation_id"] for x in await it.get(f"/exchanges{query}")]

        assert await ids("") == [0, 1, 2, 3, 4]
        assert await ids("?last=2") == [3, 4]
        assert await ids("?last=0") == []
        assert await ids("?last=1&filter=" + quote("client_id == 'a'")) == [3]
        assert await ids("?filter=" + quote("response.brokers[0].node_id == 0")) == list(range(5))
        row = (await it.get("/exchanges?last=1"))[0]
        assert row["api"] == "Metadata"
        assert len(row["response"]["brokers"]) == 3
        assert row["details"] == "no topics → 3 brokers, 0 topics"
        assert (row["note"], row["ts"] < row["ended"]) == ("", True)


async def test_the_oldest_exchanges_are_left_out_of_an_answer_that_grows_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("barnabas.proxy.control.api.LISTED", 1000)
    async with desk(observed=True) as it:
        for number in range(5):
            await it.exchange(number)
        numbers = [x["correlation_id"] for x in await it.get("/exchanges")]
        assert 0 < len(numbers) < 5
        assert numbers == list(range(5))[-len(numbers) :]


async def test_how_far_the_log_is_and_what_a_selection_of_it_means() -> None:
    async with desk(observed=True) as it:
        assert await it.get("/log") == {"over": 0, "lost": 7}
        await it.exchange()
        condition = quote("latency_ms > 5")
        found = await it.get(f"/log?api=fetch&error=&filter={condition}")
        selected = {"api": "Fetch", "error": "", "filter": "latency_ms > `5`"}
        assert found == {"over": 1, "lost": 7, **selected}
        assert (await it.get("/log?api=3&error="))["api"] == "Metadata"


# the proxy


async def test_a_paused_connection_does_not_hold_up_the_end() -> None:
    async with desk(drain=SOON) as it, it.client() as (reader, writer):
        await it.ask("POST", "/connections/1/pause")
        await it.ask("POST", "/connections/1/step")
        writer.write(request("Metadata", 1))
        await frames(it, "request", 1)
        await it.it.proxy.stop()
        assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == 1
        assert it.it.proxy.draining
        assert (await it.get("/status"))["draining"] is True
        assert (await it.get("/connections")) == []


DIGITS = "9" * 5_000
ODD = [
    DIGITS, "0x" + "f" * 4_000, "-1", "%00", "%ff", "%C2%B2", "%D9%A3", "..%2F", "%0d%0aX", "a" * 30_000,
    quote(f"`{DIGITS}`"), quote(f"x[{DIGITS}]"), "(" * 5_000, quote("a||" * 5_000 + "a"), "%22%5Cud800%22",
]  # fmt: skip
BODIES = [
    b"", b"\xff", b"\0", b"5", b"[]", b"[" * 300_000, b"!!bool x", b"!!int ''", b"? " * 3_000,
    b"seed: 0x" + b"f" * 500_000, b"version: 1\nrules: []\nseed: " + b"9" * 500_000,
    b'version: 1\nrules: [{name: "\\ud800", do: close}]', b'{name: "\\ud800", do: close}',
    b"{name: a, do: {corrupt: {at: 0x" + b"f" * 5_000 + b"}}}", b"x" * (MAX_BYTES + 1),
]  # fmt: skip


@pytest.mark.parametrize("path", [
    "/connections/{}/pause", "/exchanges?last={}", "/log?api={}", "/log?error={}",
    "/log?filter={}", "/scenario/rules/{}/fire",
])  # fmt: skip
async def test_whatever_is_asked_is_answered_and_no_error_of_ours(path: str) -> None:
    async with desk(scenario(SLOW)) as it:
        for odd in ODD:
            for method in ("GET", "POST", "DELETE"):
                answer = await it.ask(method, path.format(odd))
                assert answer.status < 500, (method, odd[:40])


@pytest.mark.parametrize(("method", "path"), [("PUT", "/scenario"), ("POST", "/scenario/rules")])
async def test_whatever_is_sent_is_answered_and_no_error_of_ours(method: str, path: str) -> None:
    async with desk(scenario(SLOW)) as it:
        for body in BODIES:
            answer = await it.ask(method, path, body)
            assert 400 <= answer.status < 500 or b"ud800" in body, body[:40]
            assert (await it.ask("GET", "/scenario")).status == 200


def test_a_body_that_is_cut_off_is_nothing_to_speak_of(caplog: pytest.LogCaptureFixture) -> None:
    """The client cuts it off, or the proxy that stops."""

    async def main() -> None:
        async with desk() as it:
            head = f"PUT /v1/scenario HTTP/1.1\r\nHost: {it.where}\r\nAuthorization: Bearer {it.token}\r\n"
            for cut in (True, False):
                reader, writer = await asyncio.open_connection(*it.serving.address)
                writer.write(f"{head}Expect: 100-continue\r\nContent-Length: 100\r\n\r\n".encode())
                await asyncio.wait_for(reader.readuntil(b"100 Continue"), SOON)  # it is being read
                writer.write(b"version: 1")
                if cut:
                    writer.close()
                else:
                    await it.serving.stop()
                    writer.close()

    run(main())
    assert [record.getMessage() for record in caplog.records] == []


async def test_drain_stops_the_proxy_as_a_signal_does() -> None:
    async with desk() as it:
        answer = await it.ask("POST", "/drain")
        assert (answer.status, answer.json) == (202, {"draining": True})
        assert it.drained == [True]
