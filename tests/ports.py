"""Ports that the machine gives to nobody else while a test uses them.

The system gives ports of its ephemeral range to outgoing connections, so a free port from there may be
taken at any moment. Each process of the tests has a block of ports below that range for itself.
"""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

HOST: Final = "127.0.0.1"

FIRST: Final = 20_000
"""The first port of the first block."""

BLOCK: Final = 200
"""Ports of a block."""


def free_port() -> int:
    """Return a port on which nobody listens."""
    return free_ports(1)[0]


def free_ports(count: int) -> range:
    """Return consecutive ports on which nobody listens, each time others."""
    if not count:
        return range(0)
    ports = _block()
    for _ in range(BLOCK):
        row = list(itertools.islice(ports, count))
        if row[-1] == row[0] + count - 1 and all(map(_free, row)):
            return range(row[0], row[-1] + 1)
    raise RuntimeError(f"no {count} consecutive ports are free")


def ephemeral_start() -> int:
    """Return the first port that the system gives to outgoing connections."""
    setting = Path("/proc/sys/net/ipv4/ip_local_port_range")
    return int(setting.read_text().split()[0]) if setting.exists() else 49_152


@cache
def _block() -> Iterator[int]:
    """Reserve a block by listening on its first port; return the others, over and over."""
    for first in range(FIRST, ephemeral_start() - BLOCK + 1, BLOCK):
        with suppress(OSError):  # another process has it
            socket.create_server((HOST, first)).detach()  # open until this process ends
            return itertools.cycle(range(first + 1, first + BLOCK))
    raise RuntimeError(f"no block of ports is free from {FIRST} to {ephemeral_start()}")


def _free(port: int) -> bool:
    """Return whether nobody listens on a port, and no connection to it is in TIME_WAIT."""
    with socket.socket() as sock, suppress(OSError):
        sock.bind((HOST, port))  # without SO_REUSEADDR
        return True
    return False
