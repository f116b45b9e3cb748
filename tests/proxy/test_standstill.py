"""Brokers that stand still, and clients that have given up on them."""

from __future__ import annotations

import asyncio
import struct
import sys

import pytest

from barnabas.loop import run
from tests.proxy.playbook import raw, request
from tests.proxy.servers import SOON, Running, read_frame, reset_on_close, running

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel is asked (tcp_info)")

LINGER = 0.2

SCENARIO = """\
version: 1
rules:
  - name: for a while
    match: {direction: request}
    do: {delay: 600ms}
"""


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


async def clog(it: Running, writer: asyncio.StreamWriter) -> int:
    """Send until the broker takes no more; how many bytes. None of them waits in this process."""
    sent = 0
    while not any(link.broker.clogged for link in it.proxy.links):
        frame = raw(struct.pack(">hhih", 999, 0, 1, -1) + bytes(50_000))
        sent += len(frame)
        writer.write(frame)
        await writer.drain()
        await asyncio.sleep(0.001)
    return sent


@pytest.mark.parametrize("clogged", [False, True])
def test_a_client_that_gives_up_leaves_nothing_at_a_broker_that_stands_still(clogged: bool) -> None:
    async def main() -> None:
        broker = Stopped()
        async with running(broker, linger=LINGER) as it:
            for number in range(1, 4):
                _, writer = await it.connect()
                writer.write(request("Metadata", 1))
                await it.until(lambda n=number: len(broker.writers) == n)  # type: ignore[misc]
                if clogged:
                    await clog(it, writer)
                (link,) = it.proxy.links
                writer.close()
                await it.until(lambda x=link: not x.open)  # type: ignore[misc]
                assert not it.proxy.connections
            assert sum("the broker stands still; closed" in line for line in it.said) == 3
            broker.end()

    run(main())


def test_a_client_that_waits_is_left_alone() -> None:
    async def main() -> None:
        broker = Stopped()
        async with running(broker, linger=LINGER) as it:
            reader, writer = await it.connect()
            writer.write(request("Metadata", 1))
            await it.until(lambda: broker.writers)
            await clog(it, writer)
            await asyncio.sleep(3 * LINGER)
            assert it.proxy.connections == 1
            broker.writers[0].write(raw(struct.pack(">i", 1)))
            assert await asyncio.wait_for(read_frame(reader), SOON) == struct.pack(">i", 1)
            broker.end()
            writer.close()

    run(main())


def test_a_broker_that_moves_is_waited_for() -> None:
    """A client that has ended its stream and waits gets an answer that comes in pieces, slowly."""
    answer = raw(struct.pack(">i", 1) + bytes(12))

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        for at in range(len(answer)):
            await asyncio.sleep(LINGER / 4)
            writer.write(answer[at : at + 1])
        writer.close()

    async def main() -> None:
        async with running(broker, linger=LINGER) as it:
            reader, writer = await it.connect()
            writer.write(raw(struct.pack(">hhih", 999, 0, 1, -1)))
            writer.write_eof()
            assert await asyncio.wait_for(reader.read(), SOON) == answer
            writer.close()

    run(main())


def test_a_broker_that_takes_slowly_gets_everything() -> None:
    begin, end = asyncio.Event(), asyncio.Event()
    took: list[int] = []

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await begin.wait()
        while data := await reader.read(1 << 18):
            took.append(len(data))
            await asyncio.sleep(LINGER / 8)
        writer.close()
        end.set()

    async def main() -> None:
        async with running(broker, linger=LINGER) as it:
            _, writer = await it.connect()
            sent = await clog(it, writer)
            writer.close()
            begin.set()
            await asyncio.wait_for(end.wait(), SOON)
            assert sum(took) == sent
            assert len(took) > 8  # it took longer than a broker may stand still
            await it.until(lambda: not it.proxy.connections)

    run(main())


def test_one_that_a_person_has_paused_stays() -> None:
    async def main() -> None:
        broker = Stopped()
        async with running(broker, linger=LINGER) as it:
            _, writer = await it.connect()
            writer.write(request("Metadata", 1))
            await it.until(lambda: broker.writers)
            (link,) = it.proxy.links
            link.pause()
            writer.close()
            await asyncio.sleep(3 * LINGER)
            assert it.proxy.connections == 1
            link.resume()
            await it.until(lambda: not it.proxy.connections)
            broker.end()

    run(main())


def test_what_a_rule_holds_back_still_leaves() -> None:
    came: list[bytes] = []

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.append(await reader.read())
        writer.close()

    async def main() -> None:
        async with running(broker, SCENARIO, linger=LINGER) as it:
            _, writer = await it.connect()
            writer.write(request("Metadata", 1))
            writer.close()
            await it.until(lambda: came)
            assert came == [request("Metadata", 1)]

    run(main())
