"""Apache Kafka brokers of one version on loopback, from `with` to its end.

The jars are downloaded on first use (15 to 45 MB a version). There is one JVM for each broker, and one for
ZooKeeper in versions that have it. The system assigns the ports that are not given; files are in a temporary
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
from barnabas.peers.stopping import stopped

POLL: Final = 0.05
"""Seconds between two checks for readiness."""

ATTEMPTS: Final = 3
"""Starts with other ports if another process takes a port first."""

PORT_TAKEN: Final = "Address already in use"
"""The error of every version for a port in use."""


class Broker(NamedTuple):
    """A broker of a running cluster."""

    node: Node
    jvm: Jvm

    @property
    def port(self) -> int:
        """Return the port of the broker on 127.0.0.1, which stays the same after a restart."""
        return self.node.port

    @property
    def pid(self) -> int | None:
        """Return the process id; None while the broker is stopped."""
        return self.jvm.pid

    @property
    def log(self) -> Path:
        """Return the file with the broker's output, which is removed with the cluster."""
        return self.jvm.log


class JavaOptions(NamedTuple):
    """Options of the JVMs of a cluster.

    flags: of all JVMs, in addition to the release's flags. levels: levels of brokers' loggers other than WARN
    ("kafka.request.logger": "DEBUG").
    """

    flags: tuple[str, ...] = ()
    levels: Mapping[str, str] = MappingProxyType({})


NO_OPTIONS: Final = JavaOptions()


class ApacheCluster:
    """A cluster of Kafka brokers of one version, running from `with` to its end; node ids start at 1.

    Args:
        version: "4.3.1"; barnabas.peers.apache.versions lists the tested ones.
        nodes: number of brokers, or the port of each.
        settings: added to each broker's server.properties, see
            barnabas.peers.apache.settings.server_properties.
        mode: for versions that know ZooKeeper and KRaft.
        java: options of the JVMs.
        timeout: seconds that a start may take, downloads excluded.

    Raises:
        UnknownVersionError, ValueError: The version, the mode or the number of nodes is not valid.
        UnavailableError: At the start: Java or the artifacts are unavailable.
        BootError: At the start: a JVM does not come up.
    """

    def __init__(
        self,
        version: str,
        nodes: int | Sequence[int] = 1,
        *,
        settings: Mapping[str, str] | None = None,
        mode: Mode | None = None,
        java: JavaOptions = NO_OPTIONS,
        timeout: float = 90.0,
    ) -> None:
        if not nodes or (isinstance(nodes, int) and nodes < 1):
            raise ValueError(f"a cluster of {nodes} brokers")
        base = release(version)
        self.release = base._replace(flags=(*base.flags, *java.flags))
        self.mode = mode or self.release.modes[0]
        if self.mode not in self.release.modes:
            raise UnknownVersionError(f"Kafka {version} does not run with {self.mode}")
        self._nodes = nodes
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
        """Return (host, port) by node id."""
        return {i: (HOST, broker.port) for i, broker in self.nodes.items()}

    @property
    def bootstrap(self) -> str:
        """Return the bootstrap servers, `127.0.0.1:p1,127.0.0.1:p2`; empty before the start."""
        return ",".join(f"{host}:{port}" for host, port in self.brokers.values())

    def __enter__(self) -> Self:
        jars = class_path(self.release.coordinates)
        for remaining_attempts in reversed(range(ATTEMPTS)):
            with contextlib.ExitStack() as stack:
                try:
                    self._start(stack, jars)
                except BootError as problem:
                    if (
                        PORT_TAKEN in problem.output
                        and remaining_attempts
                        and isinstance(self._nodes, int)
                    ):
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
        plan = boot.plan(self.release, self.mode, self._nodes, directory)
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

    def ended(self) -> str | None:
        """Return how the brokers ended, in one line; None while one of them runs."""
        jvms = [broker.jvm for broker in self.nodes.values()]
        if not jvms or any(jvm.pid is not None for jvm in jvms):
            return None
        code = jvms[-1].exit_code
        if code is not None and code < 0:  # a signal: the log has no reason
            return f"{jvms[-1].name} ended with exit code {code}"
        return jvms[-1].problem(f"ended with exit code {code}").line

    def _known(self, nodes: set[int], port: int) -> bool:
        """Return whether the broker at a port lists all these nodes in its metadata."""
        return probe.brokers(port, self.release.number) >= nodes

    def stop(self, node: int, patience: float = 10.0) -> None:
        """Stop a broker by SIGTERM, as an operator would; by SIGKILL after `patience` seconds."""
        self.nodes[node].jvm.end(patience)

    def kill(self, node: int) -> None:
        """Kill a broker (SIGKILL)."""
        self.nodes[node].jvm.end()

    def pause(self, node: int) -> None:
        """Pause a broker's process (SIGSTOP): its connections stay open without responses."""
        self.nodes[node].jvm.signal(signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """Resume a paused broker (SIGCONT)."""
        self.nodes[node].jvm.signal(signal.SIGCONT)

    def start(self, node: int) -> None:
        """Start a stopped or killed broker again, and wait until its metadata lists it.

        Raises:
            BootError: The broker does not come up.
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
    """Start ZooKeeper with its files in a directory, to be ended by a stack. Raises BootError."""
    jvm = booting.zookeeper(directory / "zookeeper")
    stack.callback(jvm.end)
    jvm.start()
    ready_or_raise(jvm, partial(probe.keeps, booting.plan.zookeeper_port), deadline)
    return jvm


def ready_or_raise(jvm: Jvm, ready: Callable[[], bool], deadline: float) -> None:
    """Wait until a process is ready. Raises BootError if it exits before, at the deadline, and if stopped."""
    begun = time.monotonic()
    while not ready():
        if jvm.pid is None:
            raise jvm.problem("ended while it started")
        if time.monotonic() > deadline:
            waited = time.monotonic() - begun
            raise jvm.problem(f"was not ready after {waited:.0f} s")
        if stopped():
            raise jvm.problem("was stopped while it started")
        time.sleep(POLL)
