"""Real clients over TLS: what is read of their wire with their keys is what the proxy has seen."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tls.keylog import KeyLog
from barnabas.peers.embedded import EmbeddedCluster
from barnabas.specs.frames import Direction
from tests.captures.traffic import Said, ip_packet, segments, write_pcap
from tests.real.process import ProxyProcess
from tests.waiting import SOON


class RecordingLoop(asyncio.SelectorEventLoop):
    """Puts a relay into each TLS connection, which remembers what passes on the wire."""

    def __init__(self) -> None:
        super().__init__()
        self.wires: list[tuple[int, list[Said]]] = []
        """The port that was meant, and what passed."""
        self.ended: list[asyncio.Future[None]] = []

    async def create_connection(self, protocol_factory: Any, *where: Any, **options: Any) -> Any:
        host, port = where or (options.pop("host"), options.pop("port"))
        if not options.get("ssl"):
            return await super().create_connection(protocol_factory, host, port, **options)
        wire: list[Said] = []
        ended = self.create_future()
        self.wires.append((port, wire))
        self.ended.append(ended)

        async def carry(client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
            server, there = await asyncio.open_connection(host, port)

            async def one(
                direction: Direction, source: asyncio.StreamReader, target: asyncio.StreamWriter
            ) -> None:
                while data := await source.read(1 << 16):
                    wire.append((direction, data))
                    target.write(data)
                target.close()

            await asyncio.gather(one("request", client, there), one("response", server, back))
            ended.set_result(None)

        relay = await asyncio.start_server(carry, host, 0)
        near = relay.sockets[0].getsockname()[1]
        try:
            return await super().create_connection(protocol_factory, host, near, **options)
        finally:
            relay.close()


async def work(bootstrap: str, context: ssl.SSLContext) -> list[bytes]:
    secured: dict[str, Any] = {
        "bootstrap_servers": bootstrap,
        "security_protocol": "SSL",
        "ssl_context": context,
    }
    async with AIOKafkaProducer(**secured, client_id="sends", acks="all") as producer:
        for number in range(30):
            await producer.send_and_wait("orders", b"%d " % number * 2000, partition=0)
    async with AIOKafkaConsumer(
        "orders", **secured, client_id="reads", auto_offset_reset="earliest"
    ) as consumer:
        return [(await consumer.getone()).value for _ in range(30)]


def seen(found: Iterable[Exchange]) -> set[tuple[Any, ...]]:
    """What exchanges are, wherever they were recorded; those that were answered."""
    names = ("client_id", "api", "version", "correlation_id", "request_body", "response_body")
    return {
        tuple(getattr(one, name) for name in names)
        for one in found
        if one.response_body is not None
    }


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_the_exchanges_are_those_that_the_proxy_saw(
    version: ssl.TLSVersion, tmp_path: Path
) -> None:
    ours = tmp_path / "proxy.pcapng"
    with EmbeddedCluster(1) as cluster:
        options = ("--client-tls", "--capture", str(ours))
        with ProxyProcess(cluster.bootstrap, *options, data=tmp_path) as proxy:
            context = ssl.create_default_context(cafile=str(proxy.ca))
            context.minimum_version = context.maximum_version = version
            context.keylog_filename = str(tmp_path / "keys")
            with asyncio.Runner(loop_factory=RecordingLoop) as runner:
                loop = runner.get_loop()
                assert isinstance(loop, RecordingLoop)
                values = runner.run(work(proxy.bootstrap, context))
                runner.run(asyncio.wait_for(asyncio.gather(*loop.ended), SOON))
    assert values == [b"%d " % number * 2000 for number in range(30)]
    packets = [
        ip_packet(segment)
        for at, (port, wire) in enumerate(loop.wires)
        for segment in segments(
            wire, repeat(1448), client=("127.0.0.1", 10_000 + at), broker=("127.0.0.1", port)
        )
    ]
    reader = CaptureReader(
        write_pcap(tmp_path / "wire.pcap", packets),
        keys=KeyLog((tmp_path / "keys").read_bytes()),
    )
    found = seen(Conversations().exchanges(reader))
    expected = seen(Conversations().exchanges(CaptureReader(ours)))
    assert found == expected
    assert {one[1] for one in found} >= {"ApiVersions", "Metadata", "Produce", "Fetch"}
    assert len(found) > 40
    assert reader.tls.read == len(loop.wires)
    assert not reader.tls.broken
    assert not reader.left_out
