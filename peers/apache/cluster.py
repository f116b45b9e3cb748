"""Real Apache Kafka brokers of one version on loopback, from `with` to its end.

What it needs is downloaded on first use (15 to 45 MB a version). One JVM for each broker, and one
for ZooKeeper where a version has that; ports are given by the system; files are in a temporary
directory that is removed at the end.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple, Self

from barnabas.peers import processes
from barnabas.peers.apache import boot, probe
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.errors import BootError, UnknownVersionError
from barnabas.peers.apache.jvm import Jvm
from barnabas.peers.apache.settings import HOST, Node
from barnabas.peers.apache.versions import Mode, release

POLL: Final = 0.05
"""Seconds between two looks at whether somebody is ready."""

ATTEMPTS: Final = 3
"""How often a cluster is started with other ports if somebody takes one before it does."""

PORT_TAKEN: Final = "Address already in use"
"""What every version says then."""


class Broker(NamedTuple):
    """A broker of a running cluster."""

    node: Node
    jvm: Jvm

    @property
    def port(self) -> int:
        """Where clients reach it on 127.0.0.1; the same after it was started again."""
        return self.node.port

    @property
    def pid(self) -> int | None:
        """Its process, None while it is stopped."""
        return self.jvm.pid

    @property
    def log(self) -> Path:
        """What it prints; gone when the cluster ends."""
        return self.jvm.log


class JavaOptions(NamedTuple):
    """What the JVMs of a cluster are started with.

    flags: for all of them, in addition to those of the release. levels: of the brokers' loggers, where WARN
    is not enough ("kafka.request.logger": "DEBUG").
    """

    flags: tuple[str, ...] = ()
    levels: Mapping[str, str] = MappingProxyType({})


NO_OPTIONS: Final = JavaOptions()


class ApacheCluster:
    """Brokers of one version; their node ids start at 1.

    version: "4.3.1"; see barnabas.peers.apache.versions for those seen working. settings: added to each
    broker's server.properties, see barnabas.peers.apache.settings.server_properties. mode: for versions that
    know ZooKeeper and KRaft. timeout: seconds that a start may take, downloads not counted.

    Raises UnknownVersionError or ValueError for what can't be, and when started UnavailableError if
    Java or the artifacts can't be had, BootError if a JVM does not come up.
    """

    def __init__(
        self,
        version: str,
        nodes: int = 1,
        *,
        settings: Mapping[str, str] | None = None,
        mode: Mode | None = None,
        java: JavaOptions = NO_OPTIONS,
        timeout: float = 90.0,
    ) -> None:
        if nodes < 1:
            raise ValueError(f"a cluster of {nodes} brokers")
        found = release(version)
        self.release = found._replace(flags=(*found.flags, *java.flags))
        self.mode = mode or self.release.modes[0]
        if self.mode not in self.release.modes:
            raise UnknownVersionError(f"Kafka {version} does not run with {self.mode}")
        self._count = nodes
        self._settings = dict(settings or {})
        self._java = java
        self._timeout = timeout
        self._running = contextlib.ExitStack()
        self._zookeeper_port = 0
        self.nodes: dict[int, Broker] = {}
        """Node id -> broker; empty until started."""
        self.zookeeper: Jvm | None = None
        """ZooKeeper's process, if there is one."""

    @property
    def brokers(self) -> dict[int, tuple[str, int]]:
        """Node id -> (host, port)."""
        return {i: (HOST, broker.port) for i, broker in self.nodes.items()}

    @property
    def bootstrap(self) -> str:
        """The addresses as clients take them: `127.0.0.1:p1,127.0.0.1:p2`; empty until started."""
        return ",".join(f"{host}:{port}" for host, port in self.brokers.values())

    def __enter__(self) -> Self:
        jars = class_path(self.release.coordinates)
        for left in reversed(range(ATTEMPTS)):
            with contextlib.ExitStack() as stack:
                try:
                    self._start(stack, jars)
                except BootError as problem:
                    if PORT_TAKEN in problem.said and left:
                        continue
                    raise
                self._running = stack.pop_all()
                break
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()
        self.nodes = {}
        self.zookeeper = None

    def _start(self, stack: contextlib.ExitStack, jars: Sequence[Path]) -> None:
        deadline = time.monotonic() + self._timeout
        directory = stack.enter_context(processes.folder())
        plan = boot.plan(self.release, self.mode, self._count, directory)
        booting = boot.Boot(plan, jars, self._settings, self._java.levels)
        if self.mode is Mode.ZOOKEEPER:
            self.zookeeper = started_zookeeper(booting, directory, stack, deadline)
            self._zookeeper_port = plan.zookeeper_port
        self.nodes = {}
        for node in plan.nodes:
            jvm = booting.broker(node)
            stack.callback(jvm.end)
            self.nodes[node.id] = Broker(node, jvm)
        booting.format_storage(deadline - time.monotonic())
        for broker in self.nodes.values():
            broker.jvm.start()
        everybody = set(self.nodes)
        for broker in self.nodes.values():
            ready_or_raise(broker.jvm, partial(self._known, everybody, broker.port), deadline)

    def _known(self, nodes: set[int], port: int) -> bool:
        """Whether the broker at a port counts these in."""
        return probe.brokers(port, self.release.number) >= nodes

    def stop(self, node: int, patience: float = 10.0) -> None:
        """Ask a broker to end, as an operator would; after so many seconds make it."""
        self.nodes[node].jvm.end(patience)

    def kill(self, node: int) -> None:
        """End a broker at once (SIGKILL)."""
        self.nodes[node].jvm.end()

    def pause(self, node: int) -> None:
        """Stop a broker's process (SIGSTOP): its connections stay and nothing answers on them."""
        self.nodes[node].jvm.signal(signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """Let a paused broker go on (SIGCONT)."""
        self.nodes[node].jvm.signal(signal.SIGCONT)

    def start(self, node: int) -> None:
        """Start a broker again that was stopped or killed; returns when it counts itself in.

        Raises BootError.
        """
        deadline = time.monotonic() + self._timeout
        port, jvm = self.nodes[node].port, self.nodes[node].jvm
        if self.zookeeper is not None:
            # until the session of one that was killed is over, old versions end or hang
            ready_or_raise(
                self.zookeeper, lambda: not probe.registered(self._zookeeper_port, node), deadline
            )
        jvm.start()
        ready_or_raise(jvm, partial(self._known, {node}, port), deadline)


def started_zookeeper(
    booting: boot.Boot, directory: Path, stack: contextlib.ExitStack, deadline: float
) -> Jvm:
    """Start ZooKeeper, with its files in a directory, until the end of a stack. Raises BootError."""
    jvm = booting.zookeeper(directory / "zookeeper")
    stack.callback(jvm.end)
    jvm.start()
    ready_or_raise(jvm, partial(probe.keeps, booting.plan.zookeeper_port), deadline)
    return jvm


def ready_or_raise(jvm: Jvm, ready: Callable[[], bool], deadline: float) -> None:
    """Until a process is ready. Raises BootError if it ends before, or is not at the deadline."""
    begun = time.monotonic()
    while not ready():
        if jvm.pid is None:
            raise jvm.problem("ended while it started")
        if time.monotonic() > deadline:
            waited = time.monotonic() - begun
            raise jvm.problem(f"was not ready after {waited:.0f} s")
        time.sleep(POLL)
