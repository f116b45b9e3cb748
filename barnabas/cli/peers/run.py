"""`barnabas peers`: lists kinds of brokers, and runs brokers until Ctrl-C."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from typing import Any

from barnabas.addresses import parse_address
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.peers.built_in import CHECK_INTERVAL, running
from barnabas.cli.peers.kinds import Options, added_kind
from barnabas.peers import PEERS, Peer
from barnabas.plugins import references, usable
from barnabas.stop_signals import interruptible
from barnabas.trouble import COULD_NOT_RUN, FINE, Trouble


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
    count: int | None = None,
    options: Options | None = None,
) -> int:
    """Start brokers, print their addresses, and wait for a signal to end; return the exit code.

    Args:
        kind: `embedded`, `apache:VERSION`, `kfake`, `librdkafka`, or an added kind.
        count: The number of brokers; None: the kind's default.
        options: Options of added kinds; `listen` is for kfake, embedded and apache, too.

    Raises:
        Trouble: The kind is unknown or can't be started, or the brokers ended by themselves.
    """
    name = kind.partition(":")[0]
    output, options = Output(), options or Options()
    try:
        with interruptible():
            if name in references("brokers") and ":" not in kind:
                return added_kind(name).start(count, options, output)
            _refuse(options._replace(listen=None), kind)
            with running(kind, count, _port(options.listen)) as brokers:
                output.note(f"{brokers.note}; Ctrl-C stops the brokers")
                ready = {
                    "bootstrap": brokers.bootstrap,
                    "kind": brokers.kind,
                    "pid": os.getpid(),
                }
                output.raw(json_text({"ready": ready}))
                _until_signal(brokers.ended)
                return FINE
    except KeyboardInterrupt:
        return FINE


def _refuse(options: Options, kind: str) -> None:
    """Raise Trouble if options are given that only added kinds support."""
    for option, value in options._asdict().items():
        if value is not None:
            others = " and ".join(references("brokers")) or "added kinds"
            raise Trouble(f"--{option.rstrip('s')} is for {others}, not for {kind}")


def _port(listen: str | None) -> int:
    """Return the port of --listen; 0: none. Raises Trouble for another host than 127.0.0.1."""
    if listen is None:
        return 0
    host, port = parse_address(listen, zero=True)
    if host not in ("127.0.0.1", "localhost"):
        raise Trouble(f"--listen {listen}: these brokers listen on 127.0.0.1 only")
    return port


def _until_signal(ended: Callable[[], str | None]) -> None:
    """Wait for a signal by a pipe: a lock would miss a signal that arrives just before the wait.

    Raises Trouble if the brokers end before.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing)
    while not select.select((reading,), (), (), CHECK_INTERVAL)[0]:
        if reason := ended():
            raise Trouble(reason, COULD_NOT_RUN)
