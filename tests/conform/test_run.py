"""A run of checks on a broker that crashes: a small one on loopback, which can be restarted."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path

from barnabas.captures.capture import open_capture
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.conform.broker import Broker
from barnabas.conform.check import Check, check
from barnabas.conform.network import Network
from barnabas.conform.run import Suite
from barnabas.conform.traffic import Traffic
from barnabas.conform.verdicts import Verdict
from barnabas.specs.frames import Frame, encode_frame, request_head
from barnabas.specs.registry import api

APIVERSIONS, HEARTBEAT, METADATA = (
    api(name).key for name in ("ApiVersions", "Heartbeat", "Metadata")
)
VERSIONS = [
    {"api_key": key, "min_version": 0, "max_version": 0}
    for key in (APIVERSIONS, HEARTBEAT, METADATA)
]


INVALID_SIZE = b"\x7f\xff\xff\xff"


class FragileBroker:
    """Ends at each Heartbeat. Until it has ended once, it does not answer Metadata.

    It answers an empty frame with an invalid size.
    """

    def __init__(self) -> None:
        self.address = ("127.0.0.1", 0)
        self.restarts = 0
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._waiting = asyncio.Event()
        """A Metadata request has arrived."""

    async def start(self) -> None:
        """Listen, on the same port as before."""
        self._server = await asyncio.start_server(self._serve, *self.address)
        self.address = self._server.sockets[0].getsockname()[:2]

    async def restart(self) -> None:
        """Listen again."""
        self.restarts += 1
        await self.start()

    def stop(self) -> None:
        """Close the listener and all connections."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                (size,) = struct.unpack(">i", await reader.readexactly(4))
                if not size:
                    writer.write(INVALID_SIZE)
                    continue
                data = await reader.readexactly(size)
                head = request_head(data, 0, size)
                if head.key == HEARTBEAT:
                    await self._waiting.wait()
                    self.stop()
                if head.key == METADATA and not self.restarts:
                    self._waiting.set()
                    continue
                body = {"api_keys": VERSIONS} if head.key == APIVERSIONS else {}
                header = {"correlation_id": head.correlation_id}
                frame = Frame("response", head.key, head.version, header, body)
                writer.write(encode_frame(frame))
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            self._writers.discard(writer)
            writer.transport.abort()


@check("crash/cause", "none", needs={"Heartbeat": 0})
async def cause(broker: Broker) -> None:
    """A Heartbeat is answered."""
    await broker.send("Heartbeat", 0)


@check("crash/bystander", "none", needs={"Metadata": 0})
async def bystander(broker: Broker) -> None:
    """A Metadata request is answered."""
    await broker.send("Metadata", 0)


async def verdicts(
    restart: bool, *checks: Check, capture: Traffic | None = None
) -> tuple[dict[str, Verdict], FragileBroker]:
    broker = FragileBroker()
    await broker.start()
    suite = Suite(
        lambda check: Network(
            broker.address, traffic=None if capture is None else capture.of(check)
        ),
        restart=broker.restart if restart else None,
    )
    found = {verdict.check: verdict async for verdict in suite.run(checks)}
    broker.stop()
    return found, broker


def test_the_check_that_crashes_the_broker_fails_and_its_bystander_is_run_again() -> None:
    found, broker = asyncio.run(verdicts(True, cause, bystander))
    assert found["crash/cause"].outcome == "fail"
    assert found["crash/cause"].reason.endswith("the broker went down")
    assert found["crash/bystander"].outcome == "pass"
    assert broker.restarts == 2


def test_without_a_restart_neither_is_blamed_and_the_rest_is_not_carried_out() -> None:
    later = check("crash/later", "none", needs={"Metadata": 0}, alone=True)(bystander.run)
    found, _ = asyncio.run(verdicts(False, cause, bystander, later))
    for name in ("crash/cause", "crash/bystander"):
        assert found[name].outcome == "error"
        assert "while 2 checks ran" in found[name].reason
    assert found["crash/later"].outcome == "error"
    assert "give --restart COMMAND" in found["crash/later"].reason


@check("size/close", "none")
async def close(broker: Broker) -> None:
    """The broker closes the connection after an empty frame."""
    await broker.main.raw(bytes(4))
    await broker.main.expect_closed()


def test_an_invalid_size_is_not_a_closed_connection() -> None:
    found, _ = asyncio.run(verdicts(True, close))
    assert found["size/close"].outcome == "fail"
    assert "received 2,147,483,647" in found["size/close"].reason


@check("elsewhere/connects", "none")
async def connects(broker: Broker) -> None:
    """Another broker can be reached."""
    await broker.connect(("192.0.2.1", 9092))


def test_an_advertised_address_of_another_machine_is_not_used() -> None:
    found, _ = asyncio.run(verdicts(True, connects))
    assert found["elsewhere/connects"].outcome == "error"
    assert (
        "the broker advertises 192.0.2.1:9092, which is not" in found["elsewhere/connects"].reason
    )


@check("frames/fails", "none", needs={"ApiVersions": 0})
async def fails(broker: Broker) -> None:
    """ApiVersions gets an error, which the broker does not send."""
    (await broker.send("ApiVersions", 0)).expect(error_code="UNSUPPORTED_VERSION")


def test_a_failure_has_the_packets_of_its_frames(tmp_path: Path) -> None:
    path = tmp_path / "run.pcapng"
    ticks = iter(range(1_000_000, 2_000_000_000, 1_000_000))
    with CaptureWriter(path, limit=None, meta={}) as writer:
        traffic = Traffic(writer, lambda: next(ticks))
        found, _ = asyncio.run(verdicts(True, fails, capture=traffic))
    request, response = found["frames/fails"].packets
    exchanges = open_capture(path).exchanges()
    failed = [each for each in exchanges if each.request_packet == request]
    assert [each.response_packet for each in failed] == [response]
