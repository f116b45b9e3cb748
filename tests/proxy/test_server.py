"""The proxy with real sockets, between clients and brokers that behave badly."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from barnabas.loop import run
from captures.exchange import Exchange
from captures.reader import CaptureReader
from captures.writer import CaptureWriter
from proxy.relay import Side
from proxy.rules import Rules
from proxy.scenario import loads
from proxy.server import Options, Proxy
from proxy.state import Limits
from tests.proxy.playbook import raw, request, response

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

SOON = 10.0


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(size)


async def echo_metadata(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A broker that answers every request as Metadata v1, and knows three brokers."""
    brokers = [{"node_id": n, "host": "127.0.0.1", "port": 1} for n in range(3)]
    try:
        while True:
            frame = await read_frame(reader)
            (correlation_id,) = struct.unpack_from(">i", frame, 4)
            writer.write(response("Metadata", correlation_id, brokers=brokers))
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


class Running:
    """A proxy in front of one broker of the test's own."""

    def __init__(self, proxy: Proxy, done: list[Exchange], said: list[str]) -> None:
        self.proxy = proxy
        self.done = done
        self.said = said

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self.proxy.address)

    async def until(self, condition: Callable[[], Any]) -> None:
        async with asyncio.timeout(SOON):
            while not condition():
                await asyncio.sleep(0.005)

    async def metadata(self) -> dict[int, int]:
        """Node id -> port, as a client of its own learns it."""
        reader, writer = await self.connect()
        writer.write(request("Metadata", 1))
        frame = await asyncio.wait_for(read_frame(reader), SOON)
        writer.close()
        from specs import api

        found = api("Metadata").response.codec(1).decode(frame[4:])
        return {broker["node_id"]: broker["port"] for broker in found["brokers"]}


