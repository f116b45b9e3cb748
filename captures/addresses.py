"""Hosts and ports as people write them, taken apart for all that read addresses."""

from __future__ import annotations


def host_in(text: str) -> str:
    """A host, without the brackets of IPv6; empty if that is none.

    >>> host_in("kafka"), host_in("[::1]"), host_in("[::1"), host_in("-")
    ('kafka', '::1', '', '')
    """
    host = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return "" if host.startswith(("-", "[")) or "]" in host else host


def port_in(text: str) -> int | None:
    r"""A port, or 0, in the digits of ASCII; None if that is none.

    >>> port_in("9092"), port_in("65536"), port_in("\u0669")
    (9092, None, None)
    """
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else 1 << 16
    return number if number < 1 << 16 else None


def address_in(text: str) -> tuple[str, int] | None:
    """HOST:PORT, but for port 0; None if that is none.

    >>> address_in("[::1]:9"), address_in("[::1:9"), address_in("a:0")
    (('::1', 9), None, None)
    """
    host, _, port = text.rpartition(":")
    found = host_in(host), port_in(port)
    return (found[0], found[1]) if found[0] and found[1] else None
