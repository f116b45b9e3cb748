"""A ZooKeeper server without brokers, from a release of Kafka."""

from __future__ import annotations

import contextlib
import time
from typing import Final, Self

from barnabas.peers import processes
from barnabas.peers.apache import boot
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.cluster import started_zookeeper
from barnabas.peers.apache.jvm import Jvm
from barnabas.peers.apache.settings import HOST
from barnabas.peers.apache.versions import Mode, release

STARTS: Final = 90.0
"""Timeout of a start in seconds, downloads excluded."""


class ZooKeeper:
    """A ZooKeeper server on loopback, from `with` to its end.

    Args:
        version: of Kafka, one that includes ZooKeeper. Raises UnknownVersionError.

    Raises:
        UnavailableError: At the start: Java or the artifacts are unavailable.
        BootError: At the start: the JVM does not come up.
    """

    def __init__(self, version: str = "3.9.1") -> None:
        self._release = release(version)
        self._running = contextlib.ExitStack()
        self.address = ""
        """The address for clients, `127.0.0.1:port`; empty until started."""
        self.process: Jvm | None = None

    def __enter__(self) -> Self:
        jars = class_path(self._release.coordinates)
        with contextlib.ExitStack() as stack:
            directory = stack.enter_context(processes.folder())
            plan = boot.plan(self._release, Mode.ZOOKEEPER, 0, directory)
            booting, deadline = boot.Boot(plan, jars), time.monotonic() + STARTS
            self.process = started_zookeeper(booting, directory, stack, deadline)
            self.address = f"{HOST}:{plan.zookeeper_port}"
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()
        self.address, self.process = "", None
