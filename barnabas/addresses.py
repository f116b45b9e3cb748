"""Addresses and port ranges as people write them on a command line.

A user's test process imports this module: what takes time to load is imported where it is needed.
"""

from __future__ import annotations

from typing import Final

from barnabas.trouble import Trouble

LONGEST: Final = 80
"""Characters of what was written that an error repeats."""


def parse_address(
    text: str, *, default_port: int | None = None, zero: bool = False
) -> tuple[str, int]:
    """A HOST:PORT. Raises Trouble, saying what is expected. `zero` allows port 0.

    >>> parse_address("localhost:9092"), parse_address("[::1]:9092")
    (('localhost', 9092), ('::1', 9092))
    """
    from barnabas.captures.host_port import host_in, port_in

    host, colon, port = text.rpartition(":")
    if (not colon or (":" in host and not host.startswith("["))) and default_port is not None:
        host, port = text, str(default_port)
    host = host_in(host)
    number, shown = port_in(port), _shown(text)
    if not host or number is None or not (number or zero):
        raise Trouble(f"{shown!r} is no address: HOST:PORT is expected, e.g. localhost:9092")
    problem = _problem(host, number or 1)
    if problem:
        raise Trouble(f"{shown!r} is no address: {problem}")
    return host, number


def _problem(host: str, port: int) -> str:
    """Why nobody can have such an address; empty if somebody may."""
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
    """A host without a port. Raises Trouble, naming the option.

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
    """A list of addresses with commas between them, as in bootstrap.servers; the port may be left out.

    `zero` allows port 0.

    >>> parse_servers("a:1, b")
    [('a', 1), ('b', 9092)]
    """
    found = [
        parse_address(part.strip(), default_port=9092, zero=zero)
        for part in text.split(",")
        if part.strip()
    ]
    if not found:
        raise Trouble("no bootstrap server: HOST:PORT is expected, e.g. localhost:9092")
    return found


def parse_ports(text: str) -> range:
    """A range of ports, both ends included.

    >>> parse_ports("9093-9192")
    range(9093, 9193)
    """
    from barnabas.captures.host_port import port_in

    first, dash, last = text.partition("-")
    last = last if dash else first
    low, high = port_in(first), port_in(last)
    if low and high and low <= high:
        return range(low, high + 1)
    raise Trouble(f"{_shown(text)!r} is no range of ports: FIRST-LAST is expected, e.g. 9093-9192")
