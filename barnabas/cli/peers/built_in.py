"""Runs brokers of the kinds that are part of barnabas, for every command that starts some."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final, NamedTuple, Protocol

from barnabas.broker_kinds import KINDS, LIBRDKAFKA
from barnabas.captures.kafka.wording import shorten
from barnabas.nearest import choices
from barnabas.plugins import references
from barnabas.trouble import COULD_NOT_RUN, Trouble

EMBEDDED_MIN_SESSION_MS: Final = 1000
"""The shortest session timeout of groups on `embedded`, for quick tests; Kafka's default is 6 s."""

CHECK_INTERVAL: Final = 0.2
"""Seconds between two checks whether the brokers have ended."""

TOPICS: Final = "topics are created on first use, with 4 partitions"


class Cluster(Protocol):
    """A running cluster of any kind."""

    @property
    def bootstrap(self) -> str:
        """Return the bootstrap servers for clients."""

    def ended(self) -> str | None:
        """Return how the cluster ended by itself, in one line; None while it runs."""


class Running(NamedTuple):
    """Running brokers: their bootstrap servers, a note on them, and their kind, which is never `embedded`.

    `ended` returns how they ended by themselves, in one line; None while they run.
    """

    bootstrap: str
    note: str
    kind: str
    ended: Callable[[], str | None]


class _NotStarted(NamedTuple):
    """Brokers, their number, a note on them, their kind, and the errors of their start."""

    cluster: AbstractContextManager[Cluster]
    brokers: int
    note: str
    kind: str
    errors: tuple[type[Exception], ...]


@contextmanager
def running(kind: str, brokers: int | None = None, port: int = 0) -> Iterator[Running]:
    """Run brokers of a built-in kind on 127.0.0.1; yield them and a note on them.

    Args:
        kind: `embedded`, `apache:VERSION`, `kfake`, `kfake:REVISION` or `librdkafka`.
        brokers: The number of brokers; None: the kind's default.
        port: The first broker's port, the others have the ports after it; 0: the system assigns ports.

    Raises:
        Trouble: The kind is unknown or can't be started.
    """
    name, colon, version = kind.partition(":")
    if colon and not version and name in _CLUSTERS:
        raise Trouble(f"{kind} has no version after the colon: {_EXAMPLES[name]}")
    if name not in _CLUSTERS or (name in ("embedded", LIBRDKAFKA) and version):
        names = (*KINDS, *references("brokers"))
        raise Trouble(f"unknown kind of brokers {kind!r}{choices(kind, names)}")
    with ExitStack() as stack:
        cluster, count, note, started_kind, errors = _CLUSTERS[name](version, brokers, port)
        for each in range(port, port + count) if port else ():
            _check_free(each)
        try:
            started = stack.enter_context(cluster)
        except errors as problem:
            raise Trouble(str(problem), COULD_NOT_RUN) from None
        yield Running(started.bootstrap, note, started_kind, started.ended)


def _check_free(port: int) -> None:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except (OSError, OverflowError) as problem:
        reason = os.strerror(problem.errno or 0) if isinstance(problem, OSError) else "no such port"
        raise Trouble(f"--listen: port {port}: {reason}; choose another port") from None


def _embedded(version: str, brokers: int | None, port: int) -> _NotStarted:
    from barnabas.peers.kfake import at_hand

    count = 3 if brokers is None else brokers
    if not at_hand():
        return _librdkafka("", count, port)
    return _kfake("", count, port, min_session_ms=EMBEDDED_MIN_SESSION_MS)


def _librdkafka(version: str, brokers: int | None, port: int) -> _NotStarted:
    from barnabas.peers.embedded import EmbeddedCluster, UnavailableError

    if port:
        raise Trouble("--listen: librdkafka's mock brokers choose their ports; start kfake instead")
    count = 3 if brokers is None else brokers
    note = f"librdkafka's mock, {TOPICS}"
    return _NotStarted(EmbeddedCluster(count), count, note, LIBRDKAFKA, (UnavailableError,))


def _apache(version: str, brokers: int | None, port: int) -> _NotStarted:
    from barnabas.peers.apache import (
        ApacheCluster,
        BootError,
        UnavailableError,
        UnknownVersionError,
    )

    try:
        count = 1 if brokers is None else brokers
        cluster = ApacheCluster(version, range(port, port + count) if port else count)
    except UnknownVersionError as problem:
        raise Trouble(f"{problem}; for example: apache:3.9.1") from None
    note = f"Apache Kafka {version}, {cluster.mode}"
    return _NotStarted(cluster, count, note, "apache", (UnavailableError, BootError))


def _kfake(
    version: str, brokers: int | None, port: int, *, min_session_ms: int | None = None
) -> _NotStarted:
    from barnabas.peers.clients.errors import UnavailableClientError
    from barnabas.peers.kfake import MIN_SESSION_MS, REVISION, REVISIONS, KfakeCluster, name_of

    revision = version or REVISION
    if not REVISIONS.fullmatch(revision):
        raise Trouble(
            f"kfake:{shorten(revision, 60)} is no revision: give a commit of franz-go, a version such as "
            f"{REVISION}, or kfake alone"
        )
    count = 1 if brokers is None else brokers
    cluster = KfakeCluster(count, revision, port, min_session_ms or MIN_SESSION_MS)
    note = f"{name_of(revision)}, {TOPICS}"
    return _NotStarted(cluster, count, note, "kfake", (UnavailableClientError,))


_EXAMPLES: Final[Mapping[str, str]] = {
    "apache": "e.g. apache:4.3.1",
    "kfake": "give a commit of franz-go, or kfake alone",
    "embedded": "write embedded",
    LIBRDKAFKA: "write librdkafka",
}
"""Name of a built-in kind -> how to write it."""

_CLUSTERS: Final[Mapping[str, Callable[[str, int | None, int], _NotStarted]]] = {
    "embedded": _embedded,
    "apache": _apache,
    "kfake": _kfake,
    LIBRDKAFKA: _librdkafka,
}
"""Name of a built-in kind -> a function that returns its brokers."""
