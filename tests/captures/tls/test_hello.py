"""The hellos: random, version and suite; and bytes that are none."""

from __future__ import annotations

import pytest

from barnabas.captures.tls.hello import NoHello, client_random, server_hello

RANDOM = bytes(range(32))


def hello(extensions: bytes = b"", session: bytes = b"", random: bytes = RANDOM) -> bytes:
    body = b"\3\3" + random + bytes([len(session)]) + session + b"\xc0\x2f\0"
    if extensions:
        body += len(extensions).to_bytes(2) + extensions
    return b"\2" + len(body).to_bytes(3) + body


def test_a_server_of_tls_1_2() -> None:
    for message in (hello(), hello(session=b"s" * 32), hello(b"\xff\1\0\1\0")):
        found = server_hello(message)
        assert (found.random, found.version, found.suite) == (RANDOM, 0x0303, 0xC02F)


def test_a_server_of_tls_1_3_says_so_in_an_extension() -> None:
    assert server_hello(hello(b"\0\x33\0\2ab\0\x2b\0\2\3\4", b"s" * 32)).version == 0x0304


def test_a_client() -> None:
    assert client_random(b"\1" + hello()[1:]) == RANDOM


@pytest.mark.parametrize("cut", [0, 3, 10, 38, 40, 44, 46])
def test_what_is_cut_short(cut: int) -> None:
    with pytest.raises(NoHello):
        server_hello(hello(b"\0\x2b\0\2\3\4", b"s")[:cut])


def test_what_is_something_else() -> None:
    for message in (b"", b"\1" + hello()[1:], hello(b"\0\x2b\0\1\3"), b"\2" + bytes(3)):
        with pytest.raises(NoHello):
            server_hello(message)
    for message in (b"", hello(), b"\1" + bytes(20)):
        with pytest.raises(NoHello):
            client_random(message)
