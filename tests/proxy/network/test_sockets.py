"""Sockets: names that nobody has, ports that are none, IPv4 on IPv6, scopes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from barnabas.loop import run
from barnabas.proxy.network import sockets
from barnabas.proxy.network.sockets import address_of, dial, listen
from tests.ports import free_ports

LOOPS = pytest.mark.parametrize("runner", [run, asyncio.run], ids=["uvloop", "asyncio"])

NOBODYS = [
    ("x" * 255, 9092),
    ("a..b", 9092),
    (".a", 9092),
    ("xn--zz\u0378", 9092),
    ("real-\ufffd", 9092),
    ("a\0b", 9092),
    ("", 9092),
    ("fe80::1%nowhere", 9092),
    ("127.0.0.1", 0),
    ("127.0.0.1", -1),
    ("127.0.0.1", 1 << 16),
    ("127.0.0.1", -(1 << 31)),
]
"""What a response may name as a broker's address, and a person, too."""


@LOOPS
@pytest.mark.parametrize("address", NOBODYS)
async def test_an_address_that_nobody_has_can_not_be_reached(
    address: tuple[str, int], runner: Callable[[Any], None]
) -> None:
    with pytest.raises(OSError):
        await dial([address], 10.0)


async def test_a_port_is_not_taken_for_the_one_that_it_is_modulo_65536() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        port = there.getsockname()[1]
        with pytest.raises(OSError, match="is not a port"):
            await dial([("127.0.0.1", port + (1 << 16))], 10.0)


@LOOPS
async def test_a_socket_that_has_reached_itself_has_reached_nobody(
    monkeypatch: pytest.MonkeyPatch, runner: Callable[[Any], None]
) -> None:
    """Where nobody listens, the system may choose the very port as the one to come from."""
    connected = sockets._connected

    async def from_there(loop: Any, sock: socket.socket, address: tuple[Any, ...]) -> None:
        sock.bind(address)
        await connected(loop, sock, address)

    monkeypatch.setattr(sockets, "_connected", from_there)

    (port,) = free_ports(1)
    with pytest.raises(ConnectionRefusedError):
        await dial([("127.0.0.1", port)], 10.0)
    socket.create_server(("127.0.0.1", port)).close()


@pytest.mark.parametrize("address", [one for one in NOBODYS if one[0] and one[1]])
def test_nobody_listens_there(address: tuple[str, int]) -> None:
    with pytest.raises(OSError):
        listen(address)


SCOPE = socket.if_nameindex()[0]


@pytest.mark.parametrize(
    ("name", "address"),
    [
        (("127.0.0.2", 1), ("127.0.0.2", 1)),
        (("::1", 1, 0, 0), ("::1", 1)),
        (("::ffff:10.0.0.1", 1, 0, 0), ("10.0.0.1", 1)),
        (("::ffff:0:1", 1, 0, 0), ("::ffff:0:1", 1)),
        (("fe80::1", 1, 0, SCOPE[0]), (f"fe80::1%{SCOPE[1]}", 1)),
        (("fe80::1%there", 1, 0, SCOPE[0]), ("fe80::1%there", 1)),
        (("fe80::1", 1, 0, 1 << 20), ("fe80::1%1048576", 1)),
    ],
)
def test_what_a_socket_says_of_itself_is_an_address_to_connect_to(
    name: tuple[Any, ...], address: tuple[str, int]
) -> None:
    assert address_of(name) == address
