"""The tested versions of Apache Kafka, and the requirements of any other version.

Sources: artifacts of org.apache.kafka on Maven Central and their dependencies; KIP-500 (KRaft); the release
notes of 4.0 (no ZooKeeper any more). All run on Java 17 and newer.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from barnabas.peers.apache.errors import UnknownVersionError

OLDEST: Final = (0, 8, 2)
"""The oldest version: Maven Central lacks the dependencies of older ones."""

_TEXT: Final = re.compile(r"(\d+(?:\.\d+){2,3})(-[a-z0-9]+)?")

# javax.xml.bind left Java with version 11; since 0.10.1 it generates the cluster id
_JAXB: Final = "javax.xml.bind:jaxb-api:2.3.1"
# from 1.1 on brokers bring no logger: their last messages would be lost
LOGGER: Final = "org.slf4j:slf4j-simple:1.7.36"
"""The logger of brokers and clients."""
# the clients of ZooKeeper 3.4.13 and 3.4.14 never connect on Java 17, the one of 3.4.10 does
_ZOOKEEPER: Final = "org.apache.zookeeper:zookeeper:3.4.10"
# ZooKeeper 3.4 manages a log4j that is missing, unless this flag is set
_NO_LOG4J: Final = "-Dzookeeper.jmx.log4j.disable=true"


class Mode(StrEnum):
    """The store of a cluster's metadata."""

    KRAFT = "kraft"
    ZOOKEEPER = "zookeeper"


class Release(NamedTuple):
    """A version of Kafka and the requirements of its brokers.

    `modes` are the supported ones, the default first; `scala` is the Scala version in the name of the
    artifact; `extras` are artifacts (group:name:version) that the dependencies lack, or have in versions too
    new for today's Java; `flags` go to the JVMs.
    """

    version: str
    modes: tuple[Mode, ...]
    scala: str
    extras: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def number(self) -> tuple[int, ...]:
        """Return the version as numbers; versions before 1.0 have four."""
        return tuple(int(part) for part in self.version.partition("-")[0].split("."))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Return the artifacts to resolve, the broker's own first."""
        return (f"org.apache.kafka:kafka_{self.scala}:{self.version}", *self.extras)


# fmt: off
RELEASES: Final = (
    Release("4.3.1",      (Mode.KRAFT,),                "2.13", (LOGGER,)),
    Release("4.0.0",      (Mode.KRAFT,),                "2.13", (LOGGER,)),
    Release("3.9.1",      (Mode.KRAFT, Mode.ZOOKEEPER), "2.13", (LOGGER,)),
    Release("3.3.2",      (Mode.KRAFT, Mode.ZOOKEEPER), "2.13", (LOGGER,)),
    Release("3.2.1",      (Mode.ZOOKEEPER, Mode.KRAFT), "2.13", (LOGGER,)),
    Release("2.8.0",      (Mode.ZOOKEEPER,),            "2.13", (LOGGER,)),
    Release("2.4.1",      (Mode.ZOOKEEPER,),            "2.12", (LOGGER,)),
    Release("2.0.1",      (Mode.ZOOKEEPER,),            "2.12", (LOGGER, _ZOOKEEPER), (_NO_LOG4J,)),
    Release("1.1.0",      (Mode.ZOOKEEPER,),            "2.12", (LOGGER,), (_NO_LOG4J,)),
    Release("0.11.0.1",   (Mode.ZOOKEEPER,),            "2.11", (_JAXB,)),
    Release("0.10.2.1",   (Mode.ZOOKEEPER,),            "2.11", (_JAXB,)),
    Release("0.9.0.1",    (Mode.ZOOKEEPER,),            "2.11"),
    Release("0.8.2.2",    (Mode.ZOOKEEPER,),            "2.11"),
    Release("0.8.2-beta", (Mode.ZOOKEEPER,),            "2.10"),
)
# fmt: on
"""The tested versions, the newest first."""


def release(version: str) -> Release:
    """Return the release of a version: its line of RELEASES, else the newest line that is not newer.

    The first two numbers decide: 0.9.0.0 is like 0.9.0.1.

    >>> release("3.7.2").coordinates[0], release("3.7.2").modes[0].value
    ('org.apache.kafka:kafka_2.13:3.7.2', 'kraft')
    >>> release("2.3.1").coordinates[0], release("2.3.1").modes[0].value
    ('org.apache.kafka:kafka_2.12:2.3.1', 'zookeeper')

    Raises:
        UnknownVersionError: The text is not a version, or the version is too old.
    """
    for candidate in RELEASES:
        if candidate.version == version:
            return candidate
    matched = _TEXT.fullmatch(version)
    if matched is None:
        names = ", ".join(candidate.version for candidate in RELEASES)
        raise UnknownVersionError(f"{version!r} is not a version of Kafka; tested: {names}")
    number = tuple(int(part) for part in matched[1].split("."))
    if number < OLDEST:
        raise UnknownVersionError(
            f"{version} can't be downloaded: dependencies of releases "
            "before 0.8.2 are no longer available"
        )
    family = next(candidate for candidate in RELEASES if candidate.number[:2] <= number[:2])
    return family._replace(version=version)
