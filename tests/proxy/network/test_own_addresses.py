"""A broker that advertises an address of the proxy's own is not reached there; others are served."""

from __future__ import annotations

import asyncio
import socket
from functools import partial

import pytest

from barnabas.proxy.network import acceptor
from barnabas.proxy.network.sockets import listen
from tests.ports import free_ports
from tests.proxy.frames import request
from tests.proxy.servers import Brokers, Running, ask, echo_metadata, ends, running
from tests.proxy.toxiproxy.desk import body, new_store


def lines(it: Running, text: str) -> list[str]:
    return [line for line in it.said if text in line]


HERE = "a listener of this proxy"
LEFT = "the proxy leaves that port of --broker-ports free"


@pytest.mark.parametrize(
    ("host", "advertise"),
    [
        ("127.0.0.1", None),
        ("localhost", None),
        ("LocalHost", None),
        ("0.0.0.0", None),
        ("::ffff:127.0.0.1", None),
        ("127.1", None),  # which only a resolver reads
        ("kafka.test", "kafka.test"),
    ],
)
async def test_a_listener_of_the_proxy_is_no_brokers_address(
    host: str, advertise: str | None
) -> None:
    ports = free_ports(8)
    brokers = {1: (host, ports[2]), 2: (host, ports[1])}  # that of 1 is listened at for 1
    async with running(
        partial(echo_metadata, brokers=brokers), broker_ports=ports, advertise=advertise
    ) as it:
        told = await it.metadata()
        if host != "127.1":
            assert told == {1: ports[1], 2: ports[7]}, "of what is expected nothing is taken"
            assert lines(it, LEFT) == lines(it, "broker 1 advertises")
        for _ in range(3):
            await ends(told[2])
        (line,) = lines(it, HERE)
        assert line.startswith(f"broker 2 advertises {host if ':' not in host else '['}"), line
        assert await it.metadata() == told, "others are served"
        assert it.proxy.totals.connections == 5
        assert it.proxy.totals.unreachable == 3


async def test_a_broker_that_moves_to_a_listener_of_the_proxy_is_turned_from_until_it_moves_on() -> (
    None
):
    brokers: Brokers = {1: ("127.0.0.1", 1)}
    async with running(partial(echo_metadata, brokers=brokers)) as it:
        told = await it.metadata()
        brokers[1] = ("localhost", told[1])
        assert await it.metadata() == told
        await ends(told[1])
        await ends(told[1])
        assert len(lines(it, HERE)) == 1
        brokers[1] = it.proxy.options.bootstrap[0][0], it.proxy.options.bootstrap[0][1]
        assert await it.metadata() == told
        assert (await ask(told[1], request("Metadata", 7)))[:4] == b"\0\0\0\x07"


async def test_the_system_does_not_choose_the_port_of_a_broker_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected, free = free_ports(2)
    chosen = iter([expected, expected, free])

    def chosen_there(address: tuple[str, int]) -> socket.socket:
        return listen((address[0], address[1] or next(chosen)))

    async with running(partial(echo_metadata, brokers={1: ("127.0.0.1", expected)})) as it:
        monkeypatch.setattr(acceptor, "listen", chosen_there)
        assert await it.metadata() == {1: free}


async def test_an_upstream_that_leads_back_to_its_proxy_is_not_reached() -> None:
    """The proxies are of toxiproxy's API, which takes any addresses."""
    said: list[str] = []
    store = new_store(said)
    one, two = free_ports(2)
    at = {one: f"127.0.0.1:{one}", two: f"localhost:{two}"}
    await store.create(body(name="one", listen=at[one], upstream=at[two]))
    await ends(one)  # nobody listens there yet
    await store.create(body(name="two", listen=at[two], upstream=at[one]))
    for port in (one, two, one):
        await ends(port)
    assert sum("leads back to this proxy" in line for line in said) == 2
    server = await asyncio.start_server(partial(echo_metadata, brokers={}), "127.0.0.1", 0)
    real = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    await store.update("two", body(upstream=real))
    assert (await ask(one, request("Metadata", 7)))[:4] == b"\0\0\0\x07"
    await store.end()
    server.close()
