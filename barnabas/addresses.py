"""Parsers of addresses and port ranges as users write them on a command line.

Users' test processes import this module: slow imports happen inside functions.
"""

from __future__ import annotations

import re
from typing import Final

from barnabas.trouble import Trouble

LONGEST: Final = 80
"""The most characters of the user's text in an error message."""


def parse_address(
    text: str, *, default_port: int | None = None, zero: bool = False
) -> tuple[str, int]:
    """Parse HOST:PORT. Raises Trouble. zero: Whether port 0 is allowed.

    >>> parse_address("localhost:9092"), parse_address("[::1]:9092")
    (('localhost', 9092), ('::1', 9092))
    """
    from barnabas.captures.host_port import host_in, port_in

    quoted = _shown(text)
    # a port after it could be a part of it
    if re.fullmatch(r"[\da-f]*:[\da-f]*:[^]]*", text, re.IGNORECASE):
        raise Trouble(f"{quoted!r} is not an address: write IPv6 in brackets, e.g. [::1]:9092")
    host, colon, port = text.rpartition(":")
    if (not colon or text.endswith("]")) and default_port is not None:
        host, port = text, str(default_port)
    host = host_in(host)
    number = port_in(port)
    if not host or number is None or not (number or zero):
        raise Trouble(f"{quoted!r} is not an address: expected HOST:PORT, e.g. localhost:9092")
    problem = _problem(host, number or 1)
    if problem:
        raise Trouble(f"{quoted!r} is not an address: {problem}")
    return host, number


def _problem(host: str, port: int) -> str:
    """Return why an address is impossible; empty if it is possible."""
    from barnabas.captures.host_port import possible

    try:
        possible((host, port))
    except OSError as problem:
        return str(problem)
    return ""


def _shown(text: str) -> str:
    from barnabas.captures.kafka.wording import shorten

    return shorten(text, LONGEST)


def parse_host(text: str, option: str) -> str:
    """Parse a host without a port. Raises Trouble, naming the option.

    >>> parse_host("kafka.example.org", "--advertise"), parse_host("[::1]", "--advertise")
    ('kafka.example.org', '::1')
    """
    from barnabas.captures.host_port import host_in

    host = host_in(text)
    if (
        not host
        or "/" in host
        or host.isspace()
        or (":" in host and ":" not in host.replace(":", "", 1))
    ):
        raise Trouble(
            f"{option} {_shown(text)!r}: a host without a port is expected, e.g. localhost"
        )
    problem = _problem(host, 1)
    if problem:
        raise Trouble(f"{option} {_shown(text)!r}: {problem}")
    return host


def parse_servers(text: str, *, zero: bool = False) -> list[tuple[str, int]]:
    """Parse addresses with commas between them, as in bootstrap.servers; the default port is 9092.

    Raises Trouble. zero: Whether port 0 is allowed.

    >>> parse_servers("a:1, b")
    [('a', 1), ('b', 9092)]
    """
    addresses = [
        parse_address(part.strip(), default_port=9092, zero=zero)
        for part in text.split(",")
        if part.strip()
    ]
    if not addresses:
        raise Trouble("no bootstrap server: expected HOST:PORT, e.g. localhost:9092")
    return addresses


def parse_ports(text: str) -> range:
    """Parse a range of ports, which includes both ends. Raises Trouble.

    >>> parse_ports("9093-9192")
    range(9093, 9193)
    """
    from barnabas.captures.host_port import port_in

    first, dash, last = text.partition("-")
    last = last if dash else first
    low, high = port_in(first), port_in(last)
    if low and high and low <= high:
        return range(low, high + 1)
    raise Trouble(f"{_shown(text)!r} is not a range of ports: expected FIRST-LAST, e.g. 9093-9192")
