"""The proxy with real sockets: its listeners, its brokers, its end."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import struct
from pathlib import Path
from typing import Any

import pytest

from barnabas.loop import run
from captures.reader import CaptureReader
from proxy.options import Options
from proxy.server import Proxy
from tests.proxy.playbook import raw, request
from tests.proxy.servers import SOON, echo_metadata, read_frame, running


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


def test_bootstrap_connections_begin_with_another_address_each() -> None:
    """One that accepts and never answers must not be what all clients get."""

    async def main() -> None:
        asked: list[int] = []
        with socket.create_server(("127.0.0.1", 0)) as silent:
            async with running(echo_metadata) as it:
                answering = it.proxy.options.bootstrap[0]
                addresses = [silent.getsockname(), ("127.0.0.1", 1), answering]
                options = dataclasses.replace(it.proxy.options, bootstrap=addresses, drain=0.0)
                proxy = Proxy(options)
                await proxy.start()
                for number in range(6):
                    reader, writer = await asyncio.open_connection(*proxy.address)
                    writer.write(request("Metadata", number))
                    if number % 3:  # from the second on, who refuses, on to the third
                        await asyncio.wait_for(read_frame(reader), SOON)
                        asked.append(number)
                    writer.close()
                await proxy.stop()
        assert asked == [1, 2, 4, 5]

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
    (note,) = (note for note in found.notes if "undecodable" in note.comment)
    assert note.comment["correlation_id"] == 1
    assert "expected" in note.comment["undecodable"]


def test_stopping_does_not_cut_a_response_in_two() -> None:
    half, rest = asyncio.Event(), asyncio.Event()
    frame = raw(struct.pack(">i", 1) + bytes(1000))

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_frame(reader)
        writer.write(frame[:100])
        half.set()
        await rest.wait()
        writer.write(frame[100:])
        await reader.read()
        writer.close()

    async def main() -> None:
        async with running(broker) as it:
            reader, writer = await it.connect()
            writer.write(raw(struct.pack(">hhih", 999, 0, 1, -1)))
            await asyncio.wait_for(half.wait(), SOON)
            assert await asyncio.wait_for(reader.readexactly(100), SOON) == frame[:100]
            stopping = asyncio.create_task(it.proxy.stop())
            await it.until(lambda: not it.proxy._listeners)
            rest.set()
            assert await asyncio.wait_for(reader.read(), SOON) == frame[100:]
            await stopping
            writer.close()

    run(main())
