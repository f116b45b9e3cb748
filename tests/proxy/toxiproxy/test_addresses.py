"""Addresses as Go reads them. What Go says was taken from toxiproxy's own server."""

from __future__ import annotations

import socket

import pytest

from barnabas.loop import run
from barnabas.proxy.edits.topology import Address
from barnabas.proxy.toxiproxy.addresses import AddressError, resolve, split


@pytest.mark.parametrize(("text", "said"), [
    ("local", "address local: missing port in address"),
    ("1:2:3", "address 1:2:3: too many colons in address"),
    ("::1:1", "address ::1:1: too many colons in address"),
    ("[::1:1", "address [::1:1: missing ']' in address"),
    ("[::1]x:1", "address [::1]x:1: missing port in address"),
    ("[::1]", "address [::1]: missing port in address"),
    ("[", "address [: missing port in address"),
    ("a]:1", "address a]:1: unexpected ']' in address"),
])  # fmt: skip
def test_what_is_no_address(text: str, said: str) -> None:
    with pytest.raises(AddressError) as found:
        split(text)
    assert str(found.value) == said


def resolved(text: str) -> Address:
    async def main() -> Address:
        return await resolve(text)

    return run(main())


@pytest.mark.parametrize(("text", "said"), [
    ("127.0.0.1:99999", "address 99999: invalid port"),
    ("127.0.0.1:-1", "address -1: invalid port"),
    ("127.0.0.1:abc", "lookup tcp/abc: unknown port"),
    ("127.0.0.1:+-1", "lookup tcp/+-1: unknown port"),
    ("127.0.0.1:\0", "lookup tcp/\0: unknown port"),
    ("a\0b:1", "lookup a\0b: no such host"),
    ("nohost.invalid:1", "lookup nohost.invalid: no such host"),
    (f"{'a' * 300}.b:1", f"lookup {'a' * 300}.b: no such host"),
])  # fmt: skip
def test_what_nobody_can_listen_at(text: str, said: str) -> None:
    with pytest.raises(AddressError) as found:
        resolved(text)
    assert str(found.value) == said


def test_where_it_is_to_listen() -> None:
    everywhere = "::" if socket.has_dualstack_ipv6() else "0.0.0.0"
    assert resolved("localhost:1") == ("127.0.0.1", 1)
    assert resolved("127.0.0.1:") == ("127.0.0.1", 0)
    assert resolved("") == (everywhere, 0)
    assert resolved(":8") == resolved("0.0.0.0:8") == (everywhere, 8)
