"""Reads and shows addresses like Go's package net, whose words are in errors.

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
    """Go's error about an address."""


def split(text: str) -> tuple[str, str]:
    """Return host and port.

    Raises:
        AddressError: The text is not a valid address.

    >>> split("[::1]:9"), split(":9")
    (('::1', '9'), ('', '9'))
    >>> split("a:b:9")
    Traceback (most recent call last):
    barnabas.proxy.toxiproxy.addresses.AddressError: address a:b:9: too many colons in address
    """
    host, colon, port = text.rpartition(":")
    reason = ""
    if not colon:
        reason = "missing port in address"
    elif text.startswith("["):
        host, bracket, rest = text[1:].partition("]")
        port = rest[1:]
        if not bracket:
            reason = "missing ']' in address"
        elif rest[:1] != ":":
            reason = "missing port in address"
        elif ":" in port:
            reason = "too many colons in address"
    elif ":" in host:
        reason = "too many colons in address"
    if not reason:
        reason = _brackets(host + port)
    if reason:
        raise AddressError(f"address {text}: {reason}")
    return host, port


def _brackets(text: str) -> str:
    return next((f"unexpected '{each}' in address" for each in "[]" if each in text), "")


async def resolve(text: str) -> Address:
    """Return the address to listen on for a text; all addresses include IPv6, if the system has it.

    Raises:
        AddressError: The text is not a valid address.
    """
    if not text:
        return _wildcard(), 0
    host, port = split(text)
    number = _port(port)
    if host in ("", *EVERYWHERE):
        return _wildcard(), number
    try:
        loop = asyncio.get_running_loop()
        entries = await loop.getaddrinfo(host, number, type=socket.SOCK_STREAM)
    except (OSError, ValueError):
        raise AddressError(f"lookup {host}: no such host") from None
    entries.sort(key=lambda each: each[0] != socket.AF_INET)  # as Go does
    return address_of(entries[0][4])


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
    """Return an address as the API shows it.

    >>> shown(("::", 80)), shown(("", 0))
    ('[::]:80', ':0')
    """
    return endpoint_text(address)
