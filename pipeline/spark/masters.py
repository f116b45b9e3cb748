"""Where Spark runs: the meaning of a master's URL, and whether it is reachable."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from barnabas.pipeline.spark.errors import UnavailableError

CONNECT_PORT: Final = 15002
"""The default port of a Spark Connect server."""

PATIENCE: Final = 10.0
"""Seconds in which an address has to accept a connection."""

PLANNING: Final = 4
"""The tasks for which a driver without local tasks gets memory: it plans, and collects results."""

Kind = Literal["embedded", "cluster", "connect"]

_URL: Final = re.compile(r"(?P<scheme>spark|sc)://(?P<hosts>[^/;]+)")
_LOCAL_CLUSTER: Final = re.compile(r"local-cluster\[[1-9]\d*,[1-9]\d*,[1-9]\d*\]")
"""Workers, cores of each, MiB of each."""
_PORT: Final = re.compile(r"(?P<host>.+?):(?P<port>\d+)")


class Master(NamedTuple):
    """The place where Spark runs."""

    url: str
    kind: Kind
    addresses: tuple[tuple[str, int], ...] = ()
    """Hosts and ports, one of which has to accept connections; () if only Spark knows."""

    @property
    def is_local(self) -> bool:
        """Return whether Spark runs on this machine's loopback only."""
        if self.kind == "embedded" or self.local_cluster:
            return True
        return bool(self.addresses) and all(_loopback(host) for host, _ in self.addresses)

    @property
    def tasks(self) -> int:
        """Return the number of concurrent tasks in the driver's JVM, or PLANNING if tasks run elsewhere.

        >>> parse_master("local[2]").tasks, parse_master("local").tasks, parse_master("yarn").tasks
        (2, 1, 4)
        """
        if self.kind != "embedded":
            return PLANNING
        count = self.url.removeprefix("local").strip("[]")
        return (os.cpu_count() or 1) if count == "*" else int(count or 1)

    @property
    def local_cluster(self) -> bool:
        """Return whether the driver starts the workers, as separate processes."""
        return self.url.startswith("local-cluster[")


def parse_master(text: str | None) -> Master:
    """Parse a URL; None means all cores of this machine. Raises ValueError.

    >>> parse_master(None)
    Master(url='local[*]', kind='embedded', addresses=())
    >>> parse_master("spark://a:7077,b:7078").addresses
    (('a', 7077), ('b', 7078))
    >>> parse_master("sc://127.0.0.1/;token=x").addresses
    (('127.0.0.1', 15002),)
    """
    if text is None or re.fullmatch(r"local(\[(\*|[1-9]\d*)\])?", text):
        return Master(text or "local[*]", "embedded")
    if text == "yarn" or text.startswith("k8s://") or _LOCAL_CLUSTER.fullmatch(text):
        return Master(text, "cluster")
    matched = _URL.match(text)
    if matched is None:
        raise ValueError(
            f"{text} is not a master: local[N], spark://HOST:PORT, sc://HOST:PORT, yarn or k8s://..."
        )
    connect = matched["scheme"] == "sc"
    addresses = []
    for host_port in matched["hosts"].split(","):
        address = _PORT.fullmatch(host_port)
        if address is None and not connect:
            raise ValueError(f"{text} is not a master: it needs a port, as in spark://HOST:7077")
        host, port = (host_port, CONNECT_PORT) if address is None else (address[1], int(address[2]))
        addresses.append((host.strip("[]"), port))
    return Master(text, "connect" if connect else "cluster", tuple(addresses))


def reach(
    master: Master,
    connect: Callable[..., socket.socket] = socket.create_connection,
    patience: float = PATIENCE,
) -> None:
    """Raise UnavailableError if no address accepts a connection: Spark would retry for minutes."""
    reason = ""
    for address in master.addresses:
        try:
            connect(address, timeout=patience).close()
        except OSError as problem:
            # os.strerror does not know the errno of a failed name lookup
            system_error = problem.errno is not None and problem.errno > 0
            reason = os.strerror(problem.errno or 0) if system_error else str(problem.args[-1])
        else:
            return
    if reason:
        raise UnavailableError(f"no answer from {master.url}: {reason}")


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
