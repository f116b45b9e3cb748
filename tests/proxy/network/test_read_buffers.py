"""Reading one frame and no more: alone, byte by byte, and between real sockets."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any, Final

import pytest
import trustme

from barnabas.loop import run
from barnabas.proxy.network.certificate_authority import minted
from barnabas.proxy.network.read_buffers import OneFrame, ReadBuffers
from barnabas.proxy.network.relay import Relay
from barnabas.proxy.network.tls import Tls
from barnabas.specs.frames import Direction
from tests.proxy.frames import heartbeat_request, raw, request
from tests.proxy.playbook import Actor, Stage, one_rule
from tests.proxy.servers import SOON, Running, echo_metadata, read_frame, running

CLIENT_AUTH: Final = ssl.Purpose.CLIENT_AUTH
HEARTBEAT: Final = heartbeat_request(1)
COLLECTED: Final = one_rule("{delay: 0ms}", "{api: Heartbeat}")


def read(actor: Actor, direction: Direction, step: OneFrame, stream: bytes) -> bytes:
    """Let a step read from a stream, as the transport would; what it left."""
    while not step.done and stream:
        room = len(step.current)
        assert room > 0
        actor.feed(direction, stream[:room])
        stream = stream[room:]
    return stream


@pytest.mark.parametrize("begun", range(len(HEARTBEAT) + 1))
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("scenario", ["", COLLECTED])
def test_a_step_ends_with_the_frame_wherever_it_begins(
    begun: int, observed: bool, scenario: str
) -> None:
    actor = Stage(scenario, observed=observed).actor()
    actor.ask(HEARTBEAT)  # the first is never skimmed
    actor.ask(HEARTBEAT[:begun])
    step = OneFrame(ReadBuffers(), actor.connection.state.ingress["request"])
    assert [step.done] == [False]
    left = read(actor, "request", step, HEARTBEAT[begun:] + HEARTBEAT + b"behind")
    assert step.done
    assert left == (b"behind" if begun == len(HEARTBEAT) else HEARTBEAT + b"behind")
    actor.stage.wait(1)
    whole = 3 if begun == len(HEARTBEAT) else 2
    assert actor.sent["request"] == HEARTBEAT * whole


@pytest.mark.parametrize("frame", [raw(b""), raw(b"x"), raw(b"\0\x0c\0\1"), raw(bytes(9))])
def test_a_frame_that_nobody_can_read_is_one_too(frame: bytes) -> None:
    actor = Stage().actor()
    step = OneFrame(ReadBuffers(), actor.connection.state.ingress["request"])
    assert read(actor, "request", step, frame + HEARTBEAT) == HEARTBEAT
    assert step.done
    assert actor.sent["request"] == frame


def test_the_room_ends_where_the_shared_buffer_does() -> None:
    actor = Stage().actor()
    shared = ReadBuffers()
    large = raw(HEARTBEAT[4:] + bytes(2 * len(shared.current)))
    step = OneFrame(shared, actor.connection.state.ingress["request"])
    actor.ask(large[:4])
    assert len(step.current) == len(shared.current)
    kept = step.keep()
    assert shared.current is not kept
    step.release(kept)
    shared.keep()
    assert shared.current is kept


# between real sockets


async def paused(it: Running) -> Relay:
    await it.until(
        lambda: it.proxy.relays and all(relay.client.open for relay in it.proxy.relays.values())
    )
    (relay,) = it.proxy.relays.values()
    relay.pause()
    return relay


def frames_read(relay: Relay, direction: Direction) -> int:
    return relay.connection.state.ingress[direction].frames


async def still() -> None:
    """Long enough for what must not happen."""
    await asyncio.sleep(0.05)


@pytest.mark.parametrize("runner", [run, asyncio.run], ids=["uvloop", "asyncio"])
@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "TLS"])
async def test_nothing_is_read_from_a_paused_connection_but_what_steps_ask_for(
    encrypted: bool, runner: Callable[[Any], None]
) -> None:
    ca = trustme.CA()
    trusting, broker = ssl.create_default_context(), ssl.create_default_context(CLIENT_AUTH)
    ca.configure_trust(trusting)
    ca.issue_cert("127.0.0.1").configure_cert(broker)
    tls = Tls(broker=trusting, client=minted(ca)) if encrypted else Tls()

    broker_tls, client_tls = (broker, trusting) if encrypted else (None, None)
    async with running(echo_metadata, observed=False, broker_tls=broker_tls, tls=tls) as it:
        reader, writer = await it.connect(client_tls)
        relay = await paused(it)
        for number in (1, 2, 3, 4):
            writer.write(request("Metadata", number))
        await still()
        assert frames_read(relay, "request") == 0
        for number in (1, 2):
            relay.step("request")
            await it.until(lambda: frames_read(relay, "request") == number)  # noqa: B023
            await still()
            assert frames_read(relay, "request") == number
        assert frames_read(relay, "response") == 0
        relay.step("response")
        assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == 1
        await still()
        assert frames_read(relay, "response") == 1
        relay.resume()
        for number in (2, 3, 4):
            assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == number
        writer.close()


async def test_a_connection_may_be_paused_before_it_is_there() -> None:
    ca = trustme.CA()
    trusting = ssl.create_default_context()
    ca.configure_trust(trusting)

    async with running(echo_metadata, tls=Tls(client=minted(ca))) as it:
        host, port = it.proxy.address
        with socket.create_connection((host, port)) as sock:
            await it.until(lambda: it.proxy.relays)
            (relay,) = it.proxy.relays.values()
            relay.pause()  # while it waits for the client's part of the handshake
            reader, writer = await asyncio.open_connection(
                sock=sock.dup(), ssl=trusting, server_hostname="localhost"
            )
        writer.write(request("Metadata", 1))
        await it.until(lambda: relay.client.open)
        await still()
        assert frames_read(relay, "request") == 0
        relay.resume()
        assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == 1
        writer.close()


async def test_a_step_waits_for_a_frame_that_has_not_come_and_is_over_then() -> None:
    async with running(echo_metadata) as it:
        reader, writer = await it.connect()
        relay = await paused(it)
        relay.step("request")
        relay.step("request")
        await still()
        writer.write(request("Metadata", 1)[:9])
        await still()
        writer.write(request("Metadata", 1)[9:] + request("Metadata", 2))
        await it.until(lambda: frames_read(relay, "request") == 1)
        await still()
        assert frames_read(relay, "request") == 1
        relay.step("response")
        assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == 1
        relay.resume()
        assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == 2
        writer.close()


async def test_a_frame_much_larger_than_the_buffer_goes_through_in_one_step() -> None:
    async with running(echo_metadata, observed=False) as it:
        reader, writer = await it.connect()
        relay = await paused(it)
        large = raw(request("Heartbeat", 1, group_id="g")[4:] + bytes(3_000_000))
        writer.write(large + request("Metadata", 2))
        relay.step("request")
        ingress = relay.connection.state.ingress["request"]
        await it.until(lambda: ingress.frames == 1 and ingress.between)
        await still()
        assert frames_read(relay, "request") == 1
        relay.resume()
        for number in (1, 2):
            assert (await asyncio.wait_for(read_frame(reader), SOON))[3] == number
        writer.close()
