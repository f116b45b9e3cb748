"""Sockets: names that nobody has, ports that are none, IPv4 on IPv6, scopes, this machine's addresses."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import Any

import pytest

from barnabas.loop import run
from barnabas.proxy.network import sockets, this_machine
from barnabas.proxy.network.sockets import address_of, dial, listen
from barnabas.proxy.network.tcp_info import received
from barnabas.proxy.network.this_machine import is_local, stands_at
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
    """If nobody listens, the system may choose the dialled port as the source port."""
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


# which addresses lead to this machine, whatever can be bound on it


def outward() -> str:
    """Return an address of this machine by which it reaches others, if it has one. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("198.51.100.1", 9))
        except OSError:
            pytest.skip("this machine has no network")
        return str(probe.getsockname()[0])


def test_an_address_of_another_interface_is_one_of_this_machine() -> None:
    assert is_local(outward())
    assert is_local(socket.gethostname())
    assert stands_at(("0.0.0.0", 9), (outward(), 9))
    assert not stands_at(("127.0.0.1", 9), (outward(), 9))
    assert not stands_at(("0.0.0.0", 9), (outward(), 8))


@pytest.mark.parametrize(
    "host", ["240.0.0.2", "100::2", "b1.invalid", "fe80::1%nowhere", "", "a\0b"]
)
def test_an_address_of_nobody_is_not(host: str) -> None:
    assert not is_local(host)
    assert not stands_at(("::", 9), (host, 9))


def test_where_everything_can_be_bound_routes_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(this_machine, "_binds", lambda *_: True)
    assert is_local(outward())
    assert not is_local("240.0.0.2")


# bytes as the kernel counts them


def test_bytes_received_are_counted_read_or_not() -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux counts them")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
        with one, other:
            assert (received(one), received(other)) == (0, 0)
            one.sendall(bytes(1000))
            other.recv(1000, socket.MSG_WAITALL)
            one.sendall(bytes(500))
            other.recv(500, socket.MSG_WAITALL | socket.MSG_PEEK)
            assert (received(one), received(other)) == (0, 1500)
            one.shutdown(socket.SHUT_WR)
            assert len(other.recv(500, socket.MSG_WAITALL)) == 500
            assert other.recv(1) == b""
            assert (received(one), received(other)) == (0, 1501), "the end is one"
        assert received(other) == received(None) == 0, "closed"
