"""Apache Kafka of an exact version as a target: one broker on loopback, with its log, process and heap."""

from __future__ import annotations

import contextlib
import time
from typing import Any, Final

from barnabas.fuzz.cases.observation import Death
from barnabas.fuzz.coverage.jacoco import Jacoco
from barnabas.fuzz.errors import CannotRun, Misuse
from barnabas.fuzz.observations.java_stacks import common_frames
from barnabas.fuzz.sessions.login import PASSWORD, USERNAME, default_credentials
from barnabas.fuzz.targets.apache_settings import ApacheSettings, unknown
from barnabas.fuzz.targets.broker import BrokerTarget
from barnabas.fuzz.targets.heap import Heap
from barnabas.fuzz.targets.log_entries import LogFollower
from barnabas.fuzz.targets.prober import Prober, Unanswered
from barnabas.fuzz.targets.process_usage import rss
from barnabas.peers.apache import (
    ApacheCluster,
    BootError,
    JavaOptions,
    UnavailableError,
    UnknownVersionError,
)
from barnabas.peers.apache.artifacts import class_path
from barnabas.peers.apache.sasl import SINCE, sasl_plaintext, scram_users
from barnabas.peers.apache.setting_names import setting_names
from barnabas.peers.apache.settings import HOST
from barnabas.peers.apache.versions import release
from barnabas.peers.replay.authentication import Credentials
from barnabas.specs.keys import ALTER_USER_SCRAM_CREDENTIALS

LAST_WORDS: Final = 4000
"""Characters of the log that are kept when the process ends."""

FLAGS: Final = ("-XX:-OmitStackTraceInFastThrow",)
"""Without it, an exception that is thrown often loses its stack trace."""

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
"""Keep small what a campaign leaves on disk. There are more threads than cases in flight (15): a thread that
waits for a block of producer ids waits for another thread of this broker (3.0 to 3.8)."""

NODE: Final = 1

DUMPS: Final = 4
"""Thread dumps that show where a thread computes."""


class ApacheService:
    """A broker of Apache Kafka; its data is removed when it ends."""

    def __init__(self, settings: ApacheSettings) -> None:
        try:
            if settings.settings:
                problem_text = unknown(settings.settings, setting_names(settings.version))
                if problem_text:
                    raise Misuse(f"Kafka {settings.version} knows {problem_text}")
            defaults = SETTINGS | (_sasl(settings.version) if settings.on_sasl else {})
            self._cluster = ApacheCluster(
                settings.version,
                settings=defaults | settings.settings,
                java=JavaOptions((*FLAGS, *settings.jvm)),
            )
        except (UnavailableError, UnknownVersionError) as problem:
            raise CannotRun(str(problem)) from None
        self._settings = settings
        self.name = " ".join(filter(None, (f"kafka {settings.version}", settings.options)))
        self.address = ("", 0)
        self.meter: Jacoco | None = None
        """The meter of the lines that the broker reaches, if they are counted."""
        self._running = False
        self._log: LogFollower | None = None
        self._heap: Heap | None = None

    @property
    def pid(self) -> int | None:
        """Return the process id, or None if the broker does not run."""
        return self._cluster.nodes[NODE].pid if self._running else None

    def count(self) -> None:
        """Count lines from the next start on. Raises CannotRun."""
        try:
            jars = class_path(self._cluster.release.coordinates)
        except UnavailableError as problem:
            raise CannotRun(str(problem)) from None
        self.meter = Jacoco(jars)
        kafka = self._cluster.release
        self._cluster.release = kafka._replace(flags=(*kafka.flags, self.meter.option))

    def start(self) -> None:
        """Start the broker; a cluster whose broker has ended is started anew. Raises CannotRun."""
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
            make_user(plain, self.address, default_credentials(self._settings.mechanism))
        self._log = LogFollower(broker.log)
        if broker.pid is not None:
            self._heap = Heap(broker.pid).__enter__()

    def stop(self) -> None:
        """Stop the broker and remove its files."""
        if self._heap is not None:
            self._heap.__exit__(None, None, None)
            self._heap = None
        if self._running:
            if self.meter is not None:
                self.meter.since()  # the probes are lost when it ends
            self._running = False
            self._cluster.__exit__(None, None, None)

    def death(self) -> Death | None:
        """Return how the process ended, or None."""
        if not self._running:
            return None
        jvm = self._cluster.nodes[NODE].jvm
        if jvm.pid is not None:
            return None
        return Death(jvm.exit_code if jvm.exit_code is not None else 0, jvm.output()[-LAST_WORDS:])

    def log(self) -> tuple[str, ...]:
        """Return the log entries since the last call."""
        return self._log.entries() if self._log is not None else ()

    def where(self, thread: int) -> tuple[str, ...]:
        """Return the innermost frames of Kafka's code in which a thread computes, by thread dumps.

        The dumps are removed from the log. thread: the operating system's id.
        """
        dumps = []
        with contextlib.suppress(RuntimeError, ProcessLookupError):  # the broker has ended
            dumps = [self._cluster.nodes[NODE].jvm.threads() for _ in range(DUMPS)]
        self.log()
        return common_frames(dumps, thread)

    def rss(self) -> tuple[int, int] | None:
        """Return resident memory in bytes: now, and the peak since the last call."""
        return rss(self.pid)

    def heap(self) -> tuple[int, int] | None:
        """Return the heap in use in bytes: now, and the peak since the last call."""
        return self._heap.used() if self._heap is not None else None


def _sasl(version: str) -> dict[str, str]:
    kafka = release(version)
    if kafka.number < SINCE:
        raise CannotRun(f"Kafka {version} has no listener of its own for SASL: give 1.1 or newer")
    return sasl_plaintext(kafka.modes[0], USERNAME, PASSWORD)


def apache(settings: ApacheSettings) -> BrokerTarget:
    """Return the target.

    Raises:
        CannotRun: The version is unavailable.
        Misuse: The version does not have one of the settings.
    """
    return BrokerTarget(
        ApacheService(settings),
        batch=64,
        connections=8,
        timeout=0.4,
        credentials=default_credentials(settings.mechanism) if settings.on_sasl else None,
    )


KNOWN_S: Final = 15.0
"""Seconds until brokers know a new user."""

PAUSE_S: Final = 0.05


def make_user(plain: tuple[str, int], sasl: tuple[str, int], credentials: Credentials) -> None:
    """Create the SCRAM user, if the release supports it, and wait until a login succeeds. Raises CannotRun.

    Args:
        plain: The address without a login.
        sasl: The address with a login.
        credentials: The user's credentials.
    """
    administrator, prober = Prober(), Prober(credentials=credentials)
    administrator.aim(plain)
    prober.aim(sasl)
    try:
        alterations: tuple[dict[str, Any], ...] = ()
        if ALTER_USER_SCRAM_CREDENTIALS in administrator.offered():
            alterations = scram_users(credentials.username, credentials.password)
        for users in alterations:
            (result,) = administrator.ask(ALTER_USER_SCRAM_CREDENTIALS, 0, users)["results"]
            if result["error_code"]:
                raise CannotRun(f"the broker rejects SCRAM users: {result['error_message']}")
        deadline = time.monotonic() + KNOWN_S
        while not (probe := prober.probe()).answered:
            if time.monotonic() > deadline:
                raise CannotRun(
                    f"the broker rejects logins by {credentials.mechanism}: {probe.problem}"
                )
            time.sleep(PAUSE_S)
    except Unanswered as problem:
        raise CannotRun(f"the broker rejects SCRAM users: {problem}") from None
    finally:
        administrator.close()
        prober.close()
