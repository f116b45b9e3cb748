"""`barnabas peers`: brokers that run until Ctrl-C, and which ones there are."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.peers.kinds import Options, added_kind
from barnabas.endings import interruptible
from barnabas.nearest import choices
from barnabas.peers import PEERS, Peer
from barnabas.plugins import references, usable
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble


class Cluster(Protocol):
    """What all kinds of brokers have."""

    @property
    def bootstrap(self) -> str:
        """The addresses as clients take them."""


def kinds() -> Iterator[str]:
    """A line for each kind of brokers, and one for the versions that were seen working.

    Raises Trouble after the last line if a package adds an unusable kind.
    """
    from barnabas.peers.apache.versions import RELEASES

    for peer in _all():
        yield f"{peer.name:<10} {peer.description}"
        if peer.name == "apache":
            yield f"{'':<10} tested: {', '.join(known.version for known in RELEASES)}"


def startable() -> Iterator[dict[str, Any]]:
    """What `peers start` takes, a row each, with its version and the modes that this knows.

    Raises Trouble after the last row if a package adds an unusable kind.
    """
    from barnabas.peers.apache.versions import RELEASES

    for peer in _all():
        if peer.name == "apache":
            for known in RELEASES:
                start = f"apache:{known.version}"
                modes = [mode.value for mode in known.modes]
                yield _row(peer, start, known.version, modes)
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
    output: Output | None = None,
    options: Options | None = None,
) -> int:
    """Start a kind of brokers, print where they are, wait for a signal that asks to end.

    kind: `embedded`, `apache:VERSION`, or an added kind. brokers: how many, the kind's own number if None.
    """
    name, _, version = kind.partition(":")
    own = [peer.name for peer in PEERS]
    if (name not in own and name not in references("brokers")) or (name != "apache" and version):
        names = [*own, *references("brokers")]
        raise Trouble(f"unknown kind of brokers {kind!r}{choices(kind, names)}")
    output, options = output or Output(), options or Options()
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
    """A signal that comes just before a lock is waited for wakes nobody; one in a pipe is not missed."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    os.read(reading, 1)
