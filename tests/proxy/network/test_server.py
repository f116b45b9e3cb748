"""The proxy with real sockets: its listeners, its brokers, its end."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import gc
import os
import socket
import ssl
import struct
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from barnabas.captures.kafka.notes import undecodable
from barnabas.captures.reader import CaptureReader
from barnabas.proxy.edits.topology import NOWHERE, Node
from barnabas.proxy.network.endpoint import Endpoint
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.tls import Tls
from barnabas.proxy.scenario.file import loads
from tests.ports import free_port, free_ports
from tests.proxy.frames import heartbeat_request, raw, request
from tests.proxy.playbook import one_rule
from tests.proxy.servers import SOON, ask, echo_metadata, ends, read_frame, running

HOSTS = ["x" * 255, "x" * 32767, "a..b", "real-\ufffd", "xn--zz\u0378", "a\0b", ".a"]


@pytest.mark.parametrize(
    ("host", "port"), [*((host, 9092) for host in HOSTS), ("127.0.0.1", 70000), ("127.0.0.1", 1)]
)
async def test_a_broker_that_can_not_be_reached_costs_only_the_connection(
    host: str, port: int
) -> None:
    unhandled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: unhandled.append(what))
    async with running(None) as it:
        it.proxy.options.bootstrap[0] = (host, port)  # type: ignore[index]
        for _ in range(2):
            await ends(it.port)
        (line,) = (line for line in it.said if "can't be reached" in line)  # the next in a while
        assert len(line) < 250
        assert line.endswith("; closed")
        assert it.proxy.totals.unreachable == 2
    gc.collect()  # of a task that failed it is told when it goes
    assert unhandled == []


async def test_that_nothing_can_be_accepted_is_said_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    full = Mock(**{"accept.side_effect": OSError(errno.EMFILE, os.strerror(errno.EMFILE))})
    async with running(None) as it:
        acceptor, before = it.proxy.listeners._acceptor, len(it.said)
        with monkeypatch.context() as patched:
            patched.setattr(acceptor, "_loop", loop := Mock())
            for step in range(300):  # a quarter of a second each
                loop.time.return_value = 1000 + step * 0.25
                acceptor._accept(full, Node(None, None, ("b", 1), it.proxy.address))
        assert full.accept.call_count == 300
        line = "can't accept connections: Too many open files; they wait"
        assert [said.partition(": ")[2] for said in it.said[before:]] == [
            line,
            *[f"{line} (120 times since the last report)"] * 2,
        ]


@pytest.mark.parametrize("problem", [ValueError("odd"), UnicodeError("idna"), RuntimeError("?")])
async def test_whatever_goes_wrong_while_a_connection_begins_costs_no_other(
    problem: Exception,
) -> None:
    def mint(names: tuple[str, ...]) -> ssl.SSLContext:
        raise problem

    async with running(echo_metadata, tls=Tls(client=mint)) as it:
        for _ in range(2):
            await ends(it.port)
        assert sum(repr(problem) in line for line in it.said) == 2
        assert not it.proxy.relays


async def test_a_connection_that_can_not_go_on_under_other_rules_costs_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(echo_metadata) as it:
        first, second = await it.connect(), await it.connect()
        for reader, writer in (first, second):
            writer.write(request("Metadata", 1))
            await asyncio.wait_for(read_frame(reader), SOON)
        broken, whole = it.proxy.relays.values()

        def replace(*_: object) -> None:
            raise KeyError("gone")

        monkeypatch.setattr(broken.connection, "replace", replace)
        it.proxy.replace(loads("version: 1\nrules: [{name: r, do: drop}]"), "a test")
        assert [line for line in it.said if "KeyError('gone')" in line] == [
            "connection 1: KeyError('gone'); closed"
        ]
        assert await asyncio.wait_for(first[0].read(), SOON) == b""
        assert whole.connection.state.plan is it.proxy._plan
        for _, writer in (first, second):
            writer.close()


async def test_bootstrap_connections_begin_with_another_address_each() -> None:
    """One that accepts and never answers must not be what all clients get."""
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


async def test_ports_are_the_first_of_the_range_and_the_node_id() -> None:
    ports = free_ports(5)
    async with running(echo_metadata, broker_ports=ports) as it:
        assert await it.metadata() == {n: ports[0] + n for n in range(3)}


async def test_a_range_that_is_too_small_is_said_and_no_address_leaks() -> None:
    async with running(echo_metadata, broker_ports=free_ports(2)) as it:
        reader, writer = await it.connect()
        writer.write(request("Metadata", 1))
        assert await asyncio.wait_for(reader.read(), SOON) == b""
        writer.close()
        assert any("widen --broker-ports" in line for line in it.said)


async def test_stopping_lets_what_is_under_way_finish(tmp_path: Path) -> None:
    slow = one_rule("{delay: 300ms}", "{direction: response}")
    async with running(echo_metadata, slow, tmp_path / "c.pcapng") as it:
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


async def test_a_connection_that_is_given_up_while_it_begins_is_closed_on_both_sides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stopping may meet a connection whose sockets are made, while its task does not know them yet.

    No later event may meet a closed socket.
    """
    made = Endpoint.connection_made

    async with running(echo_metadata) as it:
        given_up: list[asyncio.Task[None]] = []

        def give_up(side: Endpoint, transport: asyncio.BaseTransport) -> None:
            made(side, transport)
            if side.direction == "request":
                given_up.extend(it.proxy._tasks)
                for task in given_up:
                    task.cancel()

        monkeypatch.setattr(Endpoint, "connection_made", give_up)
        reader, writer = await it.connect()
        assert await asyncio.wait_for(reader.read(), SOON) == b""
        await asyncio.wait(given_up)
        assert all(task.cancelled() for task in given_up)
        assert not it.proxy.relays
        writer.close()


async def test_a_body_that_nobody_can_read_is_flagged_in_the_capture(tmp_path: Path) -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_frame(reader)
        writer.write(raw(struct.pack(">i", 1) + b"\0\0\0"))  # no Heartbeat response
        await reader.read()
        writer.close()

    async with running(broker, capture=tmp_path / "c.pcapng") as it:
        assert len(await ask(it.port, heartbeat_request(1))) == 7
        await it.until(lambda: it.done)
        assert "response: " in it.done[0].undecodable
        it.proxy.note(undecodable(it.done[0]))
    found = CaptureReader(tmp_path / "c.pcapng")
    assert list(found)
    (note,) = (note for note in found.notes if "undecodable" in note.comment)
    assert note.comment["correlation_id"] == 1
    assert "expected" in note.comment["undecodable"]


async def test_a_broker_that_advertises_the_proxy_is_told_as_it_is_and_nobody_listens_for_it() -> (
    None
):
    port = free_port()
    handler = partial(echo_metadata, port=port)
    async with running(handler, listen=("127.0.0.1", port)) as it:
        assert set((await it.metadata()).values()) == {port}
        assert {node.listen for node in it.proxy.topology.nodes.values()} == {NOWHERE}
