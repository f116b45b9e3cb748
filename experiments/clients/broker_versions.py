"""The differences of old brokers that a run must know: settings of brokers, of librdkafka, and of clients.

A version is Apache Kafka's, such as `1.1.0`; empty: unknown, or as new as the newest.
"""

from __future__ import annotations

from typing import Any, Final

from barnabas.experiments.clients.workloads import CODECS, PARTITIONS

API_VERSIONS_SINCE: Final = (0, 10)
"""The first brokers that respond to ApiVersions."""

SETTINGS: Final = {
    "group.min.session.timeout.ms": "500",
    "group.initial.rebalance.delay.ms": "100",
    "log.cleaner.backoff.ms": "200",
}
"""Further settings of brokers: long default times are no fault of clients, and compaction is soon."""

PATIENT: Final = {"broker.session.timeout.ms": "60000"}
"""For brokers that are not restarted: one that misses heartbeats on a busy machine stays in the metadata.
kafka-go does not retry requests to one that is not (Broker Not Available)."""

RACKS: Final = {
    "broker.rack": "rack-{id}",
    "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
}
"""For brokers since 2.4: consumers with a client.rack fetch from a follower (KIP-392)."""

OLD_SETTINGS: Final = {
    "delete.topic.enable": "true",  # the default since 1.0
    "group.max.session.timeout.ms": "1800000",  # the default now; 0.9 has less than librdkafka requests
    "num.partitions": str(PARTITIONS),  # topics are created when they are named
}

UNREPLICATED: Final = {
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "offsets.topic.replication.factor": "1",
}
"""For 0.11, whose coordinators come to a deadlock when several transactions wait for replicas."""


def number(version: str) -> tuple[int, ...]:
    """Return a version as numbers.

    >>> number("0.8.2-beta"), number("")
    ((0, 8, 2), ())
    """
    return tuple(int(part) for part in version.partition("-")[0].split(".") if part)


def is_before(version: str, *release: int) -> bool:
    """Return whether a known version is older than a release.

    >>> is_before("0.11.0.1", 1, 0), is_before("", 1, 0)
    (True, False)
    """
    return () < number(version) < release


def creates_topics(version: str) -> bool:
    """Return whether librdkafka can create topics; older brokers create a topic when it is named."""
    return not is_before(version, 0, 11)


def broker_settings(version: str, *, restart: bool = False) -> dict[str, str]:
    """Return the settings of brokers.

    `restart`: they are restarted. A broker begins again when its old session is over.
    """
    settings = {**SETTINGS, **({} if restart else PATIENT)}
    if not is_before(version, 2, 4):
        settings |= RACKS
    if is_before(version, 1, 0):
        settings |= OLD_SETTINGS
    if number(version)[:2] == (0, 11):
        settings |= UNREPLICATED
    return settings


def librdkafka_settings(version: str) -> dict[str, Any]:
    """Return librdkafka's settings for brokers that do not tell their API versions."""
    if not is_before(version, *API_VERSIONS_SINCE):
        return {}
    return {"api.version.request": False, "broker.version.fallback": version}


def codecs(version: str) -> tuple[str, ...]:
    """Return the compressions that brokers know (zstd: KIP-110)."""
    return CODECS[:-1] if is_before(version, 2, 1) else CODECS


def client_parameters(version: str, client: str) -> dict[str, str]:
    """Return the parameters of a workload for a client that must be configured with the brokers' version.

    All clients must before ApiVersions. Sarama takes brokers for 2.1 unless it is told otherwise, and asks
    newer ones for nothing that they lack.

    >>> client_parameters("1.1.0", "sarama@1.61.1"), client_parameters("1.1.0", "franz-go@1.22.3")
    ({'broker': '1.1.0'}, {})
    """
    sarama = client.partition("@")[0] == "sarama" and is_before(version, 2, 8)
    return {"broker": version} if sarama or is_before(version, *API_VERSIONS_SINCE) else {}
