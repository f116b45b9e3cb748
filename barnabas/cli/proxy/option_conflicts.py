"""Checks of options that conflict with each other.

Together they would overwrite a file, or make the proxy connect to itself.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from barnabas.captures.host_port import endpoint_text
from barnabas.proxy.edits.topology import Address, same
from barnabas.proxy.network.sockets import address_of
from barnabas.proxy.network.this_machine import stands_at
from barnabas.trouble import Trouble


def refuse_overwriting(written: Mapping[str, Path | None], read: Mapping[str, Path | None]) -> None:
    """Raise Trouble if a file that is written is named by another option, too.

    written, read: The files by option.
    """
    for option, path in written.items():
        for other, taken in {**read, **written}.items():
            if option != other and path is not None and taken is not None and _same(path, taken):
                raise Trouble(
                    f"{option} {path} would overwrite the file of {other}: choose another"
                )


def refuse_circle(
    listen: Address, servers: Sequence[Address], advertise: str | None = None
) -> None:
    """Raise Trouble if the proxy would connect to itself, under any name.

    advertise: The host of `--advertise`.
    """
    for server in servers:
        advertised = advertise is not None and same((advertise, listen[1]), server)
        if advertised or any(stands_at(listen, each) for each in _numeric(server, listen[1])):
            raise Trouble(
                f"--listen {endpoint_text(listen)} is the --bootstrap-server, too: the proxy would connect"
                " to itself; choose another --listen"
            )


def _numeric(server: Address, port: int) -> list[Address]:
    """Return an address and those that its name resolves to.

    The list is empty for another port, whose name is not resolved.
    """
    if server[1] != port:
        return []
    try:
        resolved = socket.getaddrinfo(*server, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # the name may resolve later
        resolved = []
    return [server, *(address_of(sockaddr) for *_, sockaddr in resolved)]


def _same(path: Path, other: Path) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)
