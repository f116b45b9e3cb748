"""franz-go's fake cluster (pkg/kfake): Kafka brokers in Go, in memory, built with the installed Go.

It has no releases: a revision is chosen, and the release of franz-go that it is built with is fixed.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final, Self

from barnabas.peers import processes
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import built

FRANZ_GO: Final = "github.com/twmb/franz-go"
REVISION: Final = "v0.0.0-20260918054303-01f206a7e32c"
WITH: Final = "v1.22.3"


def name_of(revision: str = REVISION) -> str:
    """Return the name of the cluster, with the commit.

    >>> name_of("v0.0.0-20260918054303-01f206a7e32c")
    'kfake 01f206a7e32c'
    """
    return f"kfake {revision.rpartition('-')[2]}"


def kfake_program(
    *topics: str, brokers: int = 1, revision: str = REVISION, port: int = 0
) -> Program:
    """Return the program of the fake cluster: it prints its addresses, and exits at the end of its stdin.

    Args:
        topics: topics of one partition that it has at the start.
        brokers: number of brokers.
        revision: module version of pkg/kfake, as `go get` takes it.
        port: of the first broker, the others have the ports after it; 0: the system assigns ports.

    Raises:
        UnavailableClientError: The program can't be built.
    """
    modules = f"{FRANZ_GO}/pkg/kfake@{revision}", f"{FRANZ_GO}@{WITH}"
    program = built(name_of(revision), [Path(__file__).with_name("main.go")], modules, WITH)
    return Program([str(program), "-brokers", str(brokers), "-port", str(port), *topics])


class KfakeCluster:
    """A fake cluster, running from `with` to its end.

    Args:
        brokers: number of brokers.
        revision: module version of pkg/kfake.
        port: of the first broker, the others have the ports after it; 0: the system assigns ports.

    Raises:
        UnavailableClientError: At the start: the program can't be built, or does not start.
    """

    def __init__(self, brokers: int = 1, revision: str = REVISION, port: int = 0) -> None:
        self._brokers = brokers
        self._port = port
        self._revision = revision
        self._process: subprocess.Popen[bytes] | None = None
        self.bootstrap = ""
        """The addresses as clients take them; empty until started."""

    def __enter__(self) -> Self:
        program = kfake_program(brokers=self._brokers, revision=self._revision, port=self._port)
        self._process = processes.start(
            program.line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **program.environment},
        )
        assert self._process.stdout is not None  # noqa: S101
        self.bootstrap = self._process.stdout.readline().decode().strip()
        if not self.bootstrap:
            self.__exit__()
            raise UnavailableClientError(f"{name_of(self._revision)} does not start")
        return self

    def __exit__(self, *problem: object) -> None:
        process, self._process = self._process, None
        if process is not None:
            processes.end(process)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
