"""The proxy with real sockets, between clients and brokers that behave badly."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.loop import run
from barnabas.proxy.connection.actions import Done, Finish, Left, Send
from barnabas.proxy.connection.state import Limits
from barnabas.proxy.network.endpoint import Endpoint
from barnabas.proxy.network.relay import Relay
from tests.places import ROOT
from tests.proxy.frames import raw, request, response
from tests.proxy.servers import SOON, echo_metadata, read_frame, reset_on_close, running


@pytest.mark.parametrize("observed", [True, False])
async def test_garbage_on_the_port_leaves_other_clients_alone(observed: bool) -> None:
    async with running(echo_metadata, observed=observed) as it:
        good_reader, good_writer = await it.connect()
        for garbage in (b"\x16\x03\x01\x02\x00", b"GET / HTTP/1.1\r\n", b"\xff" * 64):
            reader, writer = await it.connect()
            writer.write(garbage)
            assert await asyncio.wait_for(reader.read(), SOON) == b""
            writer.close()
        good_writer.write(request("Metadata", 9))
        assert (await asyncio.wait_for(read_frame(good_reader), SOON))[:4] == b"\0\0\0\x09"
        good_writer.close()
        assert sum("connection closed" in line for line in it.said) == 3


@pytest.mark.parametrize("how", ["close", "half-close", "reset"])
def test_however_clients_go_nothing_stays_behind(how: str) -> None:
    """In a process of its own: its descriptors are counted, and threads of other tests open theirs."""
    code = f"from tests.proxy.network.test_relay import clients_go; clients_go({how!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=6 * SOON, check=True)


def clients_go(how: str) -> None:
    """Clients come and go in this way, and with them their sockets, relays and tasks."""

    async def main() -> None:
        async with running(echo_metadata, observed=False) as it:
            await it.metadata()
            await it.until(lambda: not it.proxy.relays)
            before = len(os.listdir("/proc/self/fd")), len(asyncio.all_tasks())
            for _ in range(6):
                clients = [await it.connect() for _ in range(50)]
                for number, (_, writer) in enumerate(clients):
                    if number % 2:
                        writer.write(request("Metadata", 1)[: number % 20])
                await asyncio.sleep(0)
                for _, writer in clients:
                    if how == "half-close":
                        writer.write_eof()
                    elif how == "reset":
                        reset_on_close(writer)
                        writer.transport.abort()
                    else:
                        writer.close()
                for reader, writer in clients:
                    if how == "half-close":
                        assert await asyncio.wait_for(reader.read(), SOON) == b""
                        writer.close()
            await it.until(lambda: not it.proxy.relays)
            await it.until(lambda: len(asyncio.all_tasks()) <= before[1])
            await it.until(lambda: len(os.listdir("/proc/self/fd")) <= before[0])

    run(main())


async def test_a_client_that_goes_leaves_nothing_at_a_broker_that_never_closes() -> None:
    stay = asyncio.Event()

    async def broker(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await stay.wait()
        writer.close()

    async with running(broker) as it:
        for _ in range(3):
            _, writer = await it.connect()
            await it.until(lambda: it.proxy.relays)
            writer.close()
            await it.until(lambda: not it.proxy.relays)
        stay.set()


async def test_both_sockets_are_kept_alive_as_kafka_does() -> None:
    async with running(echo_metadata) as it:
        _, writer = await it.connect()
        await it.until(lambda: it.proxy.relays)
        (relay,) = it.proxy.relays.values()
        await it.until(lambda: relay.client.open)
        for side in (relay.client, relay.broker):
            sock = side.transport.get_extra_info("socket")
            assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        writer.close()


@pytest.mark.parametrize("runner", [run, asyncio.run])
def test_the_end_of_a_direction_is_met_once(
    runner: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[str] = []
    original = Endpoint.eof_received

    def counted(side: Endpoint) -> bool:
        ends.append(side.direction)
        return original(side)

    monkeypatch.setattr(Endpoint, "eof_received", counted)
    answer = asyncio.Event()

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        await answer.wait()
        writer.write(raw(struct.pack(">i", 1)))
        writer.close()

    async def main() -> None:
        async with running(broker) as it:
            reader, writer = await it.connect()
            writer.write(raw(struct.pack(">hhih", 999, 0, 1, -1)))
            writer.write_eof()
            await it.until(lambda: ends)
            for _ in range(200):  # the loop goes round while the broker thinks
                await asyncio.sleep(0)
            await asyncio.sleep(0.05)
            answer.set()
            assert await asyncio.wait_for(reader.read(), SOON) == raw(struct.pack(">i", 1))
            writer.close()
            await it.until(lambda: not it.proxy.relays)

    runner(main())
    assert sorted(ends) == ["request", "response"]


@pytest.mark.parametrize("runner", [run, asyncio.run])
@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_broker_that_closes_at_once(how: str, runner: Callable[[Any], None]) -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if how == "reset":
            reset_on_close(writer)
            writer.transport.abort()
        writer.close()

    async with running(broker) as it:
        for _ in range(20):
            reader, writer = await it.connect()
            with contextlib.suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), SOON) == b""
            writer.close()
        await it.until(lambda: not it.proxy.relays)


async def test_a_broker_that_closes_in_the_middle_of_a_response() -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_frame(reader)
        writer.write(response("Heartbeat", 1, error_code=0)[:6])
        writer.close()

    async with running(broker) as it:
        reader, writer = await it.connect()
        beat: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "m"}
        writer.write(request("Heartbeat", 1, **beat))
        assert await asyncio.wait_for(reader.read(), SOON) == response("Heartbeat", 1)[:6]
        writer.close()
        await it.until(lambda: it.done)
        assert it.done[0].note == "no response: connection closed"


@pytest.mark.parametrize("runner", [run, asyncio.run])
@pytest.mark.parametrize("observed", [True, False])
async def test_a_client_that_does_not_read_stops_the_broker_and_loses_nothing(
    observed: bool, runner: Callable[[Any], None]
) -> None:
    size, count = 1 << 20, 48
    body = os.urandom(size)
    written = 0

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        for number in range(count):
            await read_frame(reader)
            writer.write(raw(struct.pack(">i", number) + body))
            await writer.drain()
            written += 1
        await reader.read()
        writer.close()

    limits = Limits(queued=1 << 20, copy=1 << 10)
    async with running(broker, observed=observed, limits=limits) as it:
        reader, writer = await it.connect()
        unknown = [raw(struct.pack(">hhih", 999, 0, n, -1)) for n in range(count)]
        writer.write(b"".join(unknown))
        stuck = -1
        while stuck != written:  # until nothing moves any more
            stuck = written
            await asyncio.sleep(0.3)
        assert written < count // 2  # the kernel's buffers and ours are full
        _, other = await it.connect()  # others go on, through the same read buffer
        other.write(raw(struct.pack(">hhih", 999, 0, 1, -1) + bytes(1 << 20)))
        await other.drain()
        await asyncio.sleep(0.1)
        other.close()
        for number in range(count):
            frame = await asyncio.wait_for(read_frame(reader), SOON)
            assert frame == struct.pack(">i", number) + body
        writer.close()


def test_what_ends_a_direction_comes_last() -> None:
    """Or it would close the connection before what was decided with it is sent and in the capture."""
    order: list[str] = []

    class Told(Relay):
        def __init__(self) -> None:
            transport = SimpleNamespace(write=lambda data: order.append(f"sent {data!r}"))
            self.client = self.broker = cast(Any, SimpleNamespace(open=True, transport=transport))
            self.flow = cast(Any, SimpleNamespace(left=lambda *what: order.append("captured")))
            self._done = lambda exchange: order.append("done")
            self._ready = lambda: None

        def _half_close(self, side: Endpoint) -> None:
            order.append("finished")

    exchange = Exchange(0, 1, "c", None, None, 3, 1, 7, 20)
    left = Left("response", b"x", {"frame": 0}, 3, 1)
    Told().perform([Finish("request"), Send("response", b"x"), left, Done(exchange)], 5)
    assert order == ["sent b'x'", "captured", "done", "finished"]
    assert exchange.ended == 5
