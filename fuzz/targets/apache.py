"""Apache Kafka of a version, one broker on loopback: its log followed, its process watched."""

from __future__ import annotations

import contextlib
from typing import Final

from barnabas.fuzz.cases.observation import Death
from barnabas.fuzz.coverage.jacoco import Jacoco
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.observations.thread_dumps import computing
from barnabas.fuzz.sessions.login import PASSWORD, USERNAME, credentials
from barnabas.fuzz.targets.apache_known import unknown
from barnabas.fuzz.targets.apache_settings import ApacheSettings
from barnabas.fuzz.targets.apache_started import make_user
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.entries import LogFollower
from barnabas.fuzz.targets.heap import Heap
from barnabas.fuzz.targets.memory import rss
from barnabas.peers.apache import (
    ApacheCluster,
    BootError,
    JavaOptions,
    Mode,
    UnavailableError,
    UnknownVersionError,
)
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.sasl import SINCE, sasl_plaintext
from barnabas.peers.apache.setting_names import setting_names
from barnabas.peers.apache.settings import HOST
from barnabas.peers.apache.versions import release

LAST_WORDS: Final = 4000
"""Characters of a log that are kept when its process ends."""

EXIT_ON_OOM: Final = "-XX:+ExitOnOutOfMemoryError"
"""Ends the process (exit code 3) where it would go on without a thread; each end costs a restart."""

FLAGS: Final = ("-XX:-OmitStackTraceInFastThrow",)
"""Or the thousandth exception of its kind comes without a stack."""

SETTINGS: Final = {
    "num.io.threads": "24",
    "auto.create.topics.enable": "true",
    "delete.topic.enable": "true",
    "max.connections.per.ip": "2000",
    "group.min.session.timeout.ms": "1000",
    "group.max.session.timeout.ms": "30000",
    "offsets.commit.timeout.ms": "1000",
    "log.retention.bytes": "67108864",
    "log.segment.bytes": "16777216",
}
"""So that what a campaign leaves behind stays small. More threads than cases under way (15): one
that waits for a block of producer ids waits for another thread of this very broker (3.0 to 3.8)."""

NODE: Final = 1

DUMPS: Final = 4
"""How often a JVM is asked where its threads are."""


class ApacheService:
    """One broker; what it wrote is gone when it ends."""

    def __init__(
        self, settings: ApacheSettings, *, mode: Mode | None = None, exit_on_oom: bool = False
    ) -> None:
        flags = (*FLAGS, EXIT_ON_OOM) if exit_on_oom else FLAGS
        try:
            if settings.settings:
                said = unknown(settings.settings, setting_names(settings.version))
                if said:
                    raise Misuse(f"Kafka {settings.version} knows {said}")
            usual = SETTINGS | (_sasl(settings.version, mode) if settings.on_sasl else {})
            self._cluster = ApacheCluster(
                settings.version,
                settings=usual | settings.settings,
                mode=mode,
                java=JavaOptions((*flags, *settings.jvm)),
            )
        except (UnavailableError, UnknownVersionError) as problem:
            raise CannotRun(str(problem)) from None
        self._settings = settings
        self.name = " ".join(filter(None, (f"kafka {settings.version}", settings.options)))
        self.address = ("", 0)
        self.meter: Jacoco | None = None
        """Of the lines that it reaches, if it counts them."""
        self._running = False
        self._log: LogFollower | None = None
        self._heap: Heap | None = None

    @property
    def pid(self) -> int | None:
        """Its process; None while there is none."""
        return self._cluster.nodes[NODE].pid if self._running else None

    def count(self) -> None:
        """Have it count the lines that it reaches, before it is started. Raises CannotRun."""
        try:
            jars = class_path(self._cluster.release.coordinates)
        except UnavailableError as problem:
            raise CannotRun(str(problem)) from None
        self.meter = Jacoco(jars)
        found = self._cluster.release
        self._cluster.release = found._replace(flags=(*found.flags, self.meter.option))

    def start(self) -> None:
        """Start it; one that runs nobody's broker any more is started anew. Raises CannotRun."""
        try:
            self._cluster.__enter__()
        except UnavailableError as problem:
            raise CannotRun(str(problem)) from None
        except BootError as problem:
            raise CannotRun(problem.line) from None
        self._running = True
        broker = self._cluster.nodes[NODE]
        self.address = self._cluster.brokers[NODE]
        if self._settings.on_sasl:
            plain, self.address = self.address, (HOST, broker.node.spare_port)
            make_user(plain, self.address, credentials(self._settings.mechanism))
        self._log = LogFollower(broker.log)
        if broker.pid is not None:
            self._heap = Heap(broker.pid).__enter__()

    def stop(self) -> None:
        """End it, and remove its files."""
        if self._heap is not None:
            self._heap.__exit__(None, None, None)
            self._heap = None
        if self._running:
            if self.meter is not None:
                self.meter.since()  # what it tells is gone with it
            self._running = False
            self._cluster.__exit__(None, None, None)

    def death(self) -> Death | None:
        """How it ended."""
        if not self._running:
            return None
        jvm = self._cluster.nodes[NODE].jvm
        if jvm.pid is not None:
            return None
        return Death(jvm.exit_code if jvm.exit_code is not None else 0, jvm.said()[-LAST_WORDS:])

    def log(self) -> tuple[str, ...]:
        """Entries of its log since the last call."""
        return self._log.entries() if self._log is not None else ()

    def where(self, thread: int) -> tuple[str, ...]:
        """The innermost frames of Kafka's own where a thread computes, as the JVM says; nothing of that is
        an entry of its log. thread: the system's id."""
        dumps = []
        with contextlib.suppress(RuntimeError, ProcessLookupError):  # it has ended meanwhile
            dumps = [self._cluster.nodes[NODE].jvm.threads() for _ in range(DUMPS)]
        self.log()
        return computing(dumps, thread)

    def rss(self) -> tuple[int, int] | None:
        """Its memory."""
        return rss(self.pid)

    def heap(self) -> tuple[int, int] | None:
        """Its heap."""
        return self._heap.used() if self._heap is not None else None


def _sasl(version: str, mode: Mode | None) -> dict[str, str]:
    found = release(version)
    if found.number < SINCE:
        raise CannotRun(f"Kafka {version} has no listener of its own for SASL: give 1.1 or newer")
    return sasl_plaintext(mode or found.modes[0], USERNAME, PASSWORD)


def apache(
    settings: ApacheSettings, *, mode: Mode | None = None, exit_on_oom: bool = False
) -> BrokerTarget:
    """The target. Raises CannotRun for a version that can't be had, Misuse for a setting that it lacks."""
    return BrokerTarget(
        ApacheService(settings, mode=mode, exit_on_oom=exit_on_oom),
        batch=64,
        lanes=8,
        patience=0.4,
        who=credentials(settings.mechanism) if settings.on_sasl else None,
    )
