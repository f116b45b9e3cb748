"""Addresses and port ranges as people write them on a command line."""

from __future__ import annotations

from barnabas.trouble import Trouble


def parse_address(
    text: str, *, default_port: int | None = None, zero: bool = False
) -> tuple[str, int]:
    """A HOST:PORT. Raises Trouble, saying what is expected. `zero` allows port 0.

    >>> parse_address("localhost:9092"), parse_address("[::1]:9092")
    (('localhost', 9092), ('::1', 9092))
    """
    host, colon, port = text.rpartition(":")
    if (not colon or (":" in host and not host.startswith("["))) and default_port is not None:
        host, port = text, str(default_port)
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not (0 if zero else 1) <= int(port) <= 65535:
        raise Trouble(f"{text!r} is no address: HOST:PORT is expected, e.g. localhost:9092")
    return host, int(port)


def parse_host(text: str, option: str) -> str:
    """A host without a port. Raises Trouble, naming the option.

    >>> parse_host("kafka.example.org", "--advertise"), parse_host("[::1]", "--advertise")
    ('kafka.example.org', '::1')
    """
    host = text.removeprefix("[").removesuffix("]")
    if (
        not host
        or "/" in host
        or host.isspace()
        or (":" in host and ":" not in host.replace(":", "", 1))
    ):
        raise Trouble(f"{option} {text!r}: a host without a port is expected, e.g. localhost")
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
    first, dash, last = text.partition("-")
    last = last if dash else first
    if first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= 65535:
        return range(int(first), int(last) + 1)
    raise Trouble(f"{text!r} is no range of ports: FIRST-LAST is expected, e.g. 9093-9192")


def format_address(address: tuple[str, int]) -> str:
    """HOST:PORT, with brackets around an IPv6 host.

    >>> format_address(("::1", 9092))
    '[::1]:9092'
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
