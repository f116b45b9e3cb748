from __future__ import annotations

import pytest

from barnabas.peers.apache.errors import UnknownVersionError
from barnabas.peers.apache.versions import RELEASES, Mode, release

KRAFT, ZOOKEEPER = Mode.KRAFT, Mode.ZOOKEEPER
LOGGER = "org.slf4j:slf4j-simple:1.7.36"
JAXB = "javax.xml.bind:jaxb-api:2.3.1"
KEEPER = "org.apache.zookeeper:zookeeper:3.4.10"
FLAG = "-Dzookeeper.jmx.log4j.disable=true"


@pytest.mark.parametrize(
    ("version", "artifact", "modes", "extras", "flags"),
    [
        # what was seen working
        ("4.3.1", "kafka_2.13", (KRAFT,), (LOGGER,), ()),
        ("3.9.1", "kafka_2.13", (KRAFT, ZOOKEEPER), (LOGGER,), ()),
        ("3.2.1", "kafka_2.13", (ZOOKEEPER, KRAFT), (LOGGER,), ()),
        ("2.8.0", "kafka_2.13", (ZOOKEEPER,), (LOGGER,), ()),
        ("1.1.0", "kafka_2.12", (ZOOKEEPER,), (LOGGER,), (FLAG,)),
        ("0.11.0.1", "kafka_2.11", (ZOOKEEPER,), (JAXB,), ()),
        ("0.10.2.1", "kafka_2.11", (ZOOKEEPER,), (JAXB,), ()),
        ("0.9.0.1", "kafka_2.11", (ZOOKEEPER,), (), ()),
        ("0.8.2.2", "kafka_2.11", (ZOOKEEPER,), (), ()),
        ("0.8.2-beta", "kafka_2.10", (ZOOKEEPER,), (), ()),
        # what is like one of those
        ("4.2.0", "kafka_2.13", (KRAFT,), (LOGGER,), ()),
        ("5.0.0", "kafka_2.13", (KRAFT,), (LOGGER,), ()),
        ("3.7.2", "kafka_2.13", (KRAFT, ZOOKEEPER), (LOGGER,), ()),
        ("3.1.0", "kafka_2.13", (ZOOKEEPER,), (LOGGER,), ()),
        ("2.8.2", "kafka_2.13", (ZOOKEEPER,), (LOGGER,), ()),
        ("2.6.2", "kafka_2.12", (ZOOKEEPER,), (LOGGER,), ()),
        ("2.3.1", "kafka_2.12", (ZOOKEEPER,), (LOGGER, KEEPER), (FLAG,)),
        ("1.0.2", "kafka_2.11", (ZOOKEEPER,), (JAXB,), ()),
        ("0.10.0.0", "kafka_2.11", (ZOOKEEPER,), (JAXB,), ()),
        ("0.9.0.0", "kafka_2.11", (ZOOKEEPER,), (), ()),
        ("0.8.2.0", "kafka_2.11", (ZOOKEEPER,), (), ()),
    ],
)
def test_what_a_version_takes(
    version: str,
    artifact: str,
    modes: tuple[Mode, ...],
    extras: tuple[str, ...],
    flags: tuple[str, ...],
) -> None:
    found = release(version)
    assert found.version == version
    assert found.coordinates == (f"org.apache.kafka:{artifact}:{version}", *extras)
    assert (found.modes, found.flags) == (modes, flags)


def test_the_table_goes_from_new_to_old() -> None:
    numbers = [known.number for known in RELEASES]
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize(
    "text", ["", "4", "4.3", "v4.3.1", "4.3.1 ", "latest", "1.2.3.4.5", "4.-1.0"]
)
def test_what_is_no_version_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(UnknownVersionError, match=r"tested: 4\.3\.1, .*0\.8\.2-beta") as caught:
        release(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("old", ["0.8.1.1", "0.7.2", "0.8.0"])
def test_what_is_too_old_is_refused(old: str) -> None:
    with pytest.raises(UnknownVersionError, match=f"{old} can't be downloaded"):
        release(old)
