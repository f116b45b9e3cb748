"""`barnabas peers start rewrite|central`: brokers in processes of their own, until a signal."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Final

from barnabas.addresses import parse_address
from barnabas.captures.host_port import endpoint_text
from barnabas.cli.console.json_text import json_text
from barnabas.cli.console.output import Output
from barnabas.cli.peers.kinds import Options
from barnabas.designs.names import sendable
from barnabas.plural import plural
from barnabas.trouble import COULD_NOT_RUN, Trouble

LAST_PORT: Final = 65_535

LOOK: Final = 0.2
"""s between two looks whether all brokers run."""


def topics_of(texts: list[str]) -> dict[str, int]:
    """Parse topics with their numbers of partitions. Raises Trouble."""
    from barnabas.designs.brokers.logs.files import NAME_LIMIT, path_of
    from barnabas.peers.embedded import AUTO_PARTITIONS

    topics = {}
    for text in texts:
        name, colon, number = text.partition(":")
        count = number if colon else str(AUTO_PARTITIONS)
        if not name or not count.isdecimal() or not 1 <= int(count) <= 10_000:
            raise Trouble(f"--topic {text}: expected NAME:PARTITIONS, e.g. t:6")
        sendable("--topic", name)
        size = len(path_of(Path(), (name, int(count) - 1)).name)
        if size > NAME_LIMIT:
            raise Trouble(
                f"--topic {name[:20]}...: its logs' names have {size} bytes; {NAME_LIMIT} is the most"
            )
        if name in topics:
            raise Trouble(f"--topic {text}: {name} was given before; a topic is given once")
        topics[name] = int(count)
    return topics


def start_design(design: str, brokers: int | None, options: Options, output: Output) -> int:
    """Start a design's brokers, print their addresses, and report brokers that exit.

    Raises Trouble, at the latest when no broker is left.
    """
    from barnabas.designs.brokers.processes.cluster import (
        EMBEDDED,
        HOST,
        ProcessCluster,
        UnavailableError,
    )
    from barnabas.designs.brokers.processes.session import PATIENCE

    brokers = 3 if brokers is None else brokers
    address = parse_address(options.listen or f"{HOST}:0", zero=True)
    if address[1] + brokers - 1 > LAST_PORT:
        raise Trouble(
            f"--listen {options.listen}: {brokers} brokers need as many ports from there on"
        )
    zookeeper, data = options.zookeeper or EMBEDDED, options.data
    if zookeeper != EMBEDDED:
        zookeeper = endpoint_text(parse_address(zookeeper))
    counts = topics_of(options.topics or [])
    if zookeeper != EMBEDDED:
        output.note(f"waits for ZooKeeper at {zookeeper}, {PATIENCE:g} s at most")
    try:
        with ProcessCluster(
            design, brokers, topics=counts, zookeeper=zookeeper, data=data, listen=address
        ) as cluster:
            topic_list = " ".join(
                f"{name} ({plural(n, 'partition')})" for name, n in counts.items()
            )
            output.note(
                f"ZooKeeper at {cluster.zookeeper}; topics: {topic_list or 'those in ZooKeeper'}"
            )
            for node, where, pid in cluster.brokers.values():
                output.note(f"broker {node} at {endpoint_text(where)}, pid {pid}")
            output.note("Ctrl-C stops the brokers")
            rows = [
                {"node": node, "address": endpoint_text(where), "pid": pid}
                for node, where, pid in cluster.brokers.values()
            ]
            description = {"bootstrap": cluster.bootstrap, "pid": os.getpid()}
            description |= {"zookeeper": cluster.zookeeper, "brokers": rows}
            output.ready(json_text({"ready": description}))
            while cluster.brokers:
                time.sleep(LOOK)
                for node, code in cluster.ended().items():
                    how = (
                        f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
                    )
                    with contextlib.suppress(OSError):  # the others continue, even without a reader
                        output.note(f"broker {node} has ended {how}")
    except UnavailableError as problem:
        raise Trouble(str(problem), COULD_NOT_RUN) from None
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise Trouble(f"--data {data}: {problem.strerror}", COULD_NOT_RUN) from None
    raise Trouble("no broker is left", COULD_NOT_RUN)
