"""The proxy with real sockets, between clients and brokers that behave badly."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.loop import run
from barnabas.proxy.connection.actions import Departure, Done, Finish, Send
from barnabas.proxy.network.endpoint import Endpoint
from barnabas.proxy.network.relay import Relay
from tests.places import ROOT
from tests.proxy.frames import request
from tests.proxy.servers import SOON, echo_metadata, reset_on_close, running


@pytest.mark.parametrize("how", ["close", "half-close", "reset"])
def test_however_clients_go_nothing_stays_behind(how: str) -> None:
    """A process of its own counts its descriptors; threads of other tests would open theirs."""
    code = f"from tests.proxy.network.test_relay import clients_go; clients_go({how!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=6 * SOON, check=True)


def clients_go(how: str) -> None:
    """Clients come and go in this way, and with them their sockets, relays and tasks."""

    async def main() -> None:
        async with running(echo_metadata, observed=False) as it:
            await it.metadata()
            await it.until(lambda: not it.proxy.relays)
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
                        reset_on_close(writer)
                        writer.transport.abort()
                    else:
                        writer.close()
                for reader, writer in clients:
                    if how == "half-close":
                        assert await asyncio.wait_for(reader.read(), SOON) == b""
                        writer.close()
            await it.until(lambda: not it.proxy.relays)
            await it.until(lambda: len(asyncio.all_tasks()) <= before[1])
            await it.until(lambda: len(os.listdir("/proc/self/fd")) <= before[0])

    run(main())


def test_what_ends_a_direction_comes_last() -> None:
    """Or it would close the connection before what was decided with it is sent and in the capture."""
    order: list[str] = []

    class Told(Relay):
        def __init__(self) -> None:
            transport = SimpleNamespace(write=lambda data: order.append(f"sent {data!r}"))
            self.client = self.broker = cast(Any, SimpleNamespace(open=True, transport=transport))
            self.flow = cast(Any, SimpleNamespace(left=lambda *what: order.append("captured")))
            done = lambda exchange: order.append("done")  # noqa: E731
            self.hooks = cast(Any, SimpleNamespace(done=done, ready=lambda: None))

        def _half_close(self, side: Endpoint) -> None:
            order.append("finished")

    exchange = Exchange(0, 1, "c", None, None, 3, 1, 7, 20)
    left = Departure("response", b"x", {"frame": 0}, 3, 1)
    Told().perform([Finish("request"), Send("response", b"x"), left, Done(exchange)], 5)
    assert order == ["sent b'x'", "captured", "done", "finished"]
    assert exchange.ended == 5
