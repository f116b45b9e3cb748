"""Options of the proxy that, each fine by itself, would cost a file or run in a circle."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from barnabas.captures.host_port import endpoint_text
from barnabas.peers.ownership import is_loopback
from barnabas.proxy.edits.topology import Address
from barnabas.trouble import Trouble


def refuse_overwriting(written: Mapping[str, Path | None], read: Mapping[str, Path | None]) -> None:
    """Raise Trouble if a file that is written is another one's, too. Both by their options."""
    for option, path in written.items():
        for other, taken in {**read, **written}.items():
            if option != other and path is not None and taken is not None and _same(path, taken):
                raise Trouble(
                    f"{option} {path} would overwrite the file of {other}: choose another"
                )


def refuse_circle(listen: Address, servers: Sequence[Address]) -> None:
    """Raise Trouble if the proxy would connect to itself."""
    host, port = listen
    for server, its_port in servers:
        if port == its_port and _listens(host, server):
            raise Trouble(
                f"--listen {endpoint_text(listen)} is the --bootstrap-server, too: the proxy would connect"
                " to itself; choose another --listen"
            )


def _listens(host: str, server: str) -> bool:
    """Whether who listens at `host` is who answers at `server`, on the same port."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared
        return is_loopback(server)
    return host == server or {host, server} == {"localhost", "127.0.0.1"}


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
