"""What goes wrong between a client and a broker, 16: what comes out is what went in.

Through real sockets: each side receives what the other side sent, but for the edits that are printed at the
start. On a virtual clock: tests/proxy/connection/test_header_walk.py, tests/proxy/test_any_traffic.py.
"""

from __future__ import annotations

import asyncio
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.loop import run
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.server import Proxy
from barnabas.specs import NAMES
from barnabas.specs.broker_addresses import PLACES
from tests.proxy.frames import heartbeat_request, heartbeat_response, raw, request, response
from tests.proxy.playbook import one_rule
from tests.proxy.servers import SOON, running


def asked(choose: random.Random) -> list[bytes]:
    """Requests that no schema reads, or that would not be encoded again to the same bytes."""
    overlong = request("Metadata", 3, version=9, topics=[])[4:]
    assert overlong.endswith(b"\x01\x01\0\0\0")
    overlong = overlong[:-5] + b"\x81\0\x07\0\0\0"  # no topics in two bytes, a boolean of 7
    found = [
        raw(struct.pack(">hhih", 999, 7, 1, -1) + b"anything"),
        raw(struct.pack(">hhih", 12, 99, 2, 1) + b"a" + b"later fields"),
        raw(overlong),
        request("ControlledShutdown", 4, version=0, broker_id=1),
        heartbeat_request(5),
        request("Produce", 6, version=9, acks=0, topic_data=[]),
        raw(b"\0\x0c"),
        raw(b""),
    ]
    found += [request("Fetch", 7, version=11) + request("ListGroups", 8, version=0)]
    found += [garbage(choose) for _ in range(20)]
    return found


def answered(requests: list[bytes], choose: random.Random) -> list[bytes]:
    brokers = [{"node_id": -1, "host": "", "port": -1}]
    overlong = response("Metadata", 3, version=9, brokers=brokers)
    assert overlong.endswith(b"\0")
    found = [
        raw(struct.pack(">i", 1) + b"who knows"),
        raw(struct.pack(">i", 2) + bytes(300)),
        raw(overlong[4:-1] + b"\x80\x80\x00"),  # no tags, in three bytes
        raw(struct.pack(">i", 4) + b"\0\0"),
        heartbeat_response(5),
        raw(b"?"),
        raw(b""),
        response("Fetch", 7, version=11),
        response("ListGroups", 8, version=0),
    ]
    # to what has the place of a correlation id in them, if there is anything in it
    return found + [raw(each[8:12].ljust(4) + garbage(choose)) for each in requests[-20:]]


def garbage(choose: random.Random) -> bytes:
    """A frame of any bytes; but ApiVersions and addresses are what may be edited."""
    while True:
        payload = choose.randbytes(choose.randrange(200))
        if payload[:2] not in (b"\0\x12", *(struct.pack(">h", key) for key in PLACES)):
            return raw(payload)


async def send(writer: asyncio.StreamWriter, data: bytes, step: int, choose: random.Random) -> None:
    while data:
        size = step or choose.choice((1, 2, 7, 50, 1000))
        writer.write(data[:size])
        data = data[size:]
        await writer.drain()
        await asyncio.sleep(0)  # so that each goes out, and is read, by itself


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("step", [0, 1, 1 << 20])
@pytest.mark.parametrize("observed", [True, False])
def test_16_both_sides_receive_what_the_other_sent(
    observed: bool, step: int, seed: int, tmp_path: Path
) -> None:
    choose = random.Random(seed)
    sent = asked(choose)
    requests, responses = b"".join(sent), b"".join(answered(sent, choose))
    received = asyncio.Queue[bytes]()

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got = await reader.readexactly(len(requests))
        await send(writer, responses, step, choose)
        received.put_nowait(got + await reader.read())
        writer.close()

    async def main() -> None:
        async with running(broker, observed=observed, capture=tmp_path / "c.pcapng") as it:
            reader, writer = await it.connect()
            await send(writer, requests, step, choose)
            got = await asyncio.wait_for(reader.readexactly(len(responses)), SOON)
            writer.write_eof()
            assert await asyncio.wait_for(reader.read(), SOON) == b""
            assert (got, await asyncio.wait_for(received.get(), SOON)) == (responses, requests)
            assert it.proxy.totals.undecoded > 3
            writer.close()

    run(main())
    conversations = Conversations()
    assert list(conversations.exchanges(CaptureReader(tmp_path / "c.pcapng")))
    assert conversations.skipped == 0


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("count", [1, 300])
@pytest.mark.parametrize("delayed", [False, True])
async def test_16_acks_0_with_an_immediate_close_arrives_whole(
    observed: bool, count: int, delayed: bool
) -> None:
    rules = one_rule("{delay: 30ms}", "{api: Produce}") if delayed else ""
    produced = [
        request("Produce", number, version=9, acks=0, topic_data=[{"name": "x" * 4000}])
        for number in range(count)
    ]
    received = asyncio.Queue[bytes]()

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.put_nowait(await reader.read())
        writer.close()

    async with running(broker, rules, observed=observed) as it:
        _, writer = await it.connect()
        writer.write(b"".join(produced))
        writer.close()
        got = await asyncio.wait_for(received.get(), SOON)
        assert got == b"".join(produced)
        await it.until(lambda: not it.proxy.relays)
        assert it.proxy.tally.rows()[0].count == count


def test_16_every_edit_without_a_rule_is_printed_at_the_start() -> None:
    """Those of `barnabas.proxy.edits.edits`, which is where all of them are made."""
    said: list[str] = []

    async def main() -> None:
        proxy = Proxy(Options([("127.0.0.1", 1)]), say=said.append)
        await proxy.start()
        await proxy.stop()

    run(main())
    edits = [line for line in said if line.startswith("edit: ")]
    addresses, unknown, above = edits
    for key in PLACES:
        assert NAMES[key] in addresses
    assert "unknown here" in unknown
    assert "answered with error 35" in above


@pytest.mark.parametrize("observed", [True, False])
async def test_16_what_is_edited_differs_only_in_that(observed: bool) -> None:
    """Of a Metadata response the addresses change and no other byte does."""
    brokers: list[dict[str, Any]] = [{"node_id": 1, "host": "10.11.12.13", "port": 9092}]
    sent = response("Metadata", 1, version=12, brokers=brokers, cluster_id="c")

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(sent)
        await reader.read()
        writer.close()

    async with running(broker, observed=observed) as it:
        reader, writer = await it.connect()
        writer.write(request("Metadata", 1, version=12))
        size = int.from_bytes(await asyncio.wait_for(reader.readexactly(4), SOON))
        got = await asyncio.wait_for(reader.readexactly(size), SOON)
        (node,) = it.proxy.topology.nodes.values()
        host, port = node.listen
        there = [{"node_id": 1, "host": host, "port": port}]
        assert raw(got) == response("Metadata", 1, version=12, brokers=there, cluster_id="c")
        writer.close()
