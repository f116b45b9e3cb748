"""`barnabas peers`: lists kinds of brokers, and runs brokers until Ctrl-C."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

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
        kind: `embedded`, `apache:VERSION`, or an added kind.
        brokers: The number of brokers; None: the kind's default.
        options: Options of added kinds.

    Raises:
        Trouble: The kind is unknown or can't be started.
    """
    name, _, version = kind.partition(":")
    built_in = [peer.name for peer in PEERS]
    if (name not in built_in and name not in references("brokers")) or (
        name != "apache" and version
    ):
        names = [*built_in, *references("brokers")]
        raise Trouble(f"unknown kind of brokers {kind!r}{choices(kind, names)}")
    output, options = Output(), options or Options()
    if name in ("embedded", "apache"):
        for option, value in options._asdict().items():
            if value is not None:
                others = " and ".join(references("brokers")) or "added kinds"
                raise Trouble(f"--{option.rstrip('s')} is for {others}, not for {kind}")
    try:
        with interruptible():
            if name == "embedded":
                return _embedded(3 if brokers is None else brokers, output)
            if name == "apache":
                return _apache(version, 1 if brokers is None else brokers, output)
            return added_kind(name).start(brokers, options, output)
    except KeyboardInterrupt:
        return FINE


def _embedded(brokers: int, output: Output) -> int:
    from barnabas.peers.embedded import EmbeddedCluster, UnavailableError

    try:
        note = "topics are created on first use, with 4 partitions; Ctrl-C stops the brokers"
        return _run(EmbeddedCluster(brokers), note, output)
    except UnavailableError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


def _apache(version: str, brokers: int, output: Output) -> int:
    from barnabas.peers.apache import (
        ApacheCluster,
        BootError,
        UnavailableError,
        UnknownVersionError,
    )

    try:
        cluster = ApacheCluster(version, brokers)
    except UnknownVersionError as problem:
        raise Trouble(f"{problem}; for example: apache:3.9.1") from None
    try:
        note = f"Apache Kafka {version}, {cluster.mode}; Ctrl-C stops the brokers"
        return _run(cluster, note, output)
    except (UnavailableError, BootError) as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None


def _run(brokers: AbstractContextManager[Cluster], note: str, output: Output) -> int:
    with brokers as cluster:
        output.note(note)
        output.raw(json_text({"ready": {"bootstrap": cluster.bootstrap, "pid": os.getpid()}}))
        _until_signal()
    return FINE


def _until_signal() -> None:
    """Wait for a signal by a pipe: a lock would miss a signal that arrives just before the wait."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    os.read(reading, 1)
