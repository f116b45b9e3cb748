"""The versions of Apache Kafka that were seen working, and what any other one takes.

Sources: artifacts of org.apache.kafka on Maven Central and their dependencies; KIP-500 (KRaft);
the release notes of 4.0 (no ZooKeeper any more). All run on Java 17 and newer.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final, NamedTuple

from barnabas.peers.apache.errors import UnknownVersionError

OLDEST: Final = (0, 8, 2)
"""What is older has dependencies that Maven Central does not have."""

_TEXT: Final = re.compile(r"(\d+(?:\.\d+){2,3})(-[a-z0-9]+)?")

# javax.xml.bind left Java with version 11; since 0.10.1 a cluster id is made with it
_JAXB: Final = "javax.xml.bind:jaxb-api:2.3.1"
# from 1.1 brokers come without a logger, and what they have to say at their end would be lost
LOGGER: Final = "org.slf4j:slf4j-simple:1.7.36"
"""What brokers and clients say their last words with."""
# the clients of ZooKeeper 3.4.13 and 3.4.14 never connect on Java 17, the one of 3.4.10 does
_ZOOKEEPER: Final = "org.apache.zookeeper:zookeeper:3.4.10"
# ZooKeeper 3.4 manages a log4j that is no longer there, unless told not to
_NO_LOG4J: Final = "-Dzookeeper.jmx.log4j.disable=true"


class Mode(StrEnum):
    """Who keeps the cluster's metadata."""

    KRAFT = "kraft"
    ZOOKEEPER = "zookeeper"


class Release(NamedTuple):
    """A version and what its brokers need.

    `modes` are those it knows, the usual one first; `scala` is the Scala version in the name of its
    artifact; `extras` are artifacts (group:name:version) that its dependencies lack, or have too new,
    for today's Java; `flags` go to its JVMs.
    """

    version: str
    modes: tuple[Mode, ...]
    scala: str
    extras: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def number(self) -> tuple[int, ...]:
        """The version as numbers; those before 1.0 have four."""
        return tuple(int(part) for part in self.version.partition("-")[0].split("."))

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The artifacts to resolve, the broker's own first."""
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
"""The versions that were seen working, the newest first."""


def release(version: str) -> Release:
    """What a version takes: its own line of RELEASES, else that of the newest one not newer than it.

    Only the first two numbers count for that, so 0.9.0.0 is like 0.9.0.1. Raises
    UnknownVersionError for what is no version, or too old.

    >>> release("3.7.2").coordinates[0], release("3.7.2").modes[0].value
    ('org.apache.kafka:kafka_2.13:3.7.2', 'kraft')
    >>> release("2.3.1").coordinates[0], release("2.3.1").modes[0].value
    ('org.apache.kafka:kafka_2.12:2.3.1', 'zookeeper')
    """
    for known in RELEASES:
        if known.version == version:
            return known
    matched = _TEXT.fullmatch(version)
    if matched is None:
        names = ", ".join(known.version for known in RELEASES)
        raise UnknownVersionError(f"{version!r} is not a version of Kafka; tested: {names}")
    number = tuple(int(part) for part in matched[1].split("."))
    if number < OLDEST:
        raise UnknownVersionError(
            f"{version} can't be downloaded: dependencies of releases "
            "before 0.8.2 are no longer available"
        )
    family = next(known for known in RELEASES if known.number[:2] <= number[:2])
    return family._replace(version=version)
