"""Brokers that stand still, and clients that have given up on them."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

import pytest

from barnabas.loop import run
from barnabas.proxy.network.reaper import Reaper
from barnabas.proxy.network.tcp_info import acknowledged
from tests.proxy.frames import raw, request
from tests.proxy.playbook import one_rule
from tests.proxy.servers import SOON, Running, read_frame, reset_on_close, running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel is asked (tcp_info)")

LINGER = 0.2


class Stopped:
    """A broker that accepts and then does nothing at all."""

    def __init__(self) -> None:
        self.writers: list[asyncio.StreamWriter] = []

    async def __call__(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        self.writers.append(writer)

    def end(self) -> None:
        for writer in self.writers:
            reset_on_close(writer)
            writer.transport.abort()


async def clog(it: Running, writer: asyncio.StreamWriter) -> None:
    """Send until the broker takes no more. Nothing of it waits in this process."""
    while not any(relay.broker.clogged for relay in it.proxy.relays.values()):
        writer.write(raw(struct.pack(">hhih", 999, 0, 1, -1) + bytes(50_000)))
        await writer.drain()
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("runner", [run, asyncio.run])
@pytest.mark.parametrize("clogged", [False, True])
async def test_a_client_that_gives_up_leaves_nothing_at_a_broker_that_stands_still(
    clogged: bool, runner: Callable[[Any], None]
) -> None:
    broker = Stopped()
    async with running(broker, linger=LINGER) as it:
        for number in range(1, 4):
            _, writer = await it.connect()
            writer.write(request("Metadata", 1))
            await it.until(lambda n=number: len(broker.writers) == n)  # type: ignore[misc]
            if clogged:
                await clog(it, writer)
            (relay,) = it.proxy.relays.values()
            writer.close()
            await it.until(lambda x=relay: not x.open)  # type: ignore[misc]
            assert not it.proxy.relays
        assert sum("the broker reads nothing; closed" in line for line in it.said) == 3
        broker.end()


async def test_a_client_that_waits_is_left_alone() -> None:
    broker = Stopped()
    async with running(broker, linger=LINGER) as it:
        reader, writer = await it.connect()
        writer.write(request("Heartbeat", 1))
        await it.until(lambda: broker.writers)
        await clog(it, writer)
        await asyncio.sleep(3 * LINGER)
        assert len(it.proxy.relays) == 1
        broker.writers[0].write(raw(struct.pack(">i", 1)))
        assert await asyncio.wait_for(read_frame(reader), SOON) == struct.pack(">i", 1)
        broker.end()
        writer.close()


async def test_one_that_a_person_has_paused_stays() -> None:
    broker = Stopped()
    async with running(broker, linger=LINGER) as it:
        _, writer = await it.connect()
        writer.write(request("Metadata", 1))
        await it.until(lambda: broker.writers)
        (relay,) = it.proxy.relays.values()
        relay.pause()
        writer.close()
        await asyncio.sleep(3 * LINGER)
        assert len(it.proxy.relays) == 1
        relay.resume()
        await it.until(lambda: not it.proxy.relays)
        broker.end()


async def test_what_a_rule_holds_back_still_leaves() -> None:
    came: list[bytes] = []

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await reader.read())
        writer.close()

    late = one_rule("{delay: 600ms}", "{direction: request}")
    async with running(broker, late, linger=LINGER) as it:
        _, writer = await it.connect()
        writer.write(request("Metadata", 1))
        writer.close()
        await it.until(lambda: came)
        assert came == [request("Metadata", 1)]


class Stub:
    """An object with these attributes."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__ |= attributes


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        near = socket.create_connection(server.getsockname())
        return near, server.accept()[0]


def side(sock: socket.socket, **attributes: Any) -> Any:
    transport = Stub(get_extra_info=lambda _: sock, is_reading=lambda: False)
    return Stub(transport=transport, open=True, ended=False, **attributes)


@pytest.mark.parametrize("who", ["takes", "sends"])
def test_a_byte_that_the_broker_takes_or_sends_begins_the_time_again(who: str) -> None:
    to_client, client = tcp_pair()
    to_broker, broker = tcp_pair()
    relay: Any = Stub(
        client=side(to_client),
        broker=side(to_broker),
        paused=False,
        connection=Stub(state=Stub(queues={})),
    )
    reaper = Reaper(10.0)
    with to_client, to_broker, broker:
        assert list(reaper.find([relay], 0.0)) == []
        assert list(reaper.find([relay], 20.0)) == []  # the client is there
        client.close()
        assert list(reaper.find([relay], 30.0)) == []
        assert list(reaper.find([relay], 39.0)) == []
        before = acknowledged(to_broker)
        sender, receiver = (to_broker, broker) if who == "takes" else (broker, to_broker)
        sender.sendall(b"x")
        assert receiver.recv(1) == b"x"
        while who == "takes" and acknowledged(to_broker) == before:
            pass  # its system may take some ms to say so
        assert list(reaper.find([relay], 41.0)) == []
        assert list(reaper.find([relay], 50.0)) == []
        assert list(reaper.find([relay], 51.0)) == [relay]
