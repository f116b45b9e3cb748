"""TLS on either side, with real sockets and certificates made for the test."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.loop import run
from barnabas.proxy.connection.state import Limits
from barnabas.proxy.network.certificate_authority import minted
from barnabas.proxy.network.tls import Tls, broker_context, fixed
from barnabas.specs import api
from tests.proxy.frames import raw, request
from tests.proxy.servers import (
    CA,
    SOON,
    client_context,
    echo_metadata,
    read_frame,
    running,
    server_context,
    to_broker,
)

ALICE = r"CN=alice,OU=a,O=Example\, Inc."
LOOPS = pytest.mark.parametrize("runner", [run, asyncio.run], ids=["uvloop", "asyncio"])


@LOOPS
@pytest.mark.parametrize("sides", ["broker", "client", "both"])
async def test_frames_pass_and_addresses_are_replaced(
    sides: str, runner: Callable[[Any], None]
) -> None:
    own = trustme.CA()
    tls = Tls(
        broker=to_broker() if sides != "client" else None,
        client=minted(own) if sides != "broker" else None,
    )

    broker = server_context() if tls.broker else None
    async with running(echo_metadata, broker_tls=broker, tls=tls, observed=False) as it:
        context = client_context(own) if tls.client else None
        for _ in range(3):
            reader, writer = await it.connect(context)
            for number in range(20):
                writer.write(request("Metadata", number))
                frame = await asyncio.wait_for(read_frame(reader), SOON)
                assert frame[:4] == struct.pack(">i", number)
            writer.close()
        await it.until(lambda: not it.proxy.relays)
        assert it.said[-1].startswith("listening on")


@LOOPS
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("encrypted", [True, False])
async def test_a_slow_reader_loses_nothing_and_stops_the_sender(
    encrypted: bool, observed: bool, runner: Callable[[Any], None]
) -> None:
    own, count, body = trustme.CA(), 48, os.urandom(1 << 20)
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

    tls = Tls(broker=to_broker(), client=minted(own)) if encrypted else Tls()
    broker_tls, client_tls = (server_context(), client_context(own)) if encrypted else (None, None)
    options: dict[str, Any] = {"limits": Limits(queued=1 << 20, copy=1 << 10), "observed": observed}
    async with running(broker, broker_tls=broker_tls, tls=tls, **options) as it:
        reader, writer = await it.connect(client_tls)
        for number in range(count):
            writer.write(raw(struct.pack(">hhih", 999, 0, number, -1)))
        stuck = -1
        while stuck != written:  # until nothing moves any more
            stuck = written
            await asyncio.sleep(0.3)
        assert written < count  # the kernel's buffers and ours are full
        _, other = await it.connect(client_tls)  # others go on, through the same read buffer
        other.write(raw(struct.pack(">hhih", 999, 0, 1, -1) + bytes(1 << 20)))
        await other.drain()
        await asyncio.sleep(0.1)
        other.close()
        for number in range(count):
            frame = await asyncio.wait_for(read_frame(reader), SOON)
            assert frame == struct.pack(">i", number) + body
        writer.close()
        await it.until(lambda: not it.proxy.relays)


@LOOPS
async def test_a_client_that_closes_behind_its_last_request(runner: Callable[[Any], None]) -> None:
    own, seen = trustme.CA(), bytearray()

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.extend(await reader.read(-1))
        writer.close()

    tls = Tls(broker=to_broker(), client=minted(own))
    async with running(broker, broker_tls=server_context(), tls=tls) as it:
        _, writer = await it.connect(client_context(own))
        data = raw(struct.pack(">hhih", 999, 0, 1, -1) + bytes(300_000))
        writer.write(data)
        writer.close()
        await it.until(lambda: len(seen) == len(data))
        assert bytes(seen) == data


@LOOPS
async def test_plain_text_where_tls_is_expected(runner: Callable[[Any], None]) -> None:
    async with running(echo_metadata, tls=Tls(client=minted(trustme.CA()))) as it:
        reader, writer = await it.connect()
        writer.write(request("Metadata", 1))
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(reader.read(), SOON)  # an alert, perhaps, and the end
        writer.close()
        await it.until(
            lambda: "TLS with the client failed: the peer speaks plain text, not TLS" in it.said[-1]
        )
        assert not it.proxy.relays


@LOOPS
@pytest.mark.parametrize("shown", [True, False])
async def test_clients_show_a_certificate_if_they_must(
    shown: bool, runner: Callable[[Any], None], tmp_path: Path
) -> None:
    clients, own = trustme.CA(), trustme.CA()
    clients.cert_pem.write_to_path(str(tmp_path / "clients.pem"))

    tls = Tls(client=minted(own, tmp_path / "clients.pem"))
    async with running(echo_metadata, tls=tls) as it:
        context = client_context(own)
        if shown:
            clients.issue_cert("me@example.org").configure_cert(context)
        reader, writer = await it.connect(context)
        writer.write(request("Metadata", 1))
        if shown:
            assert (await asyncio.wait_for(read_frame(reader), SOON))[:4] == b"\0\0\0\x01"
        else:
            with pytest.raises((OSError, asyncio.IncompleteReadError)):
                await asyncio.wait_for(read_frame(reader), SOON)
        writer.close()


@LOOPS
def test_the_certificate_names_the_user(runner: Callable[[Any], None], tmp_path: Path) -> None:
    clients, own, path = trustme.CA(), trustme.CA(), tmp_path / "c.pcapng"
    told: list[tuple[int, str | None]] = []
    clients.cert_pem.write_to_path(str(tmp_path / "clients.pem"))

    async def main() -> None:
        tls = Tls(client=minted(own, tmp_path / "clients.pem"))
        async with running(echo_metadata, tls=tls, capture=path) as it:
            for name in ("alice", "bob"):
                context = client_context(own)
                clients.issue_cert(
                    common_name=name, organization_name="Example, Inc.", organization_unit_name="a"
                ).configure_cert(context)
                reader, writer = await it.connect(context)
                writer.write(request("Metadata", 1))
                await asyncio.wait_for(read_frame(reader), SOON)
                writer.close()
            await it.until(lambda: not it.proxy.relays)
            told.extend((x.connection, x.user) for x in it.done)

    runner(main())
    assert told == [(1, ALICE), (2, ALICE.replace("alice", "bob"))]
    again = Conversations().exchanges(CaptureReader(path))
    assert [(x.connection, x.user) for x in again] == told


@LOOPS
@pytest.mark.parametrize("advertised", [None, "localhost"])
@pytest.mark.parametrize(
    ("listen", "came"),
    [
        ("127.0.0.2", "127.0.0.2"),
        ("0.0.0.0", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.2"),
        ("::", "127.0.0.1"),
        ("::", "127.0.0.2"),
        ("::", "::1"),
    ],
)
async def test_the_certificate_names_what_the_client_came_by_and_what_it_is_told(
    listen: str, came: str, advertised: str | None, runner: Callable[[Any], None]
) -> None:
    if ":" in listen and not ipv6():
        pytest.skip("this machine has no IPv6")
    own = trustme.CA()

    async def asked(there: tuple[str, int], name: str) -> dict[str, Any]:
        reader, writer = await asyncio.open_connection(
            *there, ssl=client_context(own), server_hostname=name
        )
        writer.write(request("Metadata", 1))
        frame = await asyncio.wait_for(read_frame(reader), SOON)
        writer.close()
        return api("Metadata").response.codec(1).decode(frame[4:])

    tls = Tls(client=minted(own))
    async with running(echo_metadata, tls=tls, listen=(listen, 0), advertise=advertised) as it:
        told = await asked((came, it.proxy.address[1]), came)
        assert {node["host"] for node in told["brokers"]} == {advertised or came}
        for node in told["brokers"]:
            # that broker itself can't be reached; the certificate is that of its listener
            (known,) = (n for n in it.proxy.topology.nodes.values() if n.id == node["node_id"])
            known.upstream = it.proxy.options.bootstrap[0]
        node = told["brokers"][0]
        assert await asked((came, node["port"]), node["host"])


def ipv6() -> bool:
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


def test_certificates_from_files(tmp_path: Path) -> None:
    leaf = CA.issue_cert("localhost")
    leaf.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "me.pem"))
    CA.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    me, ca = tmp_path / "me.pem", tmp_path / "ca.pem"
    assert fixed(me, None)(("x",)) is not None
    context = broker_context(ca, me)
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert broker_context(verify=False).verify_mode == ssl.CERT_NONE
    with pytest.raises(OSError):
        broker_context(tmp_path / "none.pem")
    with pytest.raises(ssl.SSLError):
        fixed(ca, None)


@LOOPS
@pytest.mark.parametrize("broker", ["down", "unknown", "leads back"])
async def test_a_client_whose_broker_is_down_ends_its_handshake_before_it_is_closed(
    broker: str, runner: Callable[[Any], None]
) -> None:
    """Or it would blame TLS, and its own configuration."""
    own = trustme.CA()
    unknown = broker == "unknown"  # by its certificate
    tls = Tls(broker=client_context(own) if unknown else None, client=minted(own))
    handler, context = (echo_metadata, server_context()) if unknown else (None, None)

    async with running(handler, broker_tls=context, tls=tls) as it:
        address = it.proxy.address
        if broker == "leads back":
            node = it.proxy.topology.node("broker", 1, ("127.0.0.1", 1))
            it.proxy.topology.node("broker", 1, address := node.listen)
        for _ in range(3):
            reader, writer = await asyncio.wait_for(
                asyncio.open_connection(
                    *address, ssl=client_context(own), server_hostname="localhost"
                ),
                SOON,
            )
            assert await asyncio.wait_for(reader.read(), SOON) == b"", "an end, no reset"
            writer.close()
        await it.until(lambda: not it.proxy.open)
        assert not it.proxy.relays
        about = {
            "unknown": "TLS to the broker failed: certificate verify failed",
            "leads back": "a listener of this proxy",
        }
        assert any(about.get(broker, "can't be reached") in line for line in it.said)


async def test_a_client_that_begins_no_handshake_is_closed_at_the_end() -> None:
    async with running(None, tls=Tls(client=minted(trustme.CA()))) as it:
        silent, writer = await it.connect()
        await it.until(lambda: it.proxy.totals.unreachable == 1)
        await it.proxy.stop()
        assert await asyncio.wait_for(silent.read(), SOON) == b""
        writer.close()


@LOOPS
async def test_what_is_not_kafka_passes_to_its_end(runner: Callable[[Any], None]) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readexactly(4))
        writer.close()

    own = trustme.CA()
    async with running(answer, tls=Tls(client=minted(own)), any_protocol=True) as it:
        reader, writer = await it.connect(client_context(own))
        writer.write(b"PING")
        assert await asyncio.wait_for(reader.read(), SOON) == b"PING"
        writer.close()
