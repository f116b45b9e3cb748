"""Addresses as Go's package net reads and shows them: its words are in errors.

https://pkg.go.dev/net#SplitHostPort
"""

from __future__ import annotations

import asyncio
import re
import socket
from typing import Final

from barnabas.captures.host_port import endpoint_text
from barnabas.proxy.edits.topology import EVERYWHERE, Address
from barnabas.proxy.network.sockets import address_of

_NUMBER: Final = re.compile("[+-]?[0-9]+")


class AddressError(ValueError):
    """What Go says of an address."""


def split(text: str) -> tuple[str, str]:
    """Host and port. Raises AddressError.

    >>> split("[::1]:9"), split(":9")
    (('::1', '9'), ('', '9'))
    >>> split("a:b:9")
    Traceback (most recent call last):
    barnabas.proxy.toxiproxy.addresses.AddressError: address a:b:9: too many colons in address
    """
    host, colon, port = text.rpartition(":")
    why = ""
    if not colon:
        why = "missing port in address"
    elif text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        port = rest[1:]
        if not bracket:
            why = "missing ']' in address"
        elif rest[:1] != ":":
            why = "missing port in address"
        elif ":" in port:
            why = "too many colons in address"
    elif ":" in host:
        why = "too many colons in address"
    if not why:
        why = _brackets(host + port)
    if why:
        raise AddressError(f"address {text}: {why}")
    return host, port


def _brackets(text: str) -> str:
    return next((f"unexpected '{each}' in address" for each in "[]" if each in text), "")


async def resolve(text: str) -> Address:
    """Where a text means to listen; all addresses are those of IPv6, too, where there is such.

    Raises AddressError.
    """
    if not text:
        return _wildcard(), 0
    host, port = split(text)
    number = _port(port)
    if host in ("", *EVERYWHERE):
        return _wildcard(), number
    try:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, number, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        raise AddressError(f"lookup {host}: no such host") from None
    found.sort(key=lambda each: each[0] != socket.AF_INET)  # as Go does
    return address_of(found[0][4])


def _port(text: str) -> int:
    if text and not _NUMBER.fullmatch(text):
        try:
            return socket.getservbyname(text, "tcp")
        except (OSError, ValueError):
            raise AddressError(f"lookup tcp/{text}: unknown port") from None
    number = int(text or 0) if len(text) < 9 else 1 << 16
    if not 0 <= number < 1 << 16:
        raise AddressError(f"address {text}: invalid port")
    return number


def _wildcard() -> str:
    return "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104 - as it was asked for


def shown(address: Address) -> str:
    """An address in the API.

    >>> shown(("::", 80)), shown(("", 0))
    ('[::]:80', ':0')
    """
    return endpoint_text(address)