@asynccontextmanager
async def running(
    broker: Handler | None, scenario: str = "", capture: Path | None = None, **options: Any
) -> AsyncIterator[Running]:
    done: list[Exchange] = []
    said: list[str] = []
    server = None
    port = 1
    if broker is not None:
        server = await asyncio.start_server(broker, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
    proxy = Proxy(
        Options([("127.0.0.1", port)], **options),
        Rules(loads(scenario)) if scenario else None,
        capture=None if capture is None else CaptureWriter(capture, limit=None, meta={}),
        done=done.append,
        say=said.append,
    )
    await proxy.start()
    try:
        yield Running(proxy, done, said)
    finally:
        await proxy.stop()
        if server is not None:
            server.close()
            for _ in range(20):  # its handlers notice that their clients are gone
                await asyncio.sleep(0)


def test_a_broker_that_can_not_be_reached_costs_only_the_connection() -> None:
    async def main() -> None:
        async with running(None) as it:
            for _ in range(2):
                reader, writer = await it.connect()
                assert await asyncio.wait_for(reader.read(), SOON) == b""
                writer.close()
            assert sum("can't be reached" in line for line in it.said) == 2
            assert it.proxy.totals.refused == 2

    run(main())


def test_each_broker_gets_a_listener_and_keeps_it() -> None:
    async def main() -> None:
        async with running(echo_metadata) as it:
            first = await it.metadata()
            assert await it.metadata() == first
            listeners = {node.id: node.listen[1] for node in it.proxy.topology.nodes.values()}
            assert first == listeners
            assert len(set(listeners.values())) == 3
            assert sum("listening on" in line for line in it.said) == 4
            for port in listeners.values():  # a listener without a broker behind it: closed
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                assert await asyncio.wait_for(reader.read(), SOON) == b""
                writer.close()

    run(main())


def free_ports(count: int) -> range:
    """Ports in a row that were free a moment ago."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            first = probe.getsockname()[1]
        taken = []
        try:
            for port in range(first, first + count):
                taken.append(socket.create_server(("127.0.0.1", port)))
        except OSError:
            continue
        finally:
            for server in taken:
                server.close()
        return range(first, first + count)


def test_ports_are_the_first_of_the_range_and_the_node_id() -> None:
    async def main() -> None:
        ports = free_ports(5)
        async with running(echo_metadata, broker_ports=ports) as it:
            assert await it.metadata() == {n: ports[0] + n for n in range(3)}

    run(main())


def test_a_range_that_is_too_small_is_said_and_no_address_leaks() -> None:
    async def main() -> None:
        async with running(echo_metadata, broker_ports=free_ports(2)) as it:
            reader, writer = await it.connect()
            writer.write(request("Metadata", 1))
            assert await asyncio.wait_for(reader.read(), SOON) == b""
            writer.close()
            assert any("widen --broker-ports" in line for line in it.said)

    run(main())


@pytest.mark.parametrize("observed", [True, False])
def test_garbage_on_the_port_leaves_other_clients_alone(observed: bool) -> None:
    async def main() -> None:
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

    run(main())


@pytest.mark.parametrize("how", ["close", "half-close", "reset"])
def test_however_clients_go_nothing_stays_behind(how: str) -> None:
    async def main() -> None:
        async with running(echo_metadata, observed=False) as it:
            await it.metadata()
            await it.until(lambda: not it.proxy.connections)
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
                        linger = struct.pack("ii", 1, 0)
                        writer.get_extra_info("socket").setsockopt(
                            socket.SOL_SOCKET, socket.SO_LINGER, linger
                        )
                        writer.transport.abort()
                    else:
                        writer.close()
                for reader, writer in clients:
                    if how == "half-close":
                        assert await asyncio.wait_for(reader.read(), SOON) == b""
                        writer.close()
            await it.until(lambda: not it.proxy.connections)
            await it.until(lambda: len(asyncio.all_tasks()) <= before[1])
            await it.until(lambda: len(os.listdir("/proc/self/fd")) <= before[0])

    run(main())


@pytest.mark.parametrize("runner", [run, asyncio.run])
def test_the_end_of_a_direction_is_met_once(
    runner: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[str] = []
    original = Side.eof_received

    def counted(side: Side) -> bool:
        ends.append(side.direction)
        return original(side)

    monkeypatch.setattr(Side, "eof_received", counted)
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
            await it.until(lambda: not it.proxy.connections)

    runner(main())
    assert sorted(ends) == ["request", "response"]


def test_a_broker_that_closes_in_the_middle_of_a_response() -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_frame(reader)
        writer.write(response("Heartbeat", 1, error_code=0)[:6])
        writer.close()

    async def main() -> None:
        async with running(broker) as it:
            reader, writer = await it.connect()
            beat: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "m"}
            writer.write(request("Heartbeat", 1, **beat))
            assert await asyncio.wait_for(reader.read(), SOON) == response("Heartbeat", 1)[:6]
            writer.close()
            await it.until(lambda: it.done)
            assert it.done[0].note == "no response: connection closed"

    run(main())


@pytest.mark.parametrize("runner", [run, asyncio.run])
@pytest.mark.parametrize("observed", [True, False])
def test_a_client_that_does_not_read_stops_the_broker_and_loses_nothing(
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

    async def main() -> None:
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

    runner(main())


def test_stopping_lets_what_is_under_way_finish(tmp_path: Path) -> None:
    scenario = (
        "version: 1\nrules:\n  - name: slow\n    match: {direction: response}\n"
        "    do: {delay: 300ms}\n"
    )

    async def main() -> None:
        async with running(echo_metadata, scenario, tmp_path / "c.pcapng") as it:
            reader, writer = await it.connect()
            writer.write(request("Metadata", 1))
            await it.until(lambda: it.proxy.rules.rules[0].fired)
            await it.proxy.stop()
            frame = await asyncio.wait_for(read_frame(reader), SOON)
            assert frame[:4] == b"\0\0\0\x01"
            assert it.done[0].latency_ms is not None
            assert it.done[0].latency_ms >= 300
            writer.close()
            with pytest.raises(OSError):
                await it.connect()

    run(main())


def test_a_port_in_use_is_an_os_error() -> None:
    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError):
            await Proxy(Options([("127.0.0.1", 1)], listen=taken.getsockname()[:2])).start()

    run(main())


def test_a_body_that_nobody_can_read_is_flagged_in_the_capture(tmp_path: Path) -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_frame(reader)
        writer.write(raw(struct.pack(">i", 1) + b"\0\0\0"))  # no Heartbeat response
        await reader.read()
        writer.close()

    async def main() -> None:
        async with running(broker, capture=tmp_path / "c.pcapng") as it:
            reader, writer = await it.connect()
            beat: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "m"}
            writer.write(request("Heartbeat", 1, **beat))
            assert len(await asyncio.wait_for(read_frame(reader), SOON)) == 7
            await it.until(lambda: it.done)
            assert "response: " in it.done[0].undecodable
            await asyncio.to_thread(it.proxy.flag, it.done[0])
            writer.close()

    run(main())
    found = CaptureReader(tmp_path / "c.pcapng")
    assert list(found)
    (note,) = found.notes
    assert note.comment["correlation_id"] == 1
    assert "expected" in note.comment["undecodable"]
