"""franz-go's fake cluster (pkg/kfake): Kafka brokers in Go, in memory.

Wheels for Linux and macOS have the program of `REVISION` (`PACKAGED`). Without it the installed Go builds the
program once. kfake has no releases: a revision is chosen, and the release of franz-go for its build is fixed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, Final, Self

from barnabas.peers import processes
from barnabas.peers.clients.cache import run
from barnabas.peers.clients.client import Program
from barnabas.peers.clients.errors import UnavailableClientError
from barnabas.peers.clients.golang import built, go, is_built

FRANZ_GO: Final = "github.com/twmb/franz-go"
REVISION: Final = "v0.0.0-20260918054303-01f206a7e32c"
WITH: Final = "v1.22.3"

MIN_SESSION_MS: Final = 6000
"""Kafka's default of `group.min.session.timeout.ms`."""

REVISIONS: Final = re.compile(r"v\d+\.\d+\.\d+[\w.+-]*|[\da-f]{7,40}")
"""Module versions of pkg/kfake and commits of franz-go."""

_LINE: Final = 500
"""The most bytes of the program's stderr that an error message has."""

FOLDER: Final = Path(__file__).parent
PACKAGED: Final = FOLDER / "bin" / "kfake"
"""The program of `REVISION` in wheels for one platform."""

SOURCES: Final = tuple(FOLDER / name for name in ("main.go", "go.mod", "go.sum"))
"""The program of `REVISION`; `go.mod` and `go.sum` fix all modules."""

FLAGS: Final = ("-trimpath", "-ldflags=-s -w -buildid=")
"""Of `go build`: the program has no paths of the machine, and the same sources give the same bytes."""

SETTINGS: Final[Mapping[str, str]] = MappingProxyType(
    {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false"}
)
"""Of Go, for `FLAGS`."""


def name_of(revision: str = REVISION) -> str:
    """Return the name of the cluster, with the commit.

    >>> name_of("v0.0.0-20260918054303-01f206a7e32c")
    'kfake 01f206a7e32c'
    """
    return f"kfake {revision.rpartition('-')[2]}"


def at_hand() -> bool:
    """Return whether the fake cluster can be started; build it first if an installed Go is new enough.

    A failed build is reported on stderr.
    """
    try:
        if not (PACKAGED.exists() or is_built(name_of(), SOURCES) or _go_is_new_enough()):
            return False
        _built(REVISION)
    except UnavailableClientError as problem:
        sys.stderr.write(f"{problem}\n")
        return False
    return True


def _go_is_new_enough() -> bool:
    """Return whether Go is installed and can build `SOURCES` without downloading another Go."""
    try:
        version = run("go", [go(), "env", "GOVERSION"])
    except UnavailableClientError:
        return False
    needed = re.search(r"^go (\d+)\.(\d+)", (FOLDER / "go.mod").read_text(), re.MULTILINE)
    installed = re.match(r"go(\d+)\.(\d+)", version)
    if needed is None or installed is None:
        return False
    return tuple(map(int, installed.groups())) >= tuple(map(int, needed.groups()))


def _built(revision: str) -> Path:
    """Return the program of a revision; a build is announced on stderr. Raises UnavailableClientError."""
    if revision == REVISION and PACKAGED.exists():
        return PACKAGED
    name, sources, settings = name_of(revision), SOURCES, SETTINGS
    modules: tuple[str, ...] = ()
    if revision != REVISION:
        sources = SOURCES[:1]
        modules = f"{FRANZ_GO}/pkg/kfake@{revision}", f"{FRANZ_GO}@{WITH}"
        settings = {**SETTINGS, "GOFLAGS": "-mod=mod"}
    if not is_built(name, sources):
        sys.stderr.write(f"building {name} with Go, once: a minute or two ...\n")
        sys.stderr.flush()
    try:
        return built(name, sources, modules, WITH, FLAGS, settings)
    except UnavailableClientError as problem:
        if f"@{revision}: invalid version" not in str(problem):
            raise
        raise UnavailableClientError(
            f"{name}: Go finds no revision {revision} of franz-go; omit it to start {name_of()}"
        ) from None


def kfake_program(
    *topics: str,
    brokers: int = 1,
    revision: str = REVISION,
    port: int = 0,
    min_session_ms: int = MIN_SESSION_MS,
) -> Program:
    """Return the program of the fake cluster: it prints its addresses, and exits at the end of its stdin.

    Args:
        topics: topics of one partition that it has at the start.
        brokers: number of brokers.
        revision: module version of pkg/kfake, as `go get` takes it.
        port: of the first broker, the others have the ports after it; 0: the system assigns ports.
        min_session_ms: shortest session timeout of groups.

    Raises:
        UnavailableClientError: The program can't be built.
    """
    program = _built(revision)
    line = [str(program), "-brokers", str(brokers), "-port", str(port)]
    return Program([*line, "-min-session-timeout", f"{min_session_ms}ms", *topics])


class KfakeCluster:
    """A fake cluster, running from `with` to its end.

    Args:
        brokers: number of brokers.
        revision: module version of pkg/kfake.
        port: of the first broker, the others have the ports after it; 0: the system assigns ports.
        min_session_ms: shortest session timeout of groups.

    Raises:
        UnavailableClientError: At the start: the program can't be built, or does not start.
    """

    def __init__(
        self,
        brokers: int = 1,
        revision: str = REVISION,
        port: int = 0,
        min_session_ms: int = MIN_SESSION_MS,
    ) -> None:
        self._brokers = brokers
        self._port = port
        self._revision = revision
        self._min_session_ms = min_session_ms
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        """The program's stderr."""
        self.bootstrap = ""
        """The addresses as clients take them; empty until started."""

    def __enter__(self) -> Self:
        program = kfake_program(
            brokers=self._brokers,
            revision=self._revision,
            port=self._port,
            min_session_ms=self._min_session_ms,
        )
        self._errors = tempfile.TemporaryFile()
        self._process = processes.start(
            program.line,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **program.environment},
        )
        assert self._process.stdout is not None  # noqa: S101
        self.bootstrap = self._process.stdout.readline().decode().strip()
        if not self.bootstrap:
            reason = self._first_error()
            self.__exit__()
            raise UnavailableClientError(f"{name_of(self._revision)} does not start: {reason}")
        return self

    def __exit__(self, *problem: object) -> None:
        process, self._process = self._process, None
        if process is not None:
            processes.end(process)
            for file in (process.stdin, process.stdout, self._errors):
                if file is not None:
                    file.close()

    def ended(self) -> str | None:
        """Return how the program ended by itself, in one line; None while it runs."""
        process = self._process
        if process is None or process.poll() is None:
            return None
        return f"kfake ended with exit code {process.returncode}: {self._first_error()}"

    def _first_error(self) -> str:
        """Return the first line that the program printed to stderr."""
        assert self._errors is not None  # noqa: S101
        self._errors.seek(0)
        lines = self._errors.read(_LINE).decode(errors="replace").splitlines()
        return lines[0] if lines else "it printed no error"
