from __future__ import annotations

from typing import Any

import pytest

from barnabas.peers.apache.versions import RELEASES, Mode, release

KRAFT, ZOOKEEPER = Mode.KRAFT, Mode.ZOOKEEPER
LOGGER = "org.slf4j:slf4j-simple:1.7.36"
JAXB = "javax.xml.bind:jaxb-api:2.3.1"
KEEPER = "org.apache.zookeeper:zookeeper:3.4.10"
FLAG = "-Dzookeeper.jmx.log4j.disable=true"


SEEN_WORKING = [
    ("4.3.1", "2.13", (KRAFT,), (LOGGER,), ()),
    ("3.9.1", "2.13", (KRAFT, ZOOKEEPER), (LOGGER,), ()),
    ("3.2.1", "2.13", (ZOOKEEPER, KRAFT), (LOGGER,), ()),
    ("2.8.0", "2.13", (ZOOKEEPER,), (LOGGER,), ()),
    ("1.1.0", "2.12", (ZOOKEEPER,), (LOGGER,), (FLAG,)),
    ("0.11.0.1", "2.11", (ZOOKEEPER,), (JAXB,), ()),
    ("0.10.2.1", "2.11", (ZOOKEEPER,), (JAXB,), ()),
    ("0.9.0.1", "2.11", (ZOOKEEPER,), (), ()),
    ("0.8.2.2", "2.11", (ZOOKEEPER,), (), ()),
    ("0.8.2-beta", "2.10", (ZOOKEEPER,), (), ()),
]
LIKE_ONE_OF_THOSE = [
    *((version, "2.13", (KRAFT,), (LOGGER,), ()) for version in ("4.2.0", "5.0.0")),
    ("3.7.2", "2.13", (KRAFT, ZOOKEEPER), (LOGGER,), ()),
    *((version, "2.13", (ZOOKEEPER,), (LOGGER,), ()) for version in ("3.1.0", "2.8.2")),
    ("2.6.2", "2.12", (ZOOKEEPER,), (LOGGER,), ()),
    ("2.3.1", "2.12", (ZOOKEEPER,), (LOGGER, KEEPER), (FLAG,)),
    *((version, "2.11", (ZOOKEEPER,), (JAXB,), ()) for version in ("1.0.2", "0.10.0.0")),
    *((version, "2.11", (ZOOKEEPER,), (), ()) for version in ("0.9.0.0", "0.8.2.0")),
]


@pytest.mark.parametrize(
    ("version", "scala", "modes", "extras", "flags"), [*SEEN_WORKING, *LIKE_ONE_OF_THOSE]
)
def test_what_a_version_takes(
    version: str, scala: str, modes: Any, extras: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    found = release(version)
    assert found.version == version
    assert found.coordinates == (f"org.apache.kafka:kafka_{scala}:{version}", *extras)
    assert (found.modes, found.flags) == (modes, flags)


def test_the_table_goes_from_new_to_old() -> None:
    numbers = [known.number for known in RELEASES]
    assert numbers == sorted(numbers, reverse=True)
