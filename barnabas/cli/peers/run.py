"""`barnabas peers`: lists kinds of brokers, and runs brokers until Ctrl-C."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final, Protocol

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.peers.kinds import Options, added_kind
from barnabas.nearest import choices
from barnabas.peers import PEERS, Peer
from barnabas.plugins import references, usable
from barnabas.stop_signals import interruptible
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble


class Cluster(Protocol):
    """A running cluster of any kind."""

    @property
    def bootstrap(self) -> str:
        """Return the bootstrap servers for clients."""


def kinds() -> Iterator[str]:
    """Yield a line for each kind of brokers, and one for the tested versions of Apache Kafka.

    Raises Trouble after the last line if a package adds an unusable kind.
    """
    from barnabas.peers.apache.versions import RELEASES

    for peer in _all():
        yield f"{peer.name:<10} {peer.description}"
        if peer.name == "apache":
            yield f"{'':<10} tested: {', '.join(release.version for release in RELEASES)}"


def startable() -> Iterator[dict[str, Any]]:
    """Yield a row for each value that `peers start` accepts, with its version and its modes.

    Raises Trouble after the last row if a package adds an unusable kind.
    """
    from barnabas.peers.apache.versions import RELEASES

    for peer in _all():
        if peer.name == "apache":
            for release in RELEASES:
                start = f"apache:{release.version}"
                modes = [mode.value for mode in release.modes]
                yield _row(peer, start, release.version, modes)
        else:
            yield _row(peer, peer.name, None, [])


def _all() -> Iterator[Peer]:
    yield from PEERS
    added = references("brokers")
    kinds_by_name, reasons = usable(added, added_kind)
    for name, kind in kinds_by_name.items():
        yield Peer(name, added[name], kind.what, kind.needs)
    if reasons:
        raise Trouble("; ".join(reasons.values()))


def _row(peer: Peer, start: str, version: str | None, modes: list[str]) -> dict[str, Any]:
    return {
        "kind": peer.name,
        "start": start,
        "version": version,
        "modes": modes,
        "needs": peer.needs,
    }


def start(
    kind: str,
    brokers: int | None = None,
    options: Options | None = None,
) -> int:
    """Start brokers, print their addresses, and wait for a signal to end; return the exit code.

    Args:
        kind: `embedded`, `apache:VERSION`, `kfake`, or an added kind.
        brokers: The number of brokers; None: the kind's default.
        options: Options of added kinds.

    Raises:
        Trouble: The kind is unknown or can't be started.
    """
    name = kind.partition(":")[0]
    output, options = Output(), options or Options()
    try:
        with interruptible():
            if name in references("brokers") and ":" not in kind:
                return added_kind(name).start(brokers, options, output)
            _refuse(options, kind)
            with _running(kind, brokers) as (cluster, note):
                output.note(note)
                ready = {"bootstrap": cluster.bootstrap, "pid": os.getpid()}
                output.raw(json_text({"ready": ready}))
                _until_signal()
                return FINE
    except KeyboardInterrupt:
        return FINE


def _refuse(options: Options, kind: str) -> None:
    """Raise Trouble if options are given that only added kinds support."""
    for option, value in options._asdict().items():
        if value is not None:
            others = " and ".join(references("brokers")) or "added kinds"
            raise Trouble(f"--{option.rstrip('s')} is for {others}, not for {kind}")


@contextmanager
def _running(kind: str, brokers: int | None = None) -> Iterator[tuple[Cluster, str]]:
    """Run brokers of a built-in kind; yield them and a note on them.

    Args:
        kind: `embedded`, `apache:VERSION`, `kfake` or `kfake:REVISION`.
        brokers: The number of brokers; None: the kind's default.

    Raises:
        Trouble: The kind is unknown or can't be started.
    """
    name, _, version = kind.partition(":")
    if name not in _CLUSTERS or (name == "embedded" and version):
        names = [*(peer.name for peer in PEERS), *references("brokers")]
        raise Trouble(f"unknown kind of brokers {kind!r}{choices(kind, names)}")
    with ExitStack() as stack:
        cluster, note, errors = _CLUSTERS[name](version, brokers)
        try:
            started = stack.enter_context(cluster)
        except errors as problem:
            raise Trouble(str(problem), COULD_NOT_RUN) from None
        yield started, f"{note}; Ctrl-C stops the brokers"


_NotStarted = tuple[AbstractContextManager[Cluster], str, tuple[type[Exception], ...]]
"""Brokers, a note on them, and the errors of their start."""


def _embedded(version: str, brokers: int | None) -> _NotStarted:
    from barnabas.peers.embedded import EmbeddedCluster, UnavailableError

    note = "topics are created on first use, with 4 partitions"
    return EmbeddedCluster(3 if brokers is None else brokers), note, (UnavailableError,)


def _apache(version: str, brokers: int | None) -> _NotStarted:
    from barnabas.peers.apache import (
        ApacheCluster,
        BootError,
        UnavailableError,
        UnknownVersionError,
    )

    try:
        cluster = ApacheCluster(version, 1 if brokers is None else brokers)
    except UnknownVersionError as problem:
        raise Trouble(f"{problem}; for example: apache:3.9.1") from None
    return cluster, f"Apache Kafka {version}, {cluster.mode}", (UnavailableError, BootError)


def _kfake(version: str, brokers: int | None) -> _NotStarted:
    from barnabas.peers.clients.errors import UnavailableClientError
    from barnabas.peers.kfake import REVISION, KfakeCluster, name_of

    revision = version or REVISION
    cluster = KfakeCluster(1 if brokers is None else brokers, revision)
    return cluster, name_of(revision), (UnavailableClientError,)


_CLUSTERS: Final[Mapping[str, Callable[[str, int | None], _NotStarted]]] = {
    "embedded": _embedded,
    "apache": _apache,
    "kfake": _kfake,
}
"""Name of a built-in kind -> a function that returns its brokers."""


def _until_signal() -> None:
    """Wait for a signal by a pipe: a lock would miss a signal that arrives just before the wait."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    os.read(reading, 1)
