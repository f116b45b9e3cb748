"""Starts brokers of a design, each in a process of its own, and ZooKeeper if none is given.

with ProcessCluster("rewrite", 3, topics={"t": 6}) as cluster:
    cluster.bootstrap           # "127.0.0.1:p1,127.0.0.1:p2,127.0.0.1:p3"
    cluster.brokers[1].pid      # kill it, and the others take over
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Final, NamedTuple, Self

from barnabas.captures.host_port import endpoint_text
from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.processes.designs import DESIGNS
from barnabas.designs.brokers.processes.session import EXPIRY
from barnabas.peers import apache, processes

EMBEDDED: Final = "embedded"
"""Starts a ZooKeeper of its own, in place of an address."""

HOST: Final = "127.0.0.1"

ENDING: Final = 10.0
"""s that a broker may take to end before it is killed."""


class UnavailableError(apache.UnavailableError):
    """A requirement of the brokers is missing or unreachable; the message has a remedy."""


class Process(NamedTuple):
    """A running broker."""

    node: int
    address: Address
    pid: int


class ProcessCluster:
    """Brokers 1 to n of a design, from `with` to its end.

    Args:
        topics: numbers of partitions; a topic with more in ZooKeeper keeps them.
        zookeeper: `host:port`, or EMBEDDED.
        data: the folder of the logs; None: a temporary one.
        listen: the first broker's address; the others use the following ports; port 0: any.
        expiry: seconds of silence after which ZooKeeper considers a broker dead.
        notes: receives the brokers' lines; None: stderr.

    Raises:
        UnavailableError: ZooKeeper or an address is unavailable.
        OSError: The folder can't be used.
        ValueError: The design is unknown.
    """

    def __init__(
        self,
        design: str,
        brokers: int = 3,
        *,
        topics: Mapping[str, int] | None = None,
        zookeeper: str = EMBEDDED,
        data: Path | None = None,
        listen: Address = (HOST, 0),
        expiry: float = EXPIRY,
        notes: IO[str] | None = None,
    ) -> None:
        if design not in DESIGNS:
            raise ValueError(f"no design {design!r}")
        self.design = design
        self.zookeeper = zookeeper
        """The address of ZooKeeper, once it runs."""
        self.brokers: dict[int, Process] = {}
        self._count = brokers
        self._topics = dict(topics or {})
        self._data = data
        self._listen = listen
        self._expiry = expiry
        self._notes = notes
        self._running = contextlib.ExitStack()
        self._processes: dict[int, subprocess.Popen[str]] = {}

    @property
    def bootstrap(self) -> str:
        """Return the bootstrap servers."""
        return ",".join(endpoint_text(broker.address) for broker in self.brokers.values())

    def __enter__(self) -> Self:
        if importlib.util.find_spec("kazoo") is None:
            raise UnavailableError(
                f"brokers of {self.design} need kazoo: install barnabas with the extra 'zookeeper'"
            )
        for node in range(1, self._count + 1):
            self._bindable(node)
        with contextlib.ExitStack() as stack:
            if self.zookeeper == EMBEDDED:
                self.zookeeper = _embedded(stack)
            self._make_topics()
            folder = self._data
            if folder is None:
                folder = stack.enter_context(processes.folder())
            folder.mkdir(parents=True, exist_ok=True)
            stack.callback(self._end)
            for node in range(1, self._count + 1):
                self._start(node, folder.absolute())
            for node in self._processes:
                self._started(node)
            self._running = stack.pop_all()
        return self

    def __exit__(self, *problem: object) -> None:
        self._running.close()

    def ended(self) -> dict[int, int]:
        """Return the exit codes (or -signals) of brokers that have exited since the last call."""
        exit_codes = {}
        for node in tuple(self.brokers):
            code = self._processes[node].poll()
            if code is not None:
                exit_codes[node] = code
                processes.guard().leave(self.brokers.pop(node).pid)
        return exit_codes

    @property
    def root(self) -> str:
        """Return the path of all entries in ZooKeeper, which may have others."""
        return f"/barnabas/{self.design}"

    def _make_topics(self) -> None:
        from kazoo.exceptions import KazooException

        from barnabas.designs.brokers.processes.session import UnreachableError, leave, session
        from barnabas.designs.brokers.registry.topics import Topics
        from barnabas.designs.brokers.registry.zookeeper import ZooKeeperRegistry

        try:
            client = session(self.zookeeper)
        except UnreachableError as problem:
            raise UnavailableError(
                f"{problem}: start one there, or leave out --zookeeper"
            ) from None
        topics = Topics(ZooKeeperRegistry(client, self.root))
        try:
            for topic, count in self._topics.items():
                topics.grow(topic, *map(str, range(count)))
        except (KazooException, ValueError) as problem:
            reason = str(problem) or type(problem).__name__
            raise UnavailableError(
                f"topic {topic} in ZooKeeper at {self.zookeeper}: {reason}"
            ) from None
        finally:
            leave(client)

    def _address(self, node: int) -> Address:
        """Return the address for a broker to listen on."""
        host, port = self._listen
        return host, port and port + node - 1

    def _bindable(self, node: int) -> None:
        """Check at once that an address can be bound, before its process does. Raises UnavailableError."""
        address = self._address(node)
        try:
            ((family, *_), *_) = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
        except OSError as problem:
            raise UnavailableError(
                f"broker {node} can't listen on {endpoint_text(address)}: {problem.strerror}; "
                "choose another --listen"
            ) from None

    def _start(self, node: int, folder: Path) -> None:
        options = {
            "design": self.design,
            "node": node,
            "brokers": self._count,
            "zookeeper": self.zookeeper,
            "root": self.root,
            "expiry": self._expiry,
            "folder": str(folder),
            "listen": self._address(node),
        }
        program = "barnabas.designs.brokers.processes.program"
        self._processes[node] = processes.start(
            [sys.executable, "-m", program, json.dumps(options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._notes,
            text=True,
        )

    def _started(self, node: int) -> None:
        process = self._processes[node]
        assert process.stdout is not None  # noqa: S101 - a pipe
        line = process.stdout.readline()
        report = json.loads(line) if line else {"error": f"exit code {process.wait()}"}
        if "error" in report:
            raise UnavailableError(f"broker {node} can't start: {report['error']}")
        self.brokers[node] = Process(node, tuple(report["address"]), process.pid)

    def _end(self) -> None:
        for process in self._processes.values():
            assert process.stdin is not None  # noqa: S101 - a pipe
            process.stdin.close()
        until = time.monotonic() + ENDING
        for process in self._processes.values():
            with process:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, until - time.monotonic()))
                process.kill()
            processes.guard().leave(process.pid)


def _embedded(stack: contextlib.ExitStack) -> str:
    """Start a ZooKeeper, and return its address. Raises UnavailableError."""
    from barnabas.peers.apache import errors
    from barnabas.peers.apache.keeper import ZooKeeper

    try:
        return stack.enter_context(ZooKeeper()).address
    except (errors.UnavailableError, errors.BootError) as problem:
        raise UnavailableError(f"{problem}; or give --zookeeper HOST:PORT") from None
